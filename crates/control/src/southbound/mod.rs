//! [`Southbound`]: a [`Controller`] towards its switches, in the bytes of OpenFlow 1.3.
//!
//! What every new path costs goes through here and nowhere else: packets that switches send up, rules, barriers and
//! their answers, packets that are released, rules that are gone. What else switches and controllers say to each other
//! (hello, features, roles, ports, errors) is for whoever keeps the connections, who tells what comes of it by the
//! other methods. It owns no socket and no clock either: bytes come in, bytes for each switch go out.

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
use weft_wire::openflow::{Header, MessageType, VERSION};
use weft_wire::{Error, EtherType};

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
    /// A switch had lost rules, and was given them again.
    Repaired(SwitchId, usize),
}

/// How much switches and ports may.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SouthboundLimits {
    /// How long a switch may take to confirm rules.
    pub install_deadline: Duration,
    /// The packets that a port may send up in a second.
    pub packets_per_port_s: u64,
    /// The answers to the controller's own questions that a port may send up in a second, beside these and no more than these.
    pub answers_per_port_s: u64,
    /// The LLDP frames that a port may send up in a second, beside these.
    pub lldp_per_port_s: u64,
    /// The barrier requests that a switch may leave unanswered.
    pub backlog: usize,
    /// Between two questions to a switch for a part of its rules; `None` for none.
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
    audits: Audits,
    ports: PortLimit,
    answers: PortLimit,
    lldp: PortLimit,
    counts: Counts,
    /// What ports sent that was stopped before the core saw it.
    offences: Offences,
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

    /// A switch can be steered from now on: [`Controller::switch_up`], with the rules that `answers` tell: messages
    /// with which it has answered a question for them. What cannot be read is left out.
    pub fn switch_up(&mut self, now: Time, switch: SwitchId, ports: &[PortNo], answers: &[&[u8]]) {
        let rules: Vec<Rule> =
            answers.iter().filter_map(|answer| decode::rules(answer).ok()).flat_map(|(own, _)| own).collect();
        self.sessions.insert(switch, Session::default());
        if let Some(interval) = self.limits.audit {
            self.audits.begin(now + interval, switch);
        }
        self.tell(now, |core, now, out| core.switch_up(now, switch, ports, &rules, out));
    }

    /// A switch can be steered no more: [`Controller::switch_down`]. It `is_left_alone` if another controller has
    /// taken it over: [`Controller::leave_alone`].
    pub fn switch_down(&mut self, now: Time, switch: SwitchId, is_left_alone: bool) {
        self.core.leave_alone(switch, is_left_alone);
        let session = self.sessions.remove(&switch);
        self.audits.end(switch);
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
        self.audits.refused(switch, xid);
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
        self.open.next_deadline().min(self.core.next_deadline()).min(self.audits.next_deadline())
    }

    /// The deadline has come. Calling early does nothing.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some(failure) = self.open.overdue(now) {
            self.counts.transactions_late += 1;
            self.troubles.push(Trouble::Late(failure.switch));
            self.failed(now, failure, "not confirmed in time");
        }
        self.audit(now);
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

    /// What hosts did that was stopped, since this was last asked.
    pub fn offences(&mut self) -> Vec<Offence> {
        let mut offences = self.offences.take();
        offences.extend(self.core.offences());
        offences
    }

    /// The transactions that are not confirmed.
    pub fn installing(&self) -> usize {
        self.open.len()
    }

    /// Counters of the core and of what is done here, by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.core.counters();
        counters.extend(self.counts.list());
        let waiting: usize = self.sessions.values().map(|session| session.queue.len()).sum();
        counters.push(("rules_waiting_now", waiting as u64));
        counters
    }
}
