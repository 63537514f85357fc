//! [`Any`]: hosts with any protocol. One type for all of them, so that the engine is compiled once.

use weft_switching::host::distinct_paths::{NoPaths, PathFinder};
use weft_switching::host::path_selector::OnePath;
use weft_switching::host::selected::{Selected, Selecting};
use weft_traffic::Flow;
use weft_transport::{Protocol, mptcp};
use weft_units::{HostId, Time};

use super::context::Ctx;
use super::host_queue::HostQueue;
use super::multipath::Multipath;
use super::protocol::Hosts;
use super::roce::Roce;
use super::tcp::Tcp;
use super::udp::Udp;
use super::uec::Uec;
use super::world::World;
use crate::journal::{FlowNumber, SideReport};
use crate::network::Network;
use crate::packet::PacketId;
use crate::trace::Tracer;

/// The hosts of a partition.
pub enum Any<'a> {
    /// With TCP over one path.
    Tcp(Box<Tcp<'a, OnePath>>),
    /// With TCP whose hosts choose paths.
    Selecting(Box<Tcp<'a, Selected>>),
    /// With Multipath TCP.
    Multipath(Box<Multipath>),
    /// With datagrams.
    Udp(Box<Udp>),
    /// With queue pairs.
    Roce(Box<Roce>),
    /// With Ultra Ethernet.
    Uec(Box<Uec>),
}

/// Calls a method of the hosts, whatever they are.
macro_rules! each {
    ($self:expr, $hosts:ident => $call:expr) => {
        match $self {
            Any::Tcp($hosts) => $call,
            Any::Selecting($hosts) => $call,
            Any::Multipath($hosts) => $call,
            Any::Udp($hosts) => $call,
            Any::Roce($hosts) => $call,
            Any::Uec($hosts) => $call,
        }
    };
}

/// A scheme by which hosts choose paths, and the paths.
pub type Choice<'a> = (&'a Selecting, &'a dyn PathFinder);

impl<'a> Any<'a> {
    /// Hosts with `protocol` and interfaces of this queue that send `flows`. With plain TCP they choose paths, if there is
    /// a scheme for that; with another protocol they choose none.
    pub fn new(
        protocol: &'a Protocol,
        choice: Option<Choice<'a>>,
        queue: HostQueue,
        flows: &mut dyn Iterator<Item = &Flow>,
    ) -> Self {
        match protocol {
            Protocol::Tcp(config) => match (mptcp::Config::new(config), choice) {
                (Some(config), _) => Self::Multipath(Box::new(Multipath::new(config, queue, flows))),
                (None, None) => Self::Tcp(Box::new(Tcp::new(config, queue, &(), &NoPaths))),
                (None, Some((scheme, paths))) => {
                    Self::Selecting(Box::new(Tcp::new(config, queue, scheme, paths)))
                }
            },
            Protocol::Udp(config) => Self::Udp(Box::new(Udp::new(config.clone(), queue))),
            Protocol::Roce(config) => Self::Roce(Box::new(Roce::new((**config).clone()))),
            Protocol::Uec(config) => Self::Uec(Box::new(Uec::new(config.clone()))),
        }
    }
}

impl Hosts for Any<'_> {
    fn strand_bits(&self) -> u32 {
        each!(self, hosts => hosts.strand_bits())
    }

    fn foresees(&self) -> bool {
        each!(self, hosts => hosts.foresees())
    }

    fn open<T: Tracer>(&mut self, flow: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        each!(self, hosts => hosts.open(flow, cx));
    }

    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        each!(self, hosts => hosts.deliver(packet, cx));
    }

    fn has_space<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        each!(self, hosts => hosts.has_space(line, cx));
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        each!(self, hosts => hosts.timer(place, cx))
    }

    #[inline]
    fn foresee_turn(&self, number: u32, place: u32, is_near: bool) {
        each!(self, hosts => hosts.foresee_turn(number, place, is_near));
    }

    #[inline]
    fn foresee_packet(&self, packet: PacketId, net: &Network<'_>, world: &World<'_>) {
        each!(self, hosts => hosts.foresee_packet(packet, net, world));
    }

    fn paces(&self) -> bool {
        each!(self, hosts => hosts.paces())
    }

    #[inline]
    fn turn<T: Tracer>(&mut self, number: u32, cx: &mut Ctx<'_, '_, T>) {
        each!(self, hosts => hosts.turn(number, cx));
    }

    fn resumed<T: Tracer>(&mut self, host: HostId, nic: u32, cx: &mut Ctx<'_, '_, T>) {
        each!(self, hosts => hosts.resumed(host, nic, cx));
    }

    fn watch(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>) {
        each!(self, hosts => hosts.watch(flow, subflow, world));
    }

    fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        each!(self, hosts => hosts.leave(flow, side, net, world))
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        each!(self, hosts => hosts.delivered(flow, world))
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        each!(self, hosts => hosts.repick(cx));
    }

    fn memory(&self) -> usize {
        each!(self, hosts => hosts.memory())
    }
}
