//! [`Protocol`]: the behaviour of hosts that differs between transport protocols, and [`End`], an end of a connection.

use weft_fabric::Interfaces;
use weft_switching::{Header, Kind, Mac, flow_hash};
use weft_traffic::Flow;
use weft_transport::{Arrival, Machine, Segment};
use weft_units::{HostId, Time};

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::Ends;
use super::flow_end::FlowEnd;
use super::host_queue::HostQueue;
use super::stream::Unit;
use super::subflow::Subflow;
use super::world::World;
use crate::delays::Delays;
use crate::journal::FlowNumber;
use crate::network::Network;
use crate::packet::PacketId;

/// The packets that the ends of a protocol exchange.
pub type PacketOf<P> = <<P as Protocol>::Machine as Machine>::Packet;
/// The parameters of a protocol.
pub type ConfigOf<P> = <<P as Protocol>::Machine as Machine>::Config;

/// How packets of a protocol over UDP look in captures.
#[derive(Clone, Copy)]
pub struct Format {
    /// The destination's port, if it is not that of the flow.
    pub port: Option<u16>,
    /// The headers behind UDP's; all others count as data.
    pub headers: fn(&Header, &Segment) -> Vec<u8>,
}

impl Format {
    /// With the ports of the flow and without headers.
    pub const PLAIN: Self = Self { port: None, headers: |_, _| Vec::new() };
}

/// An end that is to be opened.
pub struct Opening<'r> {
    /// Which end it is.
    pub owner: FlowEnd,
    /// The flow; of a connection that several share, the last one.
    pub flow: &'r Flow,
    /// The first flow of the connection.
    pub first: FlowNumber,
    /// Bytes that a source writes first; at the destination of a connection of its own, those of the flow.
    pub bytes: u64,
    /// Whether flows may follow on the connection.
    pub is_shared: bool,
    /// Whether the connection is within a scale-up domain.
    pub is_within: bool,
    /// The link on which it sends.
    pub nic: u32,
    /// The address to which it sends.
    pub to: HostId,
}

/// An end that is there. Whole cache lines, those first that every event needs.
#[repr(C, align(64))]
pub struct End<P: Protocol> {
    /// Its pending timers.
    pub alarms: Alarms,
    /// Where the flow or message is complete that it will report; [`NONE`](super::flow_end::NONE) once it has.
    pub awaits: u64,
    /// Its flow; on a shared connection, the last one.
    pub flow: FlowNumber,
    /// Whether it is the destination.
    pub is_destination: bool,
    /// Whether it waits for its interface or, at a destination, for its turn to grant credit.
    pub is_waiting: bool,
    /// Whether it is within a scale-up domain.
    pub is_within: bool,
    /// Whether it has reported that it has closed or given up.
    pub is_over: bool,
    /// When it was opened.
    pub opened: Time,
    /// Of the packets that it received.
    pub delays: Delays,
    /// Its subflows.
    pub subflows: P::Subflows,
    /// The state of the protocol.
    pub machine: P::Machine,
    /// The hosts' further knowledge of it.
    pub state: P::State,
}

impl<P: Protocol> End<P> {
    /// Which end it is.
    #[inline(always)]
    pub fn owner(&self) -> FlowEnd {
        FlowEnd { flow: self.flow, side: usize::from(self.is_destination) }
    }

    /// How far it has received everything or, at the source, how far that is acknowledged.
    #[inline(always)]
    pub fn progress(&self) -> u64 {
        if self.is_destination { self.machine.delivered() } else { self.machine.acked() }
    }
}

/// A transport protocol at the hosts of a partition, with its parameters and the state that its ends share.
pub trait Protocol: Send + Sized {
    /// One end of a connection.
    type Machine: Machine<Packet: Send> + Send;
    /// Its subflows: an array of one, or a vector.
    type Subflows: AsRef<[Subflow]> + AsMut<[Subflow]> + From<[Subflow; 1]> + Send;
    /// The hosts' further knowledge of an end.
    type State: Send;

    /// Bits of a packet's owner below the flow's number: for the subflow, then one for the side.
    const SUBFLOW_BITS: u32 = 6;
    /// Whether both ends open and close a connection with packets of their own.
    const HAS_HANDSHAKE: bool = false;
    /// The unit of the positions on a connection.
    const UNIT: Unit = Unit::Byte;
    /// Whether a host sends a packet when it is its turn on the link, rather than as soon as it has it.
    const PACES: bool = false;
    /// Whether a host looks for packets to send on its link at each event of a source, and expects that timeouts only move
    /// to later times.
    const IS_EAGER: bool = false;
    /// Whether it makes use of packets whose payload a switch has cut off.
    const TAKES_TRIMMED: bool = false;
    /// Whether a source is done once it has sent everything.
    const IS_DONE_WHEN_SENT: bool = false;
    /// How its packets look in captures, if it is over UDP.
    const FORMAT: Format = Format::PLAIN;

    /// The parameters of connections, within a scale-up domain or not.
    fn config(&self, is_within: bool) -> &ConfigOf<Self>;

    /// Whether its packets ask switches for the state of their ports.
    fn asks_telemetry(&self) -> bool {
        false
    }

    /// The header of the packets that one side (0: the source) of a flow sends.
    fn template(&self, flow: &Flow, side: usize) -> Header {
        Header { kind: Kind::Other, ..template(flow, side) }
    }

    /// Whether each subflow of a flow has a pair of links, one at the source and one at the destination.
    fn uses_links(&self, _flow: &Flow, _net: &Network<'_>) -> bool {
        false
    }

    /// The interfaces of subflow `name` of a flow that has the interfaces `first` by the rule.
    fn interfaces(&self, all: &Interfaces, flow: &Flow, first: [u8; 2], name: u8) -> [u8; 2] {
        all.next(flow.src, flow.dst, first, name)
    }

    /// Opens an end.
    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Self::Machine, Self::State);

    /// Reads a packet for `side` into `into`.
    fn read(&self, net: &Network<'_>, packet: PacketId, side: usize, into: &mut PacketOf<Self>);

    /// Makes a packet of a subflow for an owner.
    fn write(
        &self,
        net: &mut Network<'_>,
        subflow: &mut Subflow,
        owner: u32,
        packet: &PacketOf<Self>,
    ) -> PacketId;

    /// An end has received `packet` with `header` on a subflow.
    #[inline]
    fn receive(
        &mut self,
        end: &mut End<Self>,
        _subflow: usize,
        header: &Header,
        packet: &mut PacketOf<Self>,
        now: Time,
    ) {
        let is_marked = header.traffic_class & Header::CE == Header::CE;
        let arrival = Arrival { is_marked, is_trimmed: header.is_trimmed() };
        end.machine.receive(self.config(end.is_within), now, packet, arrival);
    }

    /// A timer of an end is due.
    fn time_out(&mut self, end: &mut End<Self>, _packet: &mut PacketOf<Self>, now: Time) {
        end.machine.on_timeout(self.config(end.is_within), now);
    }

    /// Writes the next packet of an end that does not wait for the interface; returns whether there is one.
    #[inline(always)]
    fn poll_answer(&mut self, end: &mut End<Self>, packet: &mut PacketOf<Self>, _now: Time) -> bool {
        end.machine.poll_answer(self.config(end.is_within), packet)
    }

    /// Writes the next packet of an end; returns whether there is one.
    #[inline(always)]
    fn poll_transmit(&mut self, end: &mut End<Self>, packet: &mut PacketOf<Self>, now: Time) -> bool {
        end.machine.poll_transmit(self.config(end.is_within), now, packet)
    }

    /// An end has sent a packet at `now` on the link `nic`, which has accepted it or not.
    #[inline(always)]
    fn sent(
        &self,
        _machine: &mut Self::Machine,
        _packet: &PacketOf<Self>,
        _nic: u32,
        _is_accepted: bool,
        _net: &Network<'_>,
    ) {
    }

    /// When [`Protocol::time_out`] is due for an end, and when it may send data that waits for the interface.
    #[inline(always)]
    fn deadlines(&mut self, end: &mut End<Self>, _now: Time) -> (Time, Time) {
        (end.machine.next_timeout(self.config(end.is_within)), Time::MAX)
    }

    /// Links have changed, and the ends have their new interfaces.
    fn repick(&mut self, _ends: &mut Ends<End<Self>>, _cx: &Ctx<'_, '_>) {}

    /// The end that was at `place` has left.
    fn left(&mut self, end: &End<Self>, place: u32, queue: &mut HostQueue, _world: &World<'_>) {
        if !Self::PACES && end.is_waiting {
            queue.leave(end.subflows.as_ref()[0].line, place);
        }
    }

    /// Bytes of memory held besides the ends.
    fn memory(&self) -> usize {
        0
    }
}

/// The header of a TCP segment that one side (0: the source) of a flow sends.
pub fn template(flow: &Flow, side: usize) -> Header {
    let ends = [(flow.src, flow.sport), (flow.dst, flow.dport)];
    let ((src, sport), (dst, dport)) = (ends[side], ends[1 - side]);
    Header {
        dst: Mac::of_host(dst.0),
        src: Mac::of_host(src.0),
        sport,
        dport,
        flow_hash: flow_hash(src, dst, sport, dport),
        kind: Kind::Tcp,
        traffic_class: flow.dscp << 2,
        ..Header::default()
    }
}
