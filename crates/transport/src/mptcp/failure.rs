//! Timeouts, subflows that make no progress, and how subflows and the connection end.

use weft_units::Time;

use super::Config;
use super::connection::{Connection, Mode};
use super::scheduler::Scheduler;
use super::subflow::{Stage, Subflow};
use crate::endpoint::State;

impl Connection {
    /// To be called when [`Self::next_timeout`] has come; harmless earlier.
    pub fn on_timeout(&mut self, cfg: &Config, now: Time) {
        self.due = true;
        for number in 0..self.subflows.len() {
            if self.subflows[number].next_timeout() <= now {
                self.subflow_expires(cfg, number, now);
            }
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
        if subflow.endpoint.state == State::Closed {
            self.bury(number);
        } else if subflow.endpoint.backoff == 0 {
            subflow.stale_at = Time::MAX;
        } else if !subflow.stale {
            self.suspect(cfg, number, now);
        }
    }

    /// A subflow makes no progress. Linux looks again with each of the connection's timeouts, which are those of the other
    /// subflows, and believes it after `stale_loss_cnt` of them.
    fn suspect(&mut self, cfg: &Config, number: usize, now: Time) {
        let mut longest = None;
        for (other, subflow) in self.subflows.iter().enumerate() {
            if other != number && subflow.is_usable() && subflow.endpoint.backoff == 0 {
                longest = longest.max(Some(subflow.endpoint.rtt.timeout(&cfg.subflow, 0)));
            }
        }
        let subflow = &mut self.subflows[number];
        if !subflow.is_outstanding() && !self.finishing {
            subflow.stale_at = Time::MAX;
            return;
        }
        let timeout = longest.unwrap_or(subflow.endpoint.rtt.timeout(&cfg.subflow, 0));
        if subflow.stale_at == Time::MAX {
            let count = cfg.plain.mptcp_stale_loss_count.max(u8::from(self.finishing));
            subflow.stale_at = now + timeout.saturating_mul(u64::from(count));
        }
        if subflow.stale_at > now {
            return;
        }
        if self.finishing {
            // Nobody waits for the end of this one.
            subflow.reset();
            self.bury(number);
        } else if longest.is_some() {
            subflow.stale_at = Time::MAX;
            self.stats.stale += 1;
            self.give_again(number);
            self.subflows[number].stale = true;
        } else {
            subflow.stale_at = now + timeout;
        }
    }

    /// What a subflow has sent, and nobody has acknowledged, is for others.
    fn give_again(&mut self, number: usize) {
        for mapping in self.subflows[number].sent.iter() {
            self.outgoing.give_again(mapping.data, mapping.data + u64::from(mapping.len));
        }
        self.due = true;
    }

    /// A subflow has ended: others get what it had.
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
        subflow.stale_at = Time::MAX;
        subflow.sent = Default::default();
        subflow.held = Default::default();
        if !self.subflows.iter().any(Subflow::is_usable) {
            // A bad one is better than none.
            self.subflows.iter_mut().for_each(|other| other.stale = false);
        }
    }

    /// The DATA_FIN was not acknowledged in time.
    fn fin_expires(&mut self, cfg: &Config, now: Time) {
        if self.is_closed() {
            self.outgoing.fin_timer = Time::MAX;
            return;
        }
        let outgoing = &mut self.outgoing;
        // While data is on its way it is for the subflows to give up.
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
            Some(best) => self.subflows[best].endpoint.rtt.timeout(&cfg.subflow, tries),
            None => cfg.plain.initial_rto,
        };
        self.outgoing.fin_timer = now + timeout;
    }

    /// Ends a subflow with a reset, as when its address has gone: others get what it had. The connection goes on while
    /// there is another.
    pub fn remove(&mut self, subflow: usize) {
        if subflow < self.subflows.len() {
            self.subflows[subflow].reset();
            self.ready |= 1 << subflow;
            self.bury(subflow);
        }
    }

    /// Everything has arrived both ways: the subflows end.
    #[cold]
    pub(super) fn finish(&mut self) {
        self.finishing = true;
        for (number, subflow) in self.subflows.iter_mut().enumerate() {
            subflow.finish();
            self.ready |= 1 << number;
        }
    }
}
