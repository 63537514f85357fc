//! Timers: one for the sender, whatever its purpose, and one for the delayed ACK.

use weft_units::{Duration, Time};

use crate::config::{Config, LossRecovery};
use crate::endpoint::{Endpoint, Phase, State, fact, todo};
use crate::recovery;
use crate::seq::span;

/// The purpose of the sender's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Timer {
    /// Retransmission (RFC 6298) of a SYN, data or a FIN.
    Retransmit,
    /// RACK's reordering timer (RFC 8985, section 6.2).
    Reorder,
    /// Tail loss probe (RFC 8985, section 7).
    TailProbe,
    /// Zero-window probe (RFC 9293, section 3.8.6.1).
    WindowProbe,
    /// The end of TIME-WAIT.
    TimeWait,
}

/// The ACK delay that a tail loss probe allows for with one segment in flight (Linux: the minimum RTO).
const TAIL_PROBE_ACK_DELAY: Duration = Duration::from_ms(200);
/// Added to two round-trip times otherwise (Linux: two ticks).
const TAIL_PROBE_SLACK: Duration = Duration::from_ms(2);

impl Endpoint {
    /// Call this at [`Self::next_timeout`]; an earlier call is harmless.
    pub fn on_timeout(&mut self, cfg: &Config, now: Time) {
        if self.ack_timer_at <= now {
            self.ack_timer_at = Time::MAX;
            self.todo |= todo::ACK;
        }
        if self.paced_until <= now {
            self.paced_until = Time::MAX;
        }
        if self.send_timer_at > now {
            return;
        }
        self.send_timer_at = Time::MAX;
        match (self.state, self.timer) {
            (State::SynSent | State::SynReceived, _) => self.syn_expires(cfg),
            (State::Closed | State::Listen, _) => {}
            (_, Timer::TimeWait) => {
                self.state = State::Closed;
                self.todo = 0;
            }
            (_, Timer::Retransmit) => self.retransmit_expires(cfg, now),
            (_, Timer::Reorder) => recovery::standard::on_reorder_timer(self, cfg, now),
            (_, Timer::TailProbe) => self.todo |= todo::TAIL_PROBE,
            (_, Timer::WindowProbe) => {
                if self.gives_up(cfg.data_retries) {
                    return;
                }
                self.todo |= todo::WINDOW_PROBE;
                self.send_timer_at = self.rtt.deadline(cfg, now, self.backoff);
            }
        }
    }

    fn gives_up(&mut self, retries: u8) -> bool {
        if self.retries >= retries && retries < u8::MAX {
            self.abort();
            return true;
        }
        self.retries = self.retries.saturating_add(1);
        self.backoff = self.backoff.saturating_add(1);
        false
    }

    fn syn_expires(&mut self, cfg: &Config) {
        self.stats.timeouts += 1;
        if !self.gives_up(cfg.syn_retries) {
            self.todo |= todo::SYN;
        }
    }

    fn retransmit_expires(&mut self, cfg: &Config, now: Time) {
        let outstanding = self.snd_una != self.snd_max;
        if !outstanding && !self.awaits_fin_ack() {
            return;
        }
        if !outstanding && cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::LastAck {
            self.repeat_last_fin();
            return;
        }
        self.stats.timeouts += 1;
        if self.gives_up(cfg.data_retries) {
            return;
        }
        if outstanding {
            // RFC 6298, section 5; Karn's algorithm: no samples from data in flight at the timeout.
            self.set(fact::HOLD_RTT);
            self.clear(fact::TIMED);
            self.hold = self.snd_max;
            recovery::on_timeout(self, cfg, now);
        } else {
            self.todo |= todo::FIN;
        }
        self.timer = Timer::Retransmit;
        self.send_timer_at = self.rtt.deadline(cfg, now, self.backoff);
    }

    /// ns-3.37 repeats the FIN of a passive close a few times, ignoring the backoff, and then drops the connection: the
    /// other side does not answer it in TIME-WAIT. The timer starts when the FIN is sent.
    fn repeat_last_fin(&mut self) {
        const MOST: u8 = 6;
        if self.backoff < MOST {
            self.backoff += 1;
            self.todo |= todo::FIN;
        } else {
            self.state = State::Closed;
            self.ack_timer_at = Time::MAX;
            self.todo = 0;
        }
    }

    #[inline]
    pub(crate) fn awaits_fin_ack(&self) -> bool {
        self.facts & (fact::FIN_SENT | fact::FIN_ACKED) == fact::FIN_SENT
    }

    /// Restarts the timer after an ACK (RFC 6298, sections 5.2 and 5.3) or starts it after sending (5.1).
    #[inline]
    pub(crate) fn start_timer(&mut self, cfg: &Config, now: Time) {
        if self.snd_una == self.snd_max && !self.awaits_fin_ack() {
            self.send_timer_at = Time::MAX;
            return;
        }
        self.timer = Timer::Retransmit;
        let timeout = self.rtt.deadline(cfg, now, self.backoff);
        self.send_timer_at = timeout;
        if cfg.tail_loss_probe && self.may_probe_tail() {
            self.timer = Timer::TailProbe;
            self.send_timer_at = timeout.min(now + self.probe_timeout(cfg));
        }
    }

    /// RFC 8985, section 7.2: no reordering, nothing reported, no probe outstanding, a round-trip time known.
    #[inline]
    fn may_probe_tail(&self) -> bool {
        self.phase == Phase::Open
            && !self.is(fact::SPLIT)
            && self.snd_una != self.snd_nxt
            && self.rtt.srtt() > Duration::ZERO
            && self.loss.as_ref().is_some_and(|loss| !loss.probe.is_out())
    }

    #[inline]
    fn probe_timeout(&self, cfg: &Config) -> Duration {
        let alone = span(self.snd_una, self.snd_nxt) <= cfg.segment();
        let twice = self.rtt.srtt() * 2;
        twice + if alone { TAIL_PROBE_ACK_DELAY } else { TAIL_PROBE_SLACK }
    }
}
