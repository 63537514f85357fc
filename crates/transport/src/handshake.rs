//! Opening and closing a connection: SYNs and FINs (RFC 9293, section 3.10.7).

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery};
use crate::endpoint::{Endpoint, State};
use crate::segment::{Flags, Segment};
use crate::sender::{Timer, fact};
use crate::seq::at_or_before;
use crate::{timestamp, todo};

impl Endpoint {
    /// RFC 9293, section 3.10.7.1.
    pub(crate) fn refuse(&mut self, seg: &Segment) {
        if !seg.flags.has(Flags::RST) {
            self.tx.snd_nxt = seg.ack;
            self.end();
            self.todo = todo::RST;
        }
    }

    /// Answers a SYN with a reset, for good (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse_syn(&mut self, seg: &Segment) {
        self.reset();
        self.tx.snd_nxt = 0;
        self.rx.rcv_nxt = seg.seq.wrapping_add(1);
    }

    /// RFC 9293, section 3.10.7.2.
    pub(crate) fn on_listen(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        if seg.flags.any(Flags::RST | Flags::ACK | Flags::FIN) || !seg.flags.has(Flags::SYN) {
            return;
        }
        self.on_syn(cfg, seg);
        self.state = State::SynReceived;
        self.todo |= todo::SYN;
        self.tx.timed_at = now;
    }

    /// Processes the contents of a SYN.
    fn on_syn(&mut self, cfg: &Config, seg: &Segment) {
        let asks = seg.flags.has(Flags::ECE | Flags::CWR);
        let agrees = seg.flags.has(Flags::ECE | Flags::ACK);
        let ecn = cfg.ecn != EcnMode::Off && (asks || agrees);
        self.rx.synchronise(seg, ecn);
        self.tx.snd_wnd = seg.window;
        if ecn {
            self.tx.set(fact::ECN);
        }
    }

    /// RFC 9293, section 3.10.7.3.
    pub(crate) fn on_syn_sent(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let acks = seg.flags.has(Flags::ACK);
        if acks && seg.ack != self.tx.snd_una {
            return;
        }
        if seg.flags.has(Flags::RST) {
            if acks {
                self.abort();
            }
            return;
        }
        if !seg.flags.has(Flags::SYN) {
            return;
        }
        self.on_syn(cfg, seg);
        if !acks {
            // Both sides open at once.
            self.state = State::SynReceived;
            self.todo |= todo::SYN;
            return;
        }
        self.tx.first_sample(cfg, now, seg);
        let echoes_first = seg.flags.has(Flags::TS) && seg.ts_ecr == timestamp::clock(cfg, self.tx.timed_at);
        if cfg.loss_recovery == LossRecovery::Standard && self.tx.retries > 1 && !echoes_first {
            // RFC 5681, section 3.1: a lost SYN leaves one segment. As in Linux (`tcp_init_cwnd`), one lost SYN does
            // not, nor do needless retransmissions.
            self.tx.congestion.controller(cfg).on_recovery(cfg.segment());
        }
        self.establish();
        self.rx.todo |= todo::ACK_FIRST;
    }

    pub(crate) fn establish(&mut self) {
        self.state = State::Established;
        self.todo &= !todo::SYN;
        self.tx.backoff = 0;
        self.tx.retries = 0;
        self.tx.timer_at = Time::MAX;
        self.tx.timer = Timer::Retransmit;
        self.note_fin_due();
    }

    /// A repeated SYN in SYN-RECEIVED: the other side did not receive the SYN+ACK, or both opened at once.
    pub(crate) fn on_syn_again(&mut self, cfg: &Config, seg: &Segment) {
        if seg.seq.wrapping_add(1) != self.rx.rcv_nxt {
            return;
        }
        let crossed = seg.flags.has(Flags::ACK) && seg.ack == self.tx.snd_una;
        if crossed {
            self.establish();
            self.rx.todo |= todo::ACK_FIRST;
            return;
        }
        self.todo |= todo::SYN;
        if cfg.loss_recovery != LossRecovery::Standard {
            // ns-3 echoes the first SYN's timestamp.
            self.tx.clear(fact::TIMED);
        } else {
            self.rx.echo(seg);
        }
    }

    /// The other side's FIN and everything before it have arrived (RFC 9293, section 3.10.7.4, step 8).
    pub(crate) fn on_fin(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        self.state = match self.state {
            State::Established => State::CloseWait,
            State::FinWait1 if !self.tx.is(fact::FIN_ACKED) => State::Closing,
            _ => State::TimeWait,
        };
        if self.state == State::TimeWait {
            self.wait_before_closing(cfg, now);
        }
        let early = self.state == State::CloseWait && seg.flags.has(Flags::FIN);
        if early && cfg.loss_recovery == LossRecovery::Ns3v37 {
            // ns-3 acknowledges the data of this segment before it notifies the application.
            self.rx.todo |= todo::ACK_FIRST;
        }
    }

    /// This side's FIN is acknowledged. [`Self::after_fin_acked`] follows once the rest of the ACK is processed.
    pub(crate) fn fin_acked(&mut self) {
        self.tx.set(fact::FIN_ACKED);
        self.tx.backoff = 0;
        self.tx.retries = 0;
        self.tx.todo &= !todo::FIN;
    }

    pub(crate) fn after_fin_acked(&mut self, cfg: &Config, now: Time) {
        self.tx.timer_at = Time::MAX;
        self.tx.loss = None;
        self.tx.clear(fact::SPLIT);
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => {
                self.state = State::TimeWait;
                self.wait_before_closing(cfg, now);
            }
            State::LastAck => {
                self.end();
                self.rx.ack_timer_at = Time::MAX;
            }
            _ => {}
        }
    }

    pub(crate) fn wait_before_closing(&mut self, cfg: &Config, now: Time) {
        self.tx.timer = Timer::TimeWait;
        self.tx.timer_at = now + cfg.time_wait;
        debug_assert!(at_or_before(self.tx.snd_una, self.tx.snd_max));
    }
}
