//! The interface between a [`Southbound`] and its caller: reported events and fetched results.

use weft_wire::openflow::{Header, MessageType, VERSION};

use super::session::{self, Session};
use super::state::{Core, Southbound, Stop, Trouble};
use super::{decode, encode};
use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut};
use crate::controller::Controller;
use crate::ids::{PortNo, SwitchId, SwitchPort};
use crate::offences::Offence;
use crate::rule::Rule;

impl Southbound {
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
                    self.rules_reported(now, switch, header.xid, message)
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
