//! A core that returns scripted commands, and switches that only exist as bytes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use weft_control::{
    Command, Controller, FrameOut, FrameRef, Match, Packet, PortNo, Rule, RuleAction, RuleChange, Southbound,
    SouthboundLimits, SwitchId, SwitchPort, Transaction,
};
use weft_control::{Duration, Time};
use weft_wire::openflow::{
    Action, FlowRemoved, Header, Match as Fields, Message, PacketIn, PacketInReason, PortNumber,
    RemovedReason,
};

/// A cookie with the controller's prefix.
pub const OWN: u64 = 0x5745_0000_0000_0009;
/// An arbitrary IPv4 frame.
pub const FRAME: [u8; 60] = {
    let mut frame = [0; 60];
    frame[5] = 2;
    frame[11] = 1;
    frame[12] = 8;
    frame
};

/// An event passed to the core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CoreEvent {
    SwitchUp(u64),
    SwitchDown(u64),
    LeftAlone(u64),
    PacketIn { switch: u64, port: u32, cookie: u64 },
    Installed(u64),
    Failed { transaction: u64, switch: u64, reason: String },
    RuleRemoved { switch: u64, cookie: u64, packets: u64, bytes: u64 },
}

/// Shared with the test, since the controller owns the core.
#[derive(Clone, Default)]
pub struct Scripted {
    events: Arc<Mutex<Vec<CoreEvent>>>,
    /// Commands to return on the next packet-ins.
    pub on_packet: Arc<Mutex<VecDeque<Vec<Command>>>>,
    /// Commands to return when a transaction is installed.
    pub on_installed: Arc<Mutex<HashMap<u64, Vec<Command>>>>,
}

impl Scripted {
    /// Events since the last call.
    pub fn events(&self) -> Vec<CoreEvent> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    fn note(&self, event: CoreEvent) {
        self.events.lock().unwrap().push(event);
    }
}

impl Controller for Scripted {
    fn switch_up(&mut self, _: Time, switch: SwitchId, _: &[PortNo], _: &[Rule], _: &mut Vec<Command>) {
        self.note(CoreEvent::SwitchUp(switch.0));
    }

    fn switch_down(&mut self, _: Time, switch: SwitchId, _: &mut Vec<Command>) {
        self.note(CoreEvent::SwitchDown(switch.0));
    }

    fn leave_alone(&mut self, switch: SwitchId, is_left_alone: bool) {
        if is_left_alone {
            self.note(CoreEvent::LeftAlone(switch.0));
        }
    }

    fn packet_in(
        &mut self,
        _: Time,
        at: SwitchPort,
        cookie: u64,
        _: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        self.note(CoreEvent::PacketIn { switch: at.switch.0, port: at.port.0, cookie });
        let mut said = self.on_packet.lock().unwrap().pop_front().unwrap_or_default();
        for command in &mut said {
            match command {
                Command::Install(transaction) => {
                    transaction.release.iter_mut().for_each(|held| held.1 = frame)
                }
                Command::PacketOut { frame: FrameOut::Held(held), .. } | Command::Forget(held) => {
                    *held = frame
                }
                Command::PacketOut { .. } => {}
            }
        }
        out.append(&mut said);
    }

    fn installed(&mut self, _: Time, transaction: u64, out: &mut Vec<Command>) {
        self.note(CoreEvent::Installed(transaction));
        out.extend(self.on_installed.lock().unwrap().remove(&transaction).unwrap_or_default());
    }

    fn failed(&mut self, _: Time, transaction: u64, switch: SwitchId, reason: &str, _: &mut Vec<Command>) {
        self.note(CoreEvent::Failed { transaction, switch: switch.0, reason: reason.into() });
    }

    fn rule_removed(
        &mut self,
        _: Time,
        switch: SwitchId,
        cookie: u64,
        packets: u64,
        bytes: u64,
        _: &mut Vec<Command>,
    ) {
        self.note(CoreEvent::RuleRemoved { switch: switch.0, cookie, packets, bytes });
    }
}

/// Three switches under a scripted core; transactions time out after 2 s.
pub struct Network {
    pub southbound: Southbound,
    pub core: Scripted,
    pub now: Time,
}

impl Network {
    pub fn new() -> Self {
        Self::with(SouthboundLimits {
            install_deadline: Duration::from_secs(2),
            audit: None,
            ..SouthboundLimits::default()
        })
    }

    pub fn with(limits: SouthboundLimits) -> Self {
        let core = Scripted::default();
        let mut southbound = Southbound::new(Box::new(core.clone()), limits);
        let now = Time::ZERO + Duration::from_secs(10);
        (1..=3).for_each(|switch| southbound.switch_up(now, SwitchId(switch), &[], &[]));
        assert_eq!(core.events(), [1, 2, 3].map(CoreEvent::SwitchUp));
        Self { southbound, core, now }
    }

    /// A switch sends a message.
    pub fn say(&mut self, switch: u64, message: &Message) {
        let bytes = written(7, message);
        let (place, _) = self.southbound.received(self.now, SwitchId(switch), &bytes, 0);
        assert_eq!(place, bytes.len());
    }

    /// A packet-in arrives from port 3, and the core returns these commands.
    pub fn packet_in(&mut self, switch: u64, said: Vec<Command>) {
        self.core.on_packet.lock().unwrap().push_back(said);
        self.say(switch, &Message::PacketIn(packet(&FRAME)));
    }

    /// A switch sends a barrier reply.
    pub fn confirm(&mut self, switch: u64, xid: u32) {
        let bytes = written(xid, &Message::BarrierReply);
        self.southbound.received(self.now, SwitchId(switch), &bytes, 0);
    }

    /// The messages sent to each switch.
    pub fn sent(&mut self) -> Sent {
        let mut sent = Sent::default();
        self.southbound.send(|switch, bytes| {
            let of = sent.0.entry(switch.0).or_default();
            let mut rest = bytes;
            while !rest.is_empty() {
                let (message, others) = rest.split_at(Header::parse(rest).unwrap().length.into());
                of.push(message.to_vec());
                rest = others;
            }
        });
        sent
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.southbound.counters().iter().find(|(known, _)| *known == name).unwrap().1
    }
}

/// Messages by switch.
#[derive(Default, Debug)]
pub struct Sent(BTreeMap<u64, Vec<Vec<u8>>>);

impl Sent {
    /// The messages sent to a switch as words: `rule 7` with its output port, `barrier`, or `frame`.
    pub fn words(&self, switch: u64) -> Vec<String> {
        let word = |bytes: &Vec<u8>| match Message::parse(bytes).unwrap().1 {
            Message::FlowMod(rule) => match rule.actions.iter().next() {
                Some(Action::Output { port, .. }) => format!("rule {}", port.0),
                other => panic!("{other:?}"),
            },
            Message::BarrierRequest => "barrier".into(),
            Message::PacketOut(packet) => format!("frame of {} bytes", packet.data.len()),
            other => panic!("{other:?}"),
        };
        self.0.get(&switch).into_iter().flatten().map(word).collect()
    }

    /// The transaction ids of a switch's messages.
    pub fn xids(&self, switch: u64) -> Vec<u32> {
        let xid = |bytes: &Vec<u8>| Message::parse(bytes).unwrap().0;
        self.0.get(&switch).into_iter().flatten().map(xid).collect()
    }

    /// A switch's messages.
    pub fn messages(&self, switch: u64) -> Vec<Message<'_>> {
        self.0.get(&switch).into_iter().flatten().map(|bytes| Message::parse(bytes).unwrap().1).collect()
    }
}

/// Installs rules by switch and output port, with a frame that waits at port 3 of a switch.
pub fn install(id: u64, rules: &[(u64, u32)], waits_at: Option<u64>) -> Command {
    let rules =
        rules.iter().map(|(switch, port)| (SwitchId(*switch), RuleChange::Add(rule(*port)))).collect();
    let release = waits_at.map(|switch| (SwitchPort::new(switch, 3), FrameRef(0))).into_iter().collect();
    Command::Install(Transaction { id, rules, release })
}

/// A rule that sends everything out of a port.
pub fn rule(port: u32) -> Rule {
    Rule {
        cookie: OWN,
        priority: 100,
        matches: Match::ALL,
        actions: [RuleAction::Output(PortNo(port))].into_iter().collect(),
        idle_timeout_s: 10,
        notify_removed: true,
    }
}

/// A packet-in from port 3.
pub const fn packet(data: &[u8]) -> PacketIn<'_> {
    PacketIn {
        buffer: None,
        total_len: data.len() as u16,
        reason: PacketInReason::ACTION,
        table: 0,
        cookie: OWN,
        in_port: PortNumber(3),
        data,
    }
}

/// A flow removed message.
pub fn removed(cookie: u64, reason: RemovedReason) -> Message<'static> {
    Message::FlowRemoved(FlowRemoved {
        cookie,
        priority: 1,
        reason,
        table: 0,
        duration_s: 1,
        duration_ns: 0,
        idle_timeout: 10,
        hard_timeout: 0,
        packets: 5,
        bytes: 500,
        matching: Fields::default(),
    })
}

/// A message's bytes.
pub fn written(xid: u32, message: &Message) -> Vec<u8> {
    let mut bytes = vec![0; message.encoded_len()];
    message.write(xid, &mut bytes).unwrap();
    bytes
}
