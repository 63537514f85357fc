//! [`Roce`]: hosts with RoCEv2 queue pairs.

use weft_switching::{Header, Kind};
use weft_traffic::Flow;
use weft_transport::roce::{Ack, AckKind, Config, Data, LossRecovery, Path, Receiver, Sender};
use weft_transport::{OneWay, Packet, ProtocolConfig as _, Segment};
use weft_units::{Bytes, HostId, Time};

use super::context::Ctx;
use super::empty_path::EmptyPath;
use super::parameters::Parameters;
use super::protocol::{Format, Opening, PacketOf, Protocol, template};
use super::shell::Transmission;
use super::stream::Unit;
use super::subflow::Subflow;
use crate::network::Network;
use crate::packet::{Content, PacketId};

/// Bytes of the IP packet of an acknowledgement without telemetry: headers of IPv4 and UDP, base transport header,
/// extended header, invariant CRC.
const ACK_BYTES: u16 = 20 + 8 + 12 + 4 + 4;
/// DSCP and ECN of an acknowledgement: class selector 6.
const ACK_CLASS: u8 = 48 << 2;
/// The UDP port of RoCE, version 2.
const ROCE_PORT: u16 = 4791;
/// The opcode of an acknowledgement on a reliable connection.
const ACKNOWLEDGE: u8 = 0x11;
/// The opcode of a packet of an RDMA write; those of the first and the last one, with more headers, are not used.
const WRITE_MIDDLE: u8 = 0x07;
/// In the note of a data packet: [`Data`] asks for an acknowledgement.
const ASKS: u32 = 1;
/// In the note of a data packet: [`Data`] is sent again.
const REPEATED: u32 = 2;
/// In the note of an acknowledgement: a packet is missing ([`AckKind::Nack`]).
const NAK: u32 = 1;
/// In the note of an acknowledgement: a packet is missing and another one has arrived ([`AckKind::Selective`]).
const SELECTIVE: u32 = 2;
/// In the note of an acknowledgement: it notifies of congestion.
const CNP: u32 = 4;

/// Queue pairs.
pub struct Roce {
    parameters: Parameters<Config>,
}

impl Roce {
    /// Queue pairs with these parameters.
    pub fn new(config: &Config) -> Self {
        Self { parameters: Parameters { network: config.clone(), within: config.within_domains() } }
    }

    /// Bytes of the IP packet of an acknowledgement.
    fn ack_bytes(&self) -> u16 {
        ACK_BYTES + self.parameters.network.telemetry_bytes() as u16
    }

    /// The path to an address, as far as its sender needs to know it.
    fn path(&self, flow: &Flow, to: HostId, nic: u32, cx: &Ctx<'_, '_>) -> Path {
        let sets_window = self.parameters.network.window == Bytes(0)
            && self.parameters.network.loss_recovery == LossRecovery::SelectiveRepeat;
        let EmptyPath { round_trip, switches } = if sets_window || self.parameters.network.needs_path() {
            let packet = cx.world.framings.of_flow(flow).full_packet();
            EmptyPath::of(cx, to, nic, [packet, self.ack_bytes().into()])
        } else {
            EmptyPath::default()
        };
        Path { line: cx.net.rate(cx.net.id(nic)), round_trip, switches }
    }

    /// The most bytes that a flow with this path may have in flight, if there is a limit.
    fn window(&self, path: &Path) -> Option<u64> {
        match (self.parameters.network.window, self.parameters.network.loss_recovery) {
            (Bytes(0), LossRecovery::GoBackN) => None,
            (Bytes(0), LossRecovery::SelectiveRepeat) => {
                let time = path.round_trip.ps();
                let bits = u128::from(path.line.bps()) * u128::from(time) / 1_000_000_000_000;
                Some((bits / 8) as u64)
            }
            (Bytes(most), _) => Some(most),
        }
    }
}

impl Protocol for Roce {
    type Machine = OneWay<Sender, Receiver>;
    type Subflows = [Subflow; 1];
    type State = ();

    const UNIT: Unit = Unit::Packet;
    const PACES: bool = true;
    const FORMAT: Format = Format { port: Some(ROCE_PORT), headers: base_transport };

    #[inline(always)]
    fn config(&self, is_within: bool) -> &Config {
        self.parameters.of(is_within)
    }

    fn asks_telemetry(&self) -> bool {
        self.parameters.network.telemetry_hops().is_some()
    }

    fn template(&self, flow: &Flow, side: usize) -> Header {
        let header = Header { kind: Kind::Other, ..template(flow, side) };
        if side == 1 {
            return Header { traffic_class: ACK_CLASS, ip_bytes: self.ack_bytes(), ..header };
        }
        // ECT(0), if at all.
        let ecn = if self.parameters.network.is_ecn_capable() { 2 } else { 0 };
        Header { traffic_class: header.traffic_class | ecn, ..header }
    }

    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Self::Machine, ()) {
        if opening.owner.side == 1 {
            return (OneWay::Destination(Receiver::default(), None), ());
        }
        let Opening { flow, bytes, nic, to, is_within, .. } = *opening;
        let path = self.path(flow, to, nic, cx);
        let window = self.window(&path);
        (OneWay::Source(Sender::new(self.config(is_within), bytes, window, &path, cx.net.now)), ())
    }

    fn read(&self, net: &Network<'_>, packet: PacketId, side: usize, into: &mut PacketOf<Self>) {
        let content = net.packets.content(packet);
        let telemetry = net.packets.telemetry(packet).copied().map(Box::new);
        *into = if side == 0 {
            Packet::Answer(Ack { telemetry, ..ack_of(content) })
        } else {
            let ([psn, _, low, high], flags) = (content.words, content.note);
            let (asks, is_repeated) = (flags & ASKS != 0, flags & REPEATED != 0);
            let payload = net.packets.get(packet).header.payload;
            Packet::Data(Data { psn, payload, asks, is_repeated, sent: time_of(low, high), telemetry })
        };
    }

    fn write(
        &self,
        net: &mut Network<'_>,
        subflow: &mut Subflow,
        owner: u32,
        packet: &PacketOf<Self>,
    ) -> PacketId {
        let (header, content, telemetry) = match packet {
            Packet::Data(data) => {
                let ip_bytes = self.parameters.network.framing().headers as u16 + data.payload;
                let flags = if data.asks { ASKS } else { 0 } | if data.is_repeated { REPEATED } else { 0 };
                let header = Header { payload: data.payload, ip_bytes, ..subflow.template };
                let [low, high] = words_of(data.sent);
                let content = Content { words: [data.psn, 0, low, high], note: flags };
                (header, content, &data.telemetry)
            }
            Packet::Answer(ack) => (subflow.template, content_of(ack), &ack.telemetry),
        };
        subflow.packet_with(net, owner, &header, content, telemetry.clone())
    }

    fn sent(
        &self,
        machine: &mut Self::Machine,
        packet: &PacketOf<Self>,
        nic: u32,
        _is_accepted: bool,
        net: &Network<'_>,
    ) {
        if let (OneWay::Source(sender), Packet::Data(data)) = (machine, packet) {
            let ip_bytes = self.parameters.network.framing().headers as u16 + data.payload;
            let wire_bytes = net.links.wire_bytes(nic, ip_bytes);
            sender.sent(
                &self.parameters.network,
                net.now,
                wire_bytes,
                net.links.tx_time(nic, wire_bytes.into()),
            );
        }
    }
}

impl Transmission for Roce {}

/// A time in two words, the lower one first.
fn words_of(time: Time) -> [u32; 2] {
    [time.ps() as u32, (time.ps() >> 32) as u32]
}

/// The time in two words.
fn time_of(low: u32, high: u32) -> Time {
    Time::from_ps(u64::from(high) << 32 | u64::from(low))
}

/// The content of an acknowledgement's packet.
fn content_of(ack: &Ack) -> Content {
    let (kind, arrived) = match ack.kind {
        AckKind::Plain => (0, 0),
        AckKind::Nack => (NAK, 0),
        AckKind::Selective(psn) => (SELECTIVE, psn),
    };
    let [low, high] = words_of(ack.echo);
    Content { words: [ack.next, arrived, low, high], note: kind | if ack.is_cnp { CNP } else { 0 } }
}

/// The acknowledgement that a packet carries, without its telemetry.
fn ack_of(content: Content) -> Ack {
    let [next, arrived, low, high] = content.words;
    let kind = match content.note {
        note if note & NAK != 0 => AckKind::Nack,
        note if note & SELECTIVE != 0 => AckKind::Selective(arrived),
        _ => AckKind::Plain,
    };
    Ack { next, kind, is_cnp: content.note & CNP != 0, echo: time_of(low, high), telemetry: None }
}

/// Whether the answer in these fields is a negative acknowledgement.
pub const fn is_nak(segment: &Segment) -> bool {
    segment.window & NAK != 0
}

/// The base transport header of RoCE, and the extended header of an acknowledgement (InfiniBand Architecture, volume 1,
/// sections 9.2 and 9.3). The invariant CRC counts as data.
fn base_transport(header: &Header, segment: &Segment) -> Vec<u8> {
    let is_ack = header.payload == 0;
    let (opcode, psn) =
        if is_ack { (ACKNOWLEDGE, segment.seq.wrapping_sub(1)) } else { (WRITE_MIDDLE, segment.seq) };
    // The note is in the place of the window.
    let backward = if is_ack && segment.window & CNP != 0 { 0x40 } else { 0 };
    let mut bytes = vec![opcode, 0x40, 0xff, 0xff, backward, 0];
    bytes.extend(header.dport.to_be_bytes());
    bytes.extend((psn & 0xff_ffff).to_be_bytes());
    if is_ack {
        // A sequence error if a packet is missing.
        let syndrome = if segment.window & (NAK | SELECTIVE) == 0 { 0 } else { 0x60 << 24 };
        bytes.extend((syndrome | segment.seq & 0xff_ffff).to_be_bytes());
    }
    bytes
}
