//! [`Southbound`]: a [`Controller`] towards its switches, in the bytes of OpenFlow 1.3.
//!
//! What every new path costs goes through here and nowhere else: packets that switches send up, rules, barriers and
//! their answers, packets that are released, rules that are gone. What else switches and controllers say to each other
//! (hello, features, roles, ports, errors) is for whoever keeps the connections, who tells what comes of it by the
//! other methods. It owns no socket and no clock either: bytes come in, bytes for each switch go out.

mod encode;
mod open;
mod port_limit;
mod session;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use weft_units::{Duration, Time};
use weft_wire::openflow::{
    Action, FlowRemoved, Header, List, Message, MessageType, PacketOut, PortNumber, RemovedReason,
};
use weft_wire::{Error, EtherType, Ethernet};

use crate::command::{Command, FrameOut, Transaction};
use crate::controller::Controller;
use crate::cookie;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::packet::Packet;

use open::{Done, Failure, Open};
use port_limit::PortLimit;
use session::{Block, Session};

/// LLDP is how links are discovered, by whoever keeps the connections.
const LLDP: EtherType = EtherType(0x88cc);

/// A core that several threads may own one after the other.
pub type Core = Box<dyn Controller + Send + Sync>;

/// Where a stream of messages was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop<'a> {
    /// Less than a message follows, or what is none.
    Rest,
    /// A message follows that is none of those that are read here.
    Other,
    /// An LLDP frame came up, and was taken out.
    Lldp {
        /// By this port.
        port: PortNo,
        /// The frame.
        frame: &'a [u8],
    },
    /// A message was malformed, and was taken out.
    Malformed(Error),
}

/// What somebody should look after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// A switch has not confirmed rules within the deadline.
    Late(SwitchId),
    /// A switch has left more barrier requests unanswered than it may.
    Backlog(SwitchId),
}

macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        #[derive(Clone, Debug, Default)]
        struct Counts {
            $($(#[doc = $doc])+ $name: u64,)*
        }

        impl Counts {
            fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counts! {
    /// Packets that came up, without LLDP.
    packet_ins_received,
    /// Of these, such as were more than their port may send up.
    packet_ins_over_limit,
    /// Changes of rules that were sent.
    flow_mods,
    /// Packets that were sent.
    packet_outs,
    /// Packets and rules for switches that are not there.
    packet_outs_without_switch,
    /// Rules that have idled out.
    rules_idle,
    /// Transactions that all of their switches have confirmed.
    transactions_installed,
    /// Transactions that a switch has refused.
    transactions_refused,
    /// Transactions that waited for a switch that is gone.
    transactions_switch_gone,
    /// Transactions that were not confirmed in time.
    transactions_late,
}

/// How much switches and ports may.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SouthboundLimits {
    /// How long a switch may take to confirm rules.
    pub install_deadline: Duration,
    /// The packets that a port may send up in a second.
    pub packets_per_port_s: u64,
    /// The barrier requests that a switch may leave unanswered.
    pub backlog: usize,
}

impl Default for SouthboundLimits {
    fn default() -> Self {
        Self { install_deadline: Duration::from_secs(2), packets_per_port_s: 5000, backlog: 200_000 }
    }
}

/// A controller, what its switches have still to confirm, and what is to be sent to them.
pub struct Southbound {
    core: Core,
    limits: SouthboundLimits,
    sessions: FxHashMap<SwitchId, Session>,
    /// Switches that something is to be sent to, in the order in which it began.
    to_send: Vec<SwitchId>,
    frames: FxHashMap<FrameRef, Box<[u8]>>,
    last_frame: u64,
    open: Open,
    ports: PortLimit,
    counts: Counts,
    set_ups: Vec<Duration>,
    troubles: Vec<Trouble>,
    /// What the core has said and is not done.
    work: VecDeque<Command>,
    is_working: bool,
    /// Room for what it says.
    said: Vec<Command>,
}

impl Southbound {
    /// What `core` decides is done.
    pub fn new(core: Core, limits: SouthboundLimits) -> Self {
        Self {
            core,
            limits,
            sessions: FxHashMap::default(),
            to_send: Vec::new(),
            frames: FxHashMap::default(),
            last_frame: 0,
            open: Open::default(),
            ports: PortLimit::new(limits.packets_per_port_s),
            counts: Counts::default(),
            set_ups: Vec::new(),
            troubles: Vec::new(),
            work: VecDeque::new(),
            is_working: false,
            said: Vec::new(),
        }
    }

    /// What decides.
    pub fn core(&self) -> &(dyn Controller + Send + Sync) {
        &*self.core
    }

    /// Takes messages of a switch from byte `place` of `bytes` on, up to one that is not read here; gives the place
    /// behind the last that was.
    pub fn received<'a>(
        &mut self,
        now: Time,
        switch: SwitchId,
        bytes: &'a [u8],
        mut place: usize,
    ) -> (usize, Stop<'a>) {
        while let Some(rest) = bytes.get(place..)
            && let Ok(header) = Header::parse(rest)
            && let Some(message) = rest.get(..header.length.into())
        {
            let stop = match header.message_type {
                MessageType::PACKET_IN => self.packet_in(now, switch, message),
                MessageType::BARRIER_REPLY => {
                    self.confirmed(now, switch, header.xid);
                    None
                }
                MessageType::FLOW_REMOVED => self.rule_removed(now, switch, message),
                _ => Some(Stop::Other),
            };
            if stop == Some(Stop::Other) {
                return (place, Stop::Other);
            }
            place += message.len();
            if let Some(stop) = stop {
                return (place, stop);
            }
        }
        (place, Stop::Rest)
    }

    /// A switch can be steered from now on: [`Controller::switch_up`].
    pub fn switch_up(&mut self, now: Time, switch: SwitchId, ports: &[PortNo], cookies: &[u64]) {
        self.sessions.insert(switch, Session::default());
        self.tell(now, |core, now, out| core.switch_up(now, switch, ports, cookies, out));
    }

    /// A switch can be steered no more: [`Controller::switch_down`].
    pub fn switch_down(&mut self, now: Time, switch: SwitchId) {
        let session = self.sessions.remove(&switch);
        for block in session.into_iter().flat_map(|session| session.unanswered) {
            if let Some(failure) = self.open.fail(block.transaction, switch) {
                self.counts.transactions_switch_gone += 1;
                self.failed(now, failure, "the switch is gone");
            }
        }
        self.tell(now, |core, now, out| core.switch_down(now, switch, out));
    }

    /// A switch has refused the message with this transaction id of OpenFlow.
    pub fn refused(&mut self, now: Time, switch: SwitchId, xid: u32, reason: &str) {
        let block = self.sessions.get(&switch).and_then(|session| session.block_with(xid));
        if let Some(failure) = block.and_then(|transaction| self.open.fail(transaction, switch)) {
            self.counts.transactions_refused += 1;
            self.failed(now, failure, reason);
        }
    }

    /// Tells the core something, and does what it says thereupon: after all that it has said before.
    pub fn tell(&mut self, now: Time, what: impl FnOnce(&mut Core, Time, &mut Vec<Command>)) {
        let mut said = std::mem::take(&mut self.said);
        what(&mut self.core, now, &mut said);
        self.work.extend(said.drain(..));
        self.said = said;
        if std::mem::replace(&mut self.is_working, true) {
            return;
        }
        while let Some(command) = self.work.pop_front() {
            match command {
                Command::Install(transaction) => self.install(now, transaction),
                Command::PacketOut { switch, in_port, ports, frame: FrameOut::Made(frame) } => {
                    self.packet_out(switch, in_port, &ports, &encode::made(&frame));
                }
                Command::PacketOut { switch, in_port, ports, frame: FrameOut::Held(frame) } => {
                    self.release(switch, in_port, &ports, frame);
                }
                Command::Forget(frame) => {
                    self.frames.remove(&frame);
                }
            }
        }
        self.is_working = false;
    }

    /// Has a frame of somebody else's sent by a port, at once.
    pub fn send_frame(&mut self, at: SwitchPort, frame: &[u8]) {
        self.packet_out(at.switch, None, &[at.port], frame);
    }

    /// When [`Southbound::on_deadline`] is to be called, [`Time::MAX`] for never.
    pub fn next_deadline(&self) -> Time {
        self.open.next_deadline().min(self.core.next_deadline())
    }

    /// The deadline has come. Calling early does nothing.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some(failure) = self.open.overdue(now) {
            self.counts.transactions_late += 1;
            self.troubles.push(Trouble::Late(failure.switch));
            self.failed(now, failure, "not confirmed in time");
        }
        if self.core.next_deadline() <= now {
            self.tell(now, |core, now, out| core.on_deadline(now, out));
        }
    }

    /// Gives what is to be sent to each switch.
    pub fn send(&mut self, mut with: impl FnMut(SwitchId, &[u8])) {
        for switch in self.to_send.drain(..) {
            if let Some(session) = self.sessions.get_mut(&switch) {
                with(switch, &session.out);
                session.out.clear();
            }
        }
    }

    /// How long paths took since this was last asked, from what wanted them to the last switch's confirmation.
    pub fn set_ups(&mut self) -> impl Iterator<Item = Duration> {
        self.set_ups.drain(..)
    }

    /// What somebody should look after since this was last asked.
    pub fn troubles(&mut self) -> impl Iterator<Item = Trouble> {
        self.troubles.drain(..)
    }

    /// The transactions that are not confirmed.
    pub fn installing(&self) -> usize {
        self.open.len()
    }

    /// Counters of the core and of what is done here, by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.core.counters();
        counters.extend(self.counts.list());
        counters
    }

    fn packet_in<'a>(&mut self, now: Time, switch: SwitchId, message: &'a [u8]) -> Option<Stop<'a>> {
        let packet = match Message::parse(message) {
            Ok((_, Message::PacketIn(packet))) => packet,
            Ok(_) => return None,
            Err(error) => return Some(Stop::Malformed(error)),
        };
        let at = SwitchPort { switch, port: PortNo(packet.in_port.0) };
        if Ethernet::parse(packet.data).is_ok_and(|frame| frame.ethertype() == LLDP) {
            return Some(Stop::Lldp { port: at.port, frame: packet.data });
        }
        self.counts.packet_ins_received += 1;
        if !self.ports.may(now, at) {
            self.counts.packet_ins_over_limit += 1;
            return None;
        }
        let read = Packet::read(packet.data)?;
        self.last_frame += 1;
        let frame = FrameRef(self.last_frame);
        self.frames.insert(frame, packet.data.into());
        self.tell(now, |core, now, out| core.packet_in(now, at, packet.cookie, &read, frame, out));
        None
    }

    fn rule_removed<'a>(&mut self, now: Time, switch: SwitchId, message: &'a [u8]) -> Option<Stop<'a>> {
        let FlowRemoved { cookie, reason, packets, bytes, .. } = match Message::parse(message) {
            Ok((_, Message::FlowRemoved(removed))) => removed,
            // Of a rule that is not the controller's, whose match may be any.
            _ => return Some(Stop::Other),
        };
        if !cookie::is_own(cookie) {
            return Some(Stop::Other);
        }
        if matches!(reason, RemovedReason::IDLE_TIMEOUT | RemovedReason::EVICTION) {
            self.counts.rules_idle += 1;
            self.tell(now, |core, now, out| core.rule_removed(now, switch, cookie, packets, bytes, out));
        }
        None
    }

    /// A switch has done what stood before a barrier request.
    fn confirmed(&mut self, now: Time, switch: SwitchId, xid: u32) {
        let Some(session) = self.sessions.get_mut(&switch) else { return };
        let Some(transaction) = session.confirmed(xid) else { return };
        if let Some(done) = self.open.confirmed(transaction, switch) {
            self.installed(now, transaction, &done);
        }
    }

    fn install(&mut self, now: Time, Transaction { id, rules, release }: Transaction) {
        // Each switch with the messages that it is sent, and its block of them.
        let mut blocks: SmallVec<[(SwitchId, u32, Block); 8]> = SmallVec::new();
        for (switch, _) in &rules {
            match blocks.iter_mut().find(|(known, ..)| known == switch) {
                Some((_, count, _)) => *count += 1,
                None => blocks.push((*switch, 1 + u32::from(id > 0), Block::default())),
            }
        }
        let mut missing = None;
        for (switch, count, block) in &mut blocks {
            match self.sessions.get_mut(switch) {
                Some(session) => *block = session.begin(*count, id),
                None => missing = missing.or(Some(*switch)),
            }
        }
        blocks.retain(|(_, _, block)| *block != Block::default());
        for (switch, change) in &rules {
            let block = blocks.iter_mut().find(|(known, ..)| known == switch);
            let (Some((_, left, block)), Some(session)) = (block, self.sessions.get_mut(switch)) else {
                continue;
            };
            session.mark(*switch, &mut self.to_send);
            encode::rule(&mut session.out, block.last + 1 - *left, change);
            *left -= 1;
            self.counts.flow_mods += 1;
        }
        if id > 0 {
            let waiting = blocks.iter().map(|(switch, ..)| *switch);
            self.open.begin(id, release, now, self.limits.install_deadline, waiting);
            blocks.iter().for_each(|(switch, _, block)| self.request_barrier(*switch, *block));
            if let Some(failure) = missing.and_then(|switch| self.open.fail(id, switch)) {
                self.counts.transactions_switch_gone += 1;
                self.failed(now, failure, "the switch is gone");
            } else if let Some(done) = self.open.done(id) {
                // It has no rules, so there is nothing to wait for.
                self.installed(now, id, &done);
            }
        }
    }

    fn request_barrier(&mut self, switch: SwitchId, block: Block) {
        if let Some(session) = self.sessions.get_mut(&switch) {
            encode::message(&mut session.out, block.last, &Message::BarrierRequest);
            session.unanswered.push_back(block);
            if session.unanswered.len() > self.limits.backlog {
                self.troubles.push(Trouble::Backlog(switch));
            }
        }
    }

    /// All switches have confirmed: frames that waited go on their way.
    fn installed(&mut self, now: Time, transaction: u64, done: &Done) {
        self.counts.transactions_installed += 1;
        if !done.release.is_empty() {
            self.set_ups.push(now.saturating_since(done.since));
        }
        for (at, frame) in &done.release {
            self.release(at.switch, Some(at.port), &[PortNo::TABLE], *frame);
        }
        self.tell(now, |core, now, out| core.installed(now, transaction, out));
    }

    fn failed(&mut self, now: Time, Failure { transaction, switch }: Failure, reason: &str) {
        self.tell(now, |core, now, out| core.failed(now, transaction, switch, reason, out));
    }

    /// Sends a frame that came up.
    fn release(&mut self, switch: SwitchId, in_port: Option<PortNo>, ports: &[PortNo], frame: FrameRef) {
        // Who forgets a frame does not send it.
        if let Some(bytes) = self.frames.remove(&frame) {
            self.packet_out(switch, in_port, ports, &bytes);
            self.frames.insert(frame, bytes);
        }
    }

    fn packet_out(&mut self, switch: SwitchId, in_port: Option<PortNo>, ports: &[PortNo], data: &[u8]) {
        let Some(session) = self.sessions.get_mut(&switch) else {
            self.counts.packet_outs_without_switch += 1;
            return;
        };
        let output = |port: &PortNo| Action::output(PortNumber(port.0));
        let actions: SmallVec<[Action; 8]> = ports.iter().map(output).collect();
        let in_port = in_port.map_or(PortNumber::CONTROLLER, |port| PortNumber(port.0));
        let packet = PacketOut { buffer: None, in_port, actions: List::new(&actions), data };
        session.mark(switch, &mut self.to_send);
        let xid = session.begin(1, 0).first;
        encode::message(&mut session.out, xid, &Message::PacketOut(packet));
        self.counts.packet_outs += 1;
    }
}
