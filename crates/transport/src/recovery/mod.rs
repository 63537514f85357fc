//! Loss recovery: the segments to retransmit, and how many at once.
//!
//! It sees only the [`Sender`]. Its state is in `loss.rs`. `standard.rs` follows the RFCs and Linux, with `rack.rs`,
//! `tail_probe.rs`, `timeout.rs` and `undo.rs`; `ns3.rs` and `inflation.rs` follow versions of ns-3, for comparisons
//! with its results. `steps.rs` has their common steps. The fast path for ordinary ACKs is in this file.

mod ack_info;
mod inflation;
pub(crate) mod loss;
mod ns3;
mod rack;
mod reduction;
mod standard;
mod steps;
mod tail_probe;
mod timeout;
mod undo;

use weft_units::Time;

use crate::config::{Config, LossRecovery};
use crate::departures::Piece;
use crate::segment::{Flags, Segment};
use crate::sender::{Phase, Sender, Timer, fact};
use crate::seq::{at_or_before, later, span};
use crate::todo;

use loss::TailProbe;
pub(crate) use standard::on_reorder_timer;

impl Sender {
    /// RFC 9293, section 3.10.7.4: an acceptable ACK; `ack` lies in `[SND.UNA, SND.MAX]` and counts no FIN.
    #[inline]
    pub(crate) fn on_ack(&mut self, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
        let advanced = span(self.snd_una, ack);
        if advanced > 0 && self.phase == Phase::Open && !self.is(fact::SPLIT) && seg.sack_count == 0 {
            self.plain_ack(cfg, now, seg, ack, advanced);
            return;
        }
        match cfg.loss_recovery {
            LossRecovery::Standard => standard::on_ack(self, cfg, now, seg, ack),
            LossRecovery::Ns3v37 => ns3::on_ack(self, cfg, now, seg, ack),
            LossRecovery::Ns3v26 | LossRecovery::Ns3v23 => inflation::on_ack(self, cfg, now, seg, ack),
        }
        let higher = seg.window > self.snd_wnd;
        if higher && self.timer == Timer::WindowProbe {
            // The probes doubled the timeout, not a loss (Linux: `tcp_ack_probe`).
            self.backoff = 0;
            self.retries = 0;
        }
        if advanced > 0 || higher {
            self.snd_wnd = seg.window;
        }
    }

    /// New data acknowledged in the Open phase.
    #[inline]
    fn plain_ack(&mut self, cfg: &Config, now: Time, seg: &Segment, ack: u32, advanced: u32) {
        let flight = self.used();
        self.advance(cfg, ack, advanced);
        self.snd_wnd = seg.window;
        self.dup_acks = 0;
        let marked = seg.flags.has(Flags::ECE) && self.is(fact::ECN);
        let rtt = if cfg.rack { self.plain_rack(cfg, now, ack) } else { self.sample(cfg, now, seg, ack) };
        let standard = cfg.loss_recovery == LossRecovery::Standard;
        let bytes = match cfg.loss_recovery {
            LossRecovery::Standard => advanced,
            // Any ACK that advances counts as one segment.
            LossRecovery::Ns3v23 => cfg.segment(),
            _ => self.whole_segments(cfg, advanced),
        };
        if self.is(fact::ECN) {
            self.note_delivered(cfg, advanced, marked, ack);
            // RFC 3168, section 6.1.2: an ACK with ECE does not let the window grow.
            if marked {
                self.on_mark(cfg, flight);
                self.start_timer(cfg, now);
                return;
            }
            self.cwr_end = later(self.cwr_end, ack);
        }
        let mut event = self.ack_event(now, bytes, ack);
        if standard {
            event.rtt = rtt;
        }
        let controller = self.congestion.controller(cfg);
        event.may_grow = !cfg.window_validation || controller.state().was_used(cfg.segment(), flight);
        controller.on_ack(cfg, &event);
        if !standard && self.is(fact::GUARD) && at_or_before(self.recover, ack) {
            self.clear(fact::GUARD);
        }
        self.start_timer(cfg, now);
    }

    /// The next piece while the scoreboard holds single segments.
    pub(crate) fn next_by_scoreboard(&mut self, cfg: &Config, now: Time) -> Option<Piece> {
        match cfg.loss_recovery {
            LossRecovery::Standard => standard::next(self, cfg, now),
            _ => ns3::next(self, cfg, now),
        }
    }

    /// The retransmission timeout expired with data outstanding.
    pub(crate) fn on_retransmission_timeout(&mut self, cfg: &Config, now: Time) {
        // RFC 6298, section 5; Karn's algorithm: no samples from data in flight at the timeout.
        self.set(fact::HOLD_RTT);
        self.clear(fact::TIMED);
        self.hold = self.snd_max;
        if let Some(loss) = &mut self.loss {
            loss.forced_count = 0;
            loss.probe = TailProbe::default();
        }
        self.todo &= !(todo::FORCED | todo::TAIL_PROBE);
        match cfg.loss_recovery {
            LossRecovery::Standard => timeout::on_timeout(self, cfg, now),
            LossRecovery::Ns3v37 => ns3::on_timeout(self, cfg, now),
            LossRecovery::Ns3v26 | LossRecovery::Ns3v23 => inflation::on_timeout(self, cfg, now),
        }
    }
}
