//! [`Agent`]: the OpenFlow agent of a switch, which answers its controller. It returns requests to other parts of the
//! network, such as forwarding packet-outs, as [`Effect`]s.

use weft_wire::openflow::{
    Action, Element, ErrorMessage, Features, FlowCounts, FlowFlags, FlowMod, FlowRemoved, FlowStats,
    FlowStatsRequest, Header, Hello, List, Message, MultipartReply, MultipartRequest, PacketIn,
    PacketInReason, Port, PortNumber, RemovedReason, Role, RoleMessage, SwitchConfig, SwitchDescription,
    VERSION,
};
use weft_wire::{Error, Mac};

use crate::counts::Counts;
use crate::network::Switch;
use crate::table::{Rule, RuleId, Table};

/// Bytes of a refused message that an error quotes.
const QUOTED: usize = 64;
/// List elements per message; a message has at most 65535 bytes.
const PORTS_AT_ONCE: usize = 900;
const RULES_AT_ONCE: usize = 200;

/// An action to perform in the network.
#[derive(Debug)]
pub enum Effect {
    /// Send a packet from the controller.
    Send {
        /// Its ingress port, real or as given by the controller.
        in_port: PortNumber,
        /// The actions on it.
        actions: Vec<Action>,
        /// The packet.
        frame: Vec<u8>,
    },
    /// Check a rule with a timeout at this time.
    Timeout {
        /// The rule.
        rule: RuleId,
        /// When.
        at: u64,
    },
}

/// The state of the connection setup.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The controller's Hello has not arrived.
    New,
    /// The controller speaks OpenFlow 1.3.
    Greeted,
    /// The controller has requested features.
    Known,
}

/// A switch as its controller sees it.
pub struct Agent {
    datapath: u64,
    name: String,
    ports: u32,
    config: SwitchConfig,
    role: RoleMessage,
    /// The state of the connection setup.
    pub stage: Stage,
    /// Its rules.
    pub table: Table,
    /// Bytes to send to the controller.
    pub out: Vec<u8>,
    /// Why the connection failed, if it did.
    pub failed: Option<String>,
}

impl Agent {
    /// A switch that has sent a Hello.
    pub fn new(switch: &Switch) -> Self {
        let mut agent = Self {
            datapath: switch.datapath,
            name: switch.name.clone(),
            ports: switch.ports.len() as u32,
            config: SwitchConfig { flags: 0, miss_send_len: 128 },
            role: RoleMessage { role: Role::Equal, generation: 0 },
            stage: Stage::New,
            table: Table::default(),
            out: Vec::new(),
            failed: None,
        };
        agent.say(1, &Message::Hello(Hello::ONLY_1_3));
        agent
    }

    /// Handles a message from the controller.
    pub fn message(&mut self, now: u64, bytes: &[u8], counts: &mut Counts, effects: &mut Vec<Effect>) {
        counts.bytes_in += bytes.len() as u64;
        match Message::parse(bytes) {
            Ok((xid, message)) => self.obey(now, xid, &message, counts, effects),
            Err(error) => self.refuse(bytes, error, counts),
        }
    }

    fn obey(
        &mut self,
        now: u64,
        xid: u32,
        message: &Message,
        counts: &mut Counts,
        effects: &mut Vec<Effect>,
    ) {
        match message {
            Message::Hello(hello) => self.greeted(hello),
            Message::EchoRequest(data) => self.say(xid, &Message::EchoReply(data)),
            Message::EchoReply(_) => {}
            Message::FeaturesRequest => {
                self.stage = self.stage.max(Stage::Known);
                self.say(xid, &Message::FeaturesReply(self.features()));
            }
            Message::GetConfigRequest => self.say(xid, &Message::GetConfigReply(self.config)),
            Message::SetConfig(config) => self.config = *config,
            Message::FlowMod(change) => {
                counts.flow_mods += 1;
                self.change(now, change, counts, effects);
            }
            Message::PacketOut(packet) => {
                counts.packet_outs += 1;
                let actions = packet.actions.iter().collect();
                let send = Effect::Send { in_port: packet.in_port, actions, frame: packet.data.to_vec() };
                effects.push(send);
            }
            Message::BarrierRequest => {
                counts.barriers += 1;
                self.say(xid, &Message::BarrierReply);
            }
            Message::MultipartRequest(request) => self.answer(now, xid, request),
            Message::RoleRequest(asked) => {
                if asked.role != Role::NoChange {
                    self.role = *asked;
                }
                self.say(xid, &Message::RoleReply(self.role));
            }
            Message::Error(error) => {
                self.failed =
                    Some(format!("the controller sent an error: type {}, code {}", error.kind, error.code));
            }
            Message::FeaturesReply(_)
            | Message::GetConfigReply(_)
            | Message::PacketIn(_)
            | Message::FlowRemoved(_)
            | Message::PortStatus(_)
            | Message::MultipartReply(_)
            | Message::BarrierReply
            | Message::RoleReply(_) => {
                self.failed = Some(format!(
                    "the controller sent a message that only switches send, type {}",
                    message.message_type()
                ));
            }
        }
    }

    /// Sends a packet-in.
    pub fn packet_in(
        &mut self,
        reason: PacketInReason,
        cookie: u64,
        in_port: PortNumber,
        data: &[u8],
        total_len: usize,
    ) {
        let total_len = total_len as u16;
        let packet = PacketIn { buffer: None, total_len, reason, table: 0, cookie, in_port, data };
        self.say(0, &Message::PacketIn(packet));
    }

    /// Sends a flow-removed message if the rule requested it.
    pub fn removed(&mut self, now: u64, rule: &Rule, reason: RemovedReason, counts: &mut Counts) {
        if !rule.flags.contains(FlowFlags::SEND_FLOW_REM) {
            return;
        }
        counts.flows_removed += 1;
        let (duration_s, duration_ns) = split(now - rule.added);
        let removed = FlowRemoved {
            cookie: rule.cookie,
            priority: rule.priority,
            reason,
            table: 0,
            duration_s,
            duration_ns,
            idle_timeout: rule.idle_timeout,
            hard_timeout: rule.hard_timeout,
            packets: rule.packets,
            bytes: rule.bytes,
            matching: rule.matching,
        };
        self.say(0, &Message::FlowRemoved(removed));
    }

    fn greeted(&mut self, hello: &Hello) {
        if hello.speaks(VERSION) {
            self.stage = self.stage.max(Stage::Greeted);
        } else {
            let data = b"this switch speaks OpenFlow 1.3 only";
            self.say(0, &Message::Error(ErrorMessage { kind: ErrorMessage::HELLO_FAILED, code: 0, data }));
            self.failed = Some(format!("the controller does not speak OpenFlow 1.3: {hello:?}"));
        }
    }

    fn features(&self) -> Features {
        let capabilities = Features::FLOW_STATS | Features::PORT_STATS;
        Features { datapath: self.datapath, buffers: 0, tables: 1, auxiliary: 0, capabilities }
    }

    fn change(&mut self, now: u64, change: &FlowMod, counts: &mut Counts, effects: &mut Vec<Effect>) {
        let mut gone = Vec::new();
        let added = self.table.change(now, change, &mut gone);
        effects.extend(added.map(|(rule, at)| Effect::Timeout { rule, at }));
        for rule in &gone {
            self.removed(now, rule, RemovedReason::DELETE, counts);
        }
    }

    fn answer(&mut self, now: u64, xid: u32, request: &MultipartRequest) {
        match request {
            MultipartRequest::Description => {
                let description = SwitchDescription {
                    manufacturer: b"Weft",
                    hardware: b"emulated",
                    software: b"weft-ofload",
                    serial: b"",
                    datapath: self.name.as_bytes(),
                };
                push(&mut self.out, xid, &Message::MultipartReply(MultipartReply::Description(description)));
            }
            MultipartRequest::Ports => {
                let ports: Vec<Port> = (1..=self.ports).map(|number| self.port(number)).collect();
                self.answer_with(xid, &ports, PORTS_AT_ONCE, |ports, more| MultipartReply::Ports {
                    ports,
                    more,
                });
            }
            MultipartRequest::Flows(asked) => {
                let table = std::mem::take(&mut self.table);
                let chosen = table.iter().filter(|rule| is_asked(asked, rule));
                let flows: Vec<FlowStats> = chosen.map(|rule| stats(now, rule)).collect();
                self.answer_with(xid, &flows, RULES_AT_ONCE, |flows, more| MultipartReply::Flows {
                    flows,
                    more,
                });
                self.table = table;
            }
            MultipartRequest::Counts(asked) => {
                let chosen = || self.table.iter().filter(|rule| is_asked(asked, rule));
                let counts = FlowCounts {
                    packets: chosen().map(|rule| rule.packets).sum(),
                    bytes: chosen().map(|rule| rule.bytes).sum(),
                    flows: chosen().count() as u32,
                };
                push(&mut self.out, xid, &Message::MultipartReply(MultipartReply::Counts(counts)));
            }
        }
    }

    /// Sends a list in as many messages as needed.
    fn answer_with<'a, T: Element<'a>>(
        &mut self,
        xid: u32,
        elements: &'a [T],
        at_once: usize,
        reply: impl Fn(List<'a, T>, bool) -> MultipartReply<'a>,
    ) {
        let mut rest = elements;
        loop {
            let (some, others) = rest.split_at(rest.len().min(at_once));
            push(&mut self.out, xid, &Message::MultipartReply(reply(List::new(some), !others.is_empty())));
            rest = others;
            if rest.is_empty() {
                return;
            }
        }
    }

    fn port(&self, number: u32) -> Port {
        let [.., a, b] = self.datapath.to_be_bytes();
        let [.., c, d] = number.to_be_bytes();
        Port {
            number: PortNumber(number),
            address: Mac([2, 0x77, a, b, c, d]),
            name: Port::name_of(&format!("{}-eth{number}", self.name)),
            config: 0,
            state: 0,
            // 10 Gbit/s, full duplex, copper.
            features: [0x840, 0, 0x840, 0],
            speed: 10_000_000,
            max_speed: 10_000_000,
        }
    }

    fn refuse(&mut self, bytes: &[u8], error: Error, counts: &mut Counts) {
        counts.refused += 1;
        let (kind, code) = match error {
            Error::Version(_) => (ErrorMessage::BAD_REQUEST, 0),
            Error::Type(_) => (ErrorMessage::BAD_REQUEST, 1),
            Error::Unsupported { field: "multipart request" | "multipart request in parts", .. } => {
                (ErrorMessage::BAD_REQUEST, 2)
            }
            Error::Unsupported { field: "action" | "length of action" | "field to be set", .. } => {
                (ErrorMessage::BAD_ACTION, 0)
            }
            Error::Unsupported { field: "instruction", .. } => (ErrorMessage::BAD_INSTRUCTION, 1),
            Error::Unsupported { field: "command of a flow-mod", .. } => (ErrorMessage::FLOW_MOD_FAILED, 6),
            Error::Unsupported { .. } => (ErrorMessage::BAD_MATCH, 6),
            Error::Missing { .. } => (ErrorMessage::BAD_MATCH, 9),
            Error::Repeated { .. } => (ErrorMessage::BAD_MATCH, 10),
            _ => (ErrorMessage::BAD_REQUEST, 6),
        };
        if counts.first_refused.is_none() {
            let what = Header::parse(bytes).map_or(0, |header| header.message_type.0);
            counts.first_refused = Some(format!("{}, a message of type {what}: {error}", self.name));
        }
        let xid = Header::parse(bytes).map_or(0, |header| header.xid);
        let data = bytes.get(..QUOTED).unwrap_or(bytes);
        self.say(xid, &Message::Error(ErrorMessage { kind, code, data }));
    }

    fn say(&mut self, xid: u32, message: &Message) {
        push(&mut self.out, xid, message);
    }
}

/// Appends a message to the output buffer.
fn push(out: &mut Vec<u8>, xid: u32, message: &Message) {
    let start = out.len();
    out.resize(start + message.encoded_len(), 0);
    // A switch's messages always fit; one that did not would be dropped.
    let len = message.write(xid, &mut out[start..]).unwrap_or(0);
    out.truncate(start + len);
}

fn is_asked(asked: &FlowStatsRequest, rule: &Rule) -> bool {
    let outputs = |action: &Action| matches!(action, Action::Output { port, .. } if *port == asked.out_port);
    rule.matching.cut(&asked.matching) == Some(asked.matching)
        && (rule.cookie ^ asked.cookie) & asked.cookie_mask == 0
        && (asked.out_port == PortNumber::ANY || rule.actions.iter().any(outputs))
}

fn stats(now: u64, rule: &Rule) -> FlowStats<'_> {
    let (duration_s, duration_ns) = split(now - rule.added);
    FlowStats {
        table: 0,
        duration_s,
        duration_ns,
        priority: rule.priority,
        idle_timeout: rule.idle_timeout,
        hard_timeout: rule.hard_timeout,
        flags: rule.flags,
        cookie: rule.cookie,
        packets: rule.packets,
        bytes: rule.bytes,
        matching: rule.matching,
        actions: List::new(&rule.actions),
    }
}

/// Seconds and nanoseconds.
fn split(ns: u64) -> (u32, u32) {
    ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32)
}
