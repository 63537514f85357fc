//! [`Uec`]: hosts with Ultra Ethernet transport, and the fields of its packets in a simulated packet.
//!
//! A packet is made when the host's link is free, with the path that the latest answers recommend. Credit: `granting.rs`.

use rand_core::RngCore;
use weft_switching::{Header, pick, stream};
use weft_transport::uec::{Answer, Config, CreditUpdate, Data, Receiver, Reply, Sender};
use weft_transport::{OneWay, Packet, Segment};

use super::context::Ctx;
use super::granter::Granters;
use super::parameters::Parameters;
use super::protocol::{Opening, PacketOf, Protocol, template};
use super::shell::{Shell, Transmission};
use super::stream::Unit;
use super::subflow::Subflow;
use crate::network::Network;
use crate::packet::{Content, PacketId};

/// DSCP of answers: class selector 6, an urgent queue.
const ANSWER_DSCP: u8 = 48;
/// The ECN code point of data: ECN-capable.
const ECT: u8 = 0b10;
/// Bits of [`Content::note`]. In data: attempt, then this.
const ASKS: u32 = 1 << 8;
/// In answers: entropy, attempt, then these.
const MARKED: u32 = 1 << 24;
const TRIMMED: u32 = 1 << 25;
/// In credit: entropy, then this.
const CREDIT: u32 = 1 << 26;
/// In a request: for an answer if it also has `ASKS`, otherwise for credit; and in the answer to a request.
const REQUEST: u32 = 1 << 27;

/// Ultra Ethernet.
pub struct Uec {
    /// The parameters.
    pub parameters: Parameters<Config>,
    /// The links for which receivers grant credit.
    pub granters: Granters,
}

impl Uec {
    /// Hosts with these parameters.
    pub fn new(config: &Config) -> Self {
        let parameters = Parameters { network: config.clone(), within: config.within_domains() };
        Self { parameters, granters: Granters::default() }
    }
}

impl Protocol for Uec {
    type Machine = OneWay<Sender, Receiver>;
    type Subflows = [Subflow; 1];
    type State = ();

    const UNIT: Unit = Unit::Packet;
    const PACES: bool = true;
    const IS_EAGER: bool = true;
    const TAKES_TRIMMED: bool = true;

    #[inline(always)]
    fn config(&self, is_within: bool) -> &Config {
        self.parameters.of(is_within)
    }

    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Self::Machine, ()) {
        let Opening { owner, flow, first, bytes, is_within, .. } = *opening;
        let config = self.config(is_within);
        if owner.side == 0 {
            let random = stream(cx.world.seed, "uec", owner.flow.into()).next_u64();
            let rate = cx.net.rate(cx.net.id(opening.nic));
            return (OneWay::Source(Sender::new(config, bytes, rate, random)), ());
        }
        let hash = template(flow, 1).flow_hash;
        let path = pick(u64::from(hash) << 32, config.entropies.into()) as u16;
        let messages = cx.world.connections.messages(first);
        let messages =
            messages.flat_map(|flow| cx.world.parts.sizes(flow, cx.world.flows[flow as usize].bytes));
        let mut receiver = Receiver::new(path);
        messages.for_each(|(bytes, count)| receiver.append(config, bytes, count));
        (OneWay::Destination(receiver, None), ())
    }

    #[inline]
    fn read(&self, net: &Network<'_>, packet: PacketId, side: usize, into: &mut PacketOf<Self>) {
        let (header, content) = (&net.packets.get(packet).header, net.packets.content(packet));
        *into = match side {
            0 => Packet::Answer(reply(header, &content)),
            _ => Packet::Data(data(header, &content)),
        };
    }

    #[inline]
    fn write(
        &self,
        net: &mut Network<'_>,
        subflow: &mut Subflow,
        owner: u32,
        packet: &PacketOf<Self>,
    ) -> PacketId {
        let (header, content) = match packet {
            Packet::Data(data) => of_data(&subflow.template, &self.parameters.network, data),
            Packet::Answer(reply) => of_reply(&subflow.template, reply),
        };
        subflow.packet_with(net, owner, &header, content, None)
    }

    fn memory(&self) -> usize {
        self.granters.memory()
    }
}

impl Transmission for Uec {
    #[inline(always)]
    fn pump(shell: &mut Shell<Self>, place: u32, cx: &mut Ctx<'_, '_>) {
        shell.pump_paced(place, cx);
        if shell.protocol.parameters.network.grants_credit() {
            shell.want_credit(place, cx);
        }
    }

    fn grant_credit(shell: &mut Shell<Self>, number: u32, cx: &mut Ctx<'_, '_>) {
        shell.granter_called(number, cx);
    }
}

/// Whether the answer in these fields is a negative acknowledgement.
pub const fn is_nack(segment: &Segment) -> bool {
    segment.window & TRIMMED != 0
}

/// Whether the packet with these fields is credit, or a request for it; `is_from_source` tells which end sent it.
pub const fn is_credit(segment: &Segment, is_from_source: bool) -> bool {
    if is_from_source { segment.window & (REQUEST | ASKS) == REQUEST } else { segment.window & CREDIT != 0 }
}

/// Header and content of a data packet, or of a request.
fn of_data(template: &Header, config: &Config, data: &Data) -> (Header, Content) {
    if data.is_request {
        let note = REQUEST | if data.asks { ASKS } else { 0 };
        let content = Content { words: [data.number, data.target, 0, 0], note };
        return (of_control(template, data.entropy), content);
    }
    let header = Header {
        entropy: data.entropy.into(),
        traffic_class: template.traffic_class | ECT,
        ip_bytes: config.ip_bytes(data.bytes),
        payload: data.bytes,
        ..*template
    };
    let note = u32::from(data.attempt) | if data.asks { ASKS } else { 0 };
    (header, Content { words: [data.number, data.target, 0, 0], note })
}

/// The data packet with `header` and `content`.
fn data(header: &Header, content: &Content) -> Data {
    Data {
        number: content.words[0],
        bytes: header.payload,
        entropy: header.entropy as u16,
        attempt: content.note as u8,
        asks: content.note & ASKS != 0,
        target: content.words[1],
        is_request: content.note & REQUEST != 0,
    }
}

/// The header of a packet without data.
fn of_control(template: &Header, entropy: u16) -> Header {
    Header { entropy: entropy.into(), traffic_class: ANSWER_DSCP << 2, ip_bytes: Config::ANSWER, ..*template }
}

/// Header and content of a packet of the receiver.
fn of_reply(template: &Header, reply: &Reply) -> (Header, Content) {
    match reply {
        Reply::Answer(answer) => of_answer(template, answer),
        Reply::Credit(CreditUpdate { granted, path }) => {
            (of_control(template, *path), Content { words: [0, 0, *granted, 0], note: CREDIT })
        }
    }
}

/// Header and content of an answer.
fn of_answer(template: &Header, answer: &Answer) -> (Header, Content) {
    let header = of_control(template, answer.path);
    let words = [answer.number, answer.cumulative, answer.bitmap as u32, (answer.bitmap >> 32) as u32];
    let flags = [(answer.is_marked, MARKED), (answer.is_trimmed, TRIMMED), (answer.is_requested, REQUEST)];
    let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag);
    let note = u32::from(answer.entropy) | u32::from(answer.attempt) << 16 | flags;
    (header, Content { words, note })
}

/// The packet of the receiver with `header` and `content`.
fn reply(header: &Header, content: &Content) -> Reply {
    let [number, cumulative, low, high] = content.words;
    if content.note & CREDIT != 0 {
        return Reply::Credit(CreditUpdate { granted: low, path: header.entropy as u16 });
    }
    Reply::Answer(Answer {
        number,
        cumulative,
        bitmap: u64::from(low) | u64::from(high) << 32,
        entropy: content.note as u16,
        attempt: (content.note >> 16) as u8,
        path: header.entropy as u16,
        is_marked: content.note & MARKED != 0,
        is_trimmed: content.note & TRIMMED != 0,
        is_requested: content.note & REQUEST != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::super::protocol::End;
    use super::*;

    /// With many flows per host, most of the time goes to reading their state from main memory.
    #[test]
    fn an_end_takes_six_cache_lines() {
        assert_eq!(size_of::<Option<End<Uec>>>(), 6 * 64);
    }

    #[test]
    fn packets_are_read_as_they_were_written() {
        let (template, config) = (Header { sport: 7, ..Header::default() }, Config::default());
        for asks in [false, true] {
            let sent = Data {
                number: 5,
                bytes: 4096,
                entropy: 63,
                attempt: 255,
                asks,
                target: 7,
                ..Data::default()
            };
            let (header, content) = of_data(&template, &config, &sent);
            assert_eq!((header.ip_bytes, header.sport), (4160, 7));
            assert_eq!(data(&header, &content), sent);
        }
        let request = Data { entropy: 63, is_request: true, ..Data::default() };
        for sent in [Data { target: u32::MAX, ..request }, Data { number: 5, asks: true, ..request }] {
            let (header, content) = of_data(&template, &config, &sent);
            assert_eq!((header.ip_bytes, header.traffic_class >> 2, header.sport), (46, 48, 7));
            assert_eq!(data(&header, &content), sent);
        }
        let sent = Reply::Credit(CreditUpdate { granted: u32::MAX, path: 12 });
        let (header, content) = of_reply(&template, &sent);
        assert_eq!((header.entropy, header.ip_bytes, content.note >> 30), (12, 46, 0));
        assert_eq!(reply(&header, &content), sent);
        for is_marked in [false, true] {
            let sent = Answer {
                number: u32::MAX,
                cumulative: 1 << 31,
                bitmap: 0x8765_4321_0fed_cba9,
                entropy: u16::MAX,
                attempt: 255,
                path: 12,
                is_marked,
                is_trimmed: !is_marked,
                is_requested: is_marked,
            };
            let (header, content) = of_answer(&template, &sent);
            assert_eq!((header.entropy, header.payload, content.note >> 30), (12, 0, 0));
            assert_eq!(reply(&header, &content), Reply::Answer(sent));
        }
    }
}
