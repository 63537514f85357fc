//! Timeouts, stalled subflows, and the end of subflows and of the connection.

use weft_units::{Duration, Time};

use super::Config;
use super::connection::{Connection, Mode};
use super::scheduler::Scheduler;
use super::subflow::{Stage, Subflow};
use crate::endpoint::State;
use crate::segment::{Flags, Segment};

/// How long a connection waits for a data acknowledgment when no subflow waits for an ACK (Linux: `TCP_RTO_MIN`).
const PATIENCE: Duration = Duration::from_ms(200);
/// Consecutive timeouts that a subflow survives at the end, once the other side has received the last DATA_ACK: the
/// next one resets it.
const END_RETRIES: u8 = 3;
/// Bytes reinjected at a time when data stalls (Linux: the size of a page fragment).
const PIECE: u64 = 32 * 1024;

impl Connection {
    /// Call this at [`Self::next_timeout`]; an earlier call is harmless.
    pub fn on_timeout(&mut self, cfg: &Config, now: Time) {
        self.due = true;
        for number in 0..self.subflows.len() {
            if self.subflows[number].endpoint.next_timeout() <= now {
                self.subflow_expires(cfg, number, now);
            }
        }
        if self.stalled_at <= now {
            self.stalls(cfg, now);
        }
        if self.outgoing.fin_timer <= now {
            self.fin_expires(cfg, now);
        }
    }

    fn subflow_expires(&mut self, cfg: &Config, number: usize, now: Time) {
        self.ready |= 1 << number;
        if self.mode == Mode::Plain {
            self.subflows[number].endpoint.on_timeout(&cfg.plain, now);
            return;
        }
        if self.subflows[number].coupled {
            self.observe(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        if subflow.stage == Stage::Unconfirmed && subflow.third_acks > cfg.plain.syn_retries {
            subflow.reset();
        }
        subflow.endpoint.on_timeout(&cfg.subflow, now);
        // Do not wait for an unresponsive subflow to close, unless the other side may still need the last DATA_ACK.
        if subflow.endpoint.tx.retries > END_RETRIES && self.over_at_peer {
            self.subflows[number].reset();
        }
        if self.subflows[number].endpoint.state == State::Closed {
            self.bury(number);
        }
    }

    /// Restarts the stall timer: data was acknowledged, or the first data was sent.
    #[inline]
    pub(super) fn arm_stall(&mut self, now: Time) {
        self.stalled_at = if self.outgoing.is_idle() { Time::MAX } else { now + self.patience(now) };
    }

    /// How long the connection waits for its next data acknowledgment: as in Linux, as long as the longest wait for an
    /// ACK of any subflow without misses.
    fn patience(&self, now: Time) -> Duration {
        let waiting = self.subflows.iter().filter(|subflow| subflow.is_open() && subflow.misses == 0);
        let timers = waiting.map(|subflow| subflow.endpoint.tx.timer_at);
        let last = timers.filter(|&at| at > now && at != Time::MAX).max();
        last.map_or(PATIENCE, |at| at.saturating_since(now))
    }

    /// Handles the stall timer: an idle subflow reinjects the first outstanding piece. Subflows that receive nothing
    /// get a miss, and become stale when there is a better one (Linux: `__mptcp_retrans`).
    #[cold]
    fn stalls(&mut self, cfg: &Config, now: Time) {
        if self.mode != Mode::Multipath || self.outgoing.is_idle() || self.is_closed() {
            self.stalled_at = Time::MAX;
            return;
        }
        let mut idle = None;
        for number in 0..self.subflows.len() {
            let subflow = &mut self.subflows[number];
            if !subflow.is_open() {
                continue;
            }
            if !subflow.is_outstanding() {
                idle = idle.or(Some(number));
            } else if subflow.count_miss() > cfg.plain.mptcp_stale_loss_count {
                self.suspect(cfg, number);
            }
        }
        if let Some(number) = idle {
            self.give_first(cfg, number);
        }
        self.arm_stall(now);
    }

    /// Marks a subflow with too many misses as stale, if there is a better one.
    fn suspect(&mut self, cfg: &Config, number: usize) {
        let count = cfg.plain.mptcp_stale_loss_count;
        let better = |(other, subflow): (usize, &Subflow)| {
            other != number && subflow.is_usable() && subflow.misses < count.saturating_sub(1).max(1)
        };
        if count > 0 && !self.subflows[number].stale && self.subflows.iter().enumerate().any(better) {
            self.stats.stale += 1;
            self.give_again(number);
            self.subflows[number].stale = true;
        }
    }

    /// Reinjects the first unacknowledged piece of data on an idle subflow.
    fn give_first(&mut self, cfg: &Config, number: usize) {
        let (mut from, to) = self.outgoing.first(PIECE);
        while from < to {
            let len = (to - from).min(u64::from(cfg.subflow.mss)) as u32;
            self.subflows[number].give(&cfg.subflow, from, len);
            self.stats.reinjected += u64::from(len);
            from += u64::from(len);
        }
        self.ready |= 1 << number;
    }

    /// Queues a subflow's unacknowledged data for reinjection on others.
    fn give_again(&mut self, number: usize) {
        for mapping in self.subflows[number].sent.iter() {
            self.outgoing.give_again(mapping.data, mapping.data + u64::from(mapping.len));
        }
        self.due = true;
    }

    /// Handles the end of a subflow: its data is reinjected on others.
    #[cold]
    pub(super) fn bury(&mut self, number: usize) {
        let subflow = &self.subflows[number];
        if subflow.buried || self.mode == Mode::Plain {
            return;
        }
        if !subflow.stale {
            self.give_again(number);
        }
        let subflow = &mut self.subflows[number];
        subflow.buried = true;
        subflow.sent = Default::default();
        subflow.held = Default::default();
        if !self.subflows.iter().any(Subflow::is_usable) {
            // A stale subflow is better than none.
            self.subflows.iter_mut().for_each(|other| other.stale = false);
        }
    }

    /// Handles the DATA_FIN timer.
    fn fin_expires(&mut self, cfg: &Config, now: Time) {
        if self.is_closed() {
            self.outgoing.fin_timer = Time::MAX;
            return;
        }
        let outgoing = &mut self.outgoing;
        // While data is outstanding, giving up is left to the subflows.
        if outgoing.is_idle() {
            if outgoing.fin_tries >= cfg.plain.data_retries && cfg.plain.data_retries < u8::MAX {
                outgoing.fin_timer = Time::MAX;
                return (0..self.subflows.len()).for_each(|number| self.remove(number));
            }
            outgoing.fin_tries = outgoing.fin_tries.saturating_add(1);
        }
        for (number, subflow) in self.subflows.iter_mut().enumerate() {
            if subflow.is_open() {
                subflow.tell_fin();
                self.ready |= 1 << number;
            }
        }
        self.arm_fin(cfg, now);
    }

    pub(super) fn arm_fin(&mut self, cfg: &Config, now: Time) {
        let tries = self.outgoing.fin_tries;
        let timeout = match Scheduler::best(&self.subflows) {
            Some(best) => self.subflows[best].endpoint.tx.rtt.timeout(&cfg.subflow, tries),
            None => cfg.plain.initial_rto,
        };
        self.outgoing.fin_timer = now + timeout;
    }

    /// Resets a subflow, for example when its address was removed, and reinjects its data on others. The connection
    /// continues while it has another subflow.
    pub fn remove(&mut self, subflow: usize) {
        if subflow < self.subflows.len() {
            self.subflows[subflow].reset();
            self.ready |= 1 << subflow;
            self.bury(subflow);
        }
    }

    /// Notices, from a segment on a subflow, that the other side has received the last DATA_ACK: it has acknowledged a
    /// FIN, which carries the DATA_ACK unless its join was not confirmed yet, or has closed or reset the subflow. After
    /// a reset for another reason (an address was removed, a mapping was missing), this side may reset the others too
    /// early.
    #[cold]
    pub(super) fn notice_end(&mut self, number: usize, seg: &Segment) {
        let subflow = &self.subflows[number];
        // A subflow that this side has reset or refused says nothing about the other.
        let is_closed_by_peer =
            !subflow.buried && (seg.flags.has(Flags::RST) || !subflow.endpoint.is_aborted());
        let is_over = match subflow.endpoint.state {
            State::Closed => is_closed_by_peer,
            State::Listen | State::SynSent | State::SynReceived | State::Established | State::FinWait1 => {
                false
            }
            State::FinWait2 | State::CloseWait | State::Closing | State::LastAck | State::TimeWait => true,
        };
        self.over_at_peer |= subflow.stage == Stage::Confirmed && is_over;
    }

    /// Closes the subflows after all data has arrived both ways. Those that are stale too: the other side may still
    /// wait for our last DATA_ACK, and theirs may be the only path that works.
    #[cold]
    pub(super) fn finish(&mut self) {
        self.finishing = true;
        for (number, subflow) in self.subflows.iter_mut().enumerate() {
            subflow.finish();
            self.ready |= 1 << number;
        }
    }
}
