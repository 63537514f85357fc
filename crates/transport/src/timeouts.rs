//! Timeouts: one timer for the sender, whatever its purpose, and one for the delayed ACK.

use weft_units::Time;

use crate::config::{Config, LossRecovery};
use crate::endpoint::{Endpoint, State};
use crate::recovery;
use crate::sender::Timer;
use crate::todo;

impl Endpoint {
    /// Call this at [`Self::next_timeout`]; an earlier call is harmless.
    pub fn on_timeout(&mut self, cfg: &Config, now: Time) {
        if self.rx.ack_timer_at <= now {
            self.rx.ack_timer_at = Time::MAX;
            self.rx.todo |= todo::ACK;
        }
        let tx = &mut self.tx;
        if tx.paced_until <= now {
            tx.paced_until = Time::MAX;
        }
        if tx.timer_at > now {
            return;
        }
        tx.timer_at = Time::MAX;
        match (self.state, tx.timer) {
            (State::SynSent | State::SynReceived, _) => self.syn_expires(cfg),
            (State::Closed | State::Listen, _) => {}
            (_, Timer::TimeWait) => self.end(),
            (_, Timer::Retransmit) => self.retransmit_expires(cfg, now),
            (_, Timer::Reorder) => recovery::on_reorder_timer(tx, cfg, now),
            (_, Timer::TailProbe) => tx.todo |= todo::TAIL_PROBE,
            (_, Timer::WindowProbe) => {
                if tx.count_timeout(cfg.data_retries) {
                    return self.abort();
                }
                tx.todo |= todo::WINDOW_PROBE;
                tx.timer_at = tx.rtt.deadline(cfg, now, tx.backoff);
            }
        }
    }

    fn syn_expires(&mut self, cfg: &Config) {
        self.timeouts += 1;
        if self.tx.count_timeout(cfg.syn_retries) {
            self.abort();
        } else {
            self.todo |= todo::SYN;
        }
    }

    fn retransmit_expires(&mut self, cfg: &Config, now: Time) {
        let outstanding = self.tx.snd_una != self.tx.snd_max;
        if !outstanding && !self.tx.awaits_fin_ack() {
            return;
        }
        if !outstanding && cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::LastAck {
            self.repeat_last_fin();
            return;
        }
        self.timeouts += 1;
        let tx = &mut self.tx;
        if tx.count_timeout(cfg.data_retries) {
            return self.abort();
        }
        if outstanding {
            tx.on_retransmission_timeout(cfg, now);
        } else {
            tx.todo |= todo::FIN;
        }
        tx.timer = Timer::Retransmit;
        tx.timer_at = tx.rtt.deadline(cfg, now, tx.backoff);
    }

    /// ns-3.37 repeats the FIN of a passive close a few times, ignoring the backoff, and then drops the connection: the
    /// other side does not answer it in TIME-WAIT. The timer starts when the FIN is sent.
    fn repeat_last_fin(&mut self) {
        const MOST: u8 = 6;
        if self.tx.backoff < MOST {
            self.tx.backoff += 1;
            self.tx.todo |= todo::FIN;
        } else {
            self.end();
            self.rx.ack_timer_at = Time::MAX;
        }
    }
}
