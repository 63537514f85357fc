//! [`Southbound`]: connects a [`Controller`] to its switches over OpenFlow 1.3.
//!
//! It handles the messages of the flow set-up path, and only those: packet-ins, rules, barriers and their answers,
//! packet-outs, removed rules. The caller that keeps the connections handles all other OpenFlow messages (hello,
//! features, roles, ports, errors) and reports their results through the other methods. It has no socket and no clock:
//! bytes come in, bytes for each switch go out.

mod audit;
mod counts;
mod decode;
mod encode;
mod install;
mod open;
mod packets;
mod port_limit;
mod queue;
mod session;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use weft_wire::Error;
use weft_wire::openflow::{Header, MessageType, VERSION};

use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut};
use crate::controller::Controller;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::offences::{Offence, Offences};
use crate::rule::Rule;

use audit::Audits;
use counts::Counts;
use open::Open;
use port_limit::PortLimit;
use session::Session;

/// A core that can be passed between threads.
pub type Core = Box<dyn Controller + Send + Sync>;

/// Why parsing stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop<'a> {
    /// The rest is less than a complete message, or not a message.
    Rest,
    /// The next message is not handled here.
    Other,
    /// An LLDP frame was received and consumed.
    Lldp {
        /// The ingress port.
        port: PortNo,
        /// The frame.
        frame: &'a [u8],
    },
    /// A malformed message was consumed.
    Malformed(Error),
}

/// A fault that needs attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// A switch did not confirm rules within the deadline.
    Late(SwitchId),
    /// A switch has too many unanswered barrier requests.
    Backlog(SwitchId),
    /// A switch had lost this many rules, which were installed again.
    Repaired(SwitchId, usize),
}

/// Limits of switches and ports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SouthboundLimits {
    /// How long a switch may take to confirm rules.
    pub install_deadline: Duration,
    /// Packet-ins per port and second.
    pub packets_per_port_s: u64,
    /// Answers to the controller's own probes per port and second, counted separately and at most as many as those.
    pub answers_per_port_s: u64,
    /// LLDP frames per port and second, counted separately.
    pub lldp_per_port_s: u64,
    /// Unanswered barrier requests per switch.
    pub backlog: usize,
    /// Interval between audits of a switch's rules; `None` for no audits.
    pub audit: Option<Duration>,
}

impl Default for SouthboundLimits {
    fn default() -> Self {
        Self {
            install_deadline: Duration::from_secs(2),
            packets_per_port_s: 5000,
            answers_per_port_s: 1000,
            lldp_per_port_s: 50,
            backlog: 200_000,
            audit: Some(Duration::from_ms(500)),
        }
    }
}

/// A controller, its unconfirmed transactions, and the bytes to send.
pub struct Southbound {
    core: Core,
    limits: SouthboundLimits,
    sessions: FxHashMap<SwitchId, Session>,
    /// Switches with bytes to send, oldest first.
    to_send: Vec<SwitchId>,
    frames: FxHashMap<FrameRef, Box<[u8]>>,
    last_frame: u64,
    open: Open,
    audits: Audits,
    ports: PortLimit,
    answers: PortLimit,
    lldp: PortLimit,
    counts: Counts,
    /// Frames of ports blocked before they reached the core.
    offences: Offences,
    set_ups: Vec<Duration>,
    troubles: Vec<Trouble>,
    /// Commands of the core that are not executed yet.
    work: VecDeque<Command>,
    is_working: bool,
    /// Reused buffer for the core's commands.
    said: Vec<Command>,
}

impl Southbound {
    /// Executes the decisions of `core`.
    pub fn new(core: Core, limits: SouthboundLimits) -> Self {
        Self {
            core,
            limits,
            sessions: FxHashMap::default(),
            to_send: Vec::new(),
            frames: FxHashMap::default(),
            last_frame: 0,
            open: Open::default(),
            audits: Audits::default(),
            ports: PortLimit::new(limits.packets_per_port_s),
            answers: PortLimit::new(limits.answers_per_port_s.min(limits.packets_per_port_s)),
            lldp: PortLimit::new(limits.lldp_per_port_s),
            counts: Counts::default(),
            offences: Offences::default(),
            set_ups: Vec::new(),
            troubles: Vec::new(),
            work: VecDeque::new(),
            is_working: false,
            said: Vec::new(),
        }
    }

    /// The controller core.
    pub fn core(&self) -> &(dyn Controller + Send + Sync) {
        &*self.core
    }

    /// Handles messages of a switch from offset `place` of `bytes` up to one that is not handled here; returns the offset
    /// after the last message handled.
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
                _ if header.version != VERSION => Some(Stop::Other),
                MessageType::PACKET_IN => self.packet_in(now, switch, message),
                MessageType::BARRIER_REPLY => {
                    self.confirmed(now, switch, header.xid);
                    None
                }
                MessageType::FLOW_REMOVED => self.rule_removed(now, switch, message),
                MessageType::MULTIPART_REPLY if header.xid >= session::FIRST_XID => {
                    self.rules_told(now, switch, header.xid, message)
                }
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

    /// A switch is under control from now on: calls [`Controller::switch_up`] with the rules in `answers`, the messages of
    /// its flow statistics reply. Unreadable messages are left out. A switch that is still under control has lost its
    /// connection first.
    pub fn switch_up(&mut self, now: Time, switch: SwitchId, ports: &[PortNo], answers: &[&[u8]]) {
        let rules: Vec<Rule> =
            answers.iter().filter_map(|answer| decode::rules(answer).ok()).flat_map(|(own, _)| own).collect();
        if self.sessions.contains_key(&switch) {
            self.switch_down(now, switch, false);
        }
        self.sessions.insert(switch, Session::default());
        if let Some(interval) = self.limits.audit {
            self.audits.begin(now + interval, switch);
        }
        self.tell(now, |core, now, out| core.switch_up(now, switch, ports, &rules, out));
    }

    /// A switch is no longer under control: calls [`Controller::switch_down`]. It `is_left_alone` if another controller
    /// has taken it over: [`Controller::leave_alone`].
    pub fn switch_down(&mut self, now: Time, switch: SwitchId, is_left_alone: bool) {
        self.core.leave_alone(switch, is_left_alone);
        let session = self.sessions.remove(&switch);
        self.audits.end(switch);
        for block in session.into_iter().flat_map(|session| session.unanswered) {
            if let Some(failure) = self.open.fail(block.transaction, switch) {
                self.counts.transactions_switch_gone += 1;
                self.failed(now, failure, "switch disconnected");
            }
        }
        self.tell(now, |core, now, out| core.switch_down(now, switch, out));
    }

    /// A switch has refused the message with this OpenFlow transaction id.
    pub fn refused(&mut self, now: Time, switch: SwitchId, xid: u32, reason: &str) {
        self.audits.refused(switch, xid);
        let block = self.sessions.get(&switch).and_then(|session| session.block_with(xid));
        if let Some(failure) = block.and_then(|transaction| self.open.fail(transaction, switch)) {
            self.counts.transactions_refused += 1;
            self.failed(now, failure, reason);
        }
    }

    /// Passes an event to the core and executes its commands, after all earlier ones.
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

    /// Sends a caller's frame out of a port immediately.
    pub fn send_frame(&mut self, at: SwitchPort, frame: &[u8]) {
        self.packet_out(at.switch, None, &[at.port], frame);
    }

    /// When to call [`Southbound::on_deadline`], [`Time::MAX`] for never.
    pub fn next_deadline(&self) -> Time {
        self.open.next_deadline().min(self.core.next_deadline()).min(self.audits.next_deadline())
    }

    /// The deadline has come. Calling early does nothing.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some(failure) = self.open.overdue(now) {
            self.counts.transactions_late += 1;
            self.troubles.push(Trouble::Late(failure.switch));
            self.failed(now, failure, "install timed out");
        }
        self.audit(now);
        if self.core.next_deadline() <= now {
            self.tell(now, |core, now, out| core.on_deadline(now, out));
        }
    }

    /// Passes the pending bytes of each switch to `with`.
    pub fn send(&mut self, mut with: impl FnMut(SwitchId, &[u8])) {
        for switch in self.to_send.drain(..) {
            if let Some(session) = self.sessions.get_mut(&switch) {
                with(switch, &session.out);
                session.out.clear();
            }
        }
    }

    /// Path set-up times since the last call, from the packet-in to the last switch's confirmation.
    pub fn set_ups(&mut self) -> impl Iterator<Item = Duration> {
        self.set_ups.drain(..)
    }

    /// Faults that need attention, since the last call.
    pub fn troubles(&mut self) -> impl Iterator<Item = Trouble> {
        self.troubles.drain(..)
    }

    /// Blocked actions of hosts since the last call.
    pub fn offences(&mut self) -> Vec<Offence> {
        let mut offences = self.offences.take();
        offences.extend(self.core.offences());
        offences
    }

    /// The number of unconfirmed transactions.
    pub fn installing(&self) -> usize {
        self.open.len()
    }

    /// Counters of the core and of this layer, by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.core.counters();
        counters.extend(self.counts.list());
        let waiting: usize = self.sessions.values().map(|session| session.queue.len()).sum();
        counters.push(("rules_waiting_now", waiting as u64));
        counters
    }
}
