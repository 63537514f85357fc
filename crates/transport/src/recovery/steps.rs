//! Steps that all algorithms share: the controller is notified, the scoreboard is split and joined.

use weft_units::Time;

use super::loss::{Frto, Loss, Undo};
use crate::config::{Config, LossRecovery};
use crate::congestion::CongestionControl;
use crate::congestion::{Ack, Cause, Delivered};
use crate::departures::Piece;
use crate::send_order::SendOrder;
use crate::sender::{Phase, Sender, fact};
use crate::seq::{at_or_before, later};
use crate::tick::Tick;
use crate::timestamp;

impl Sender {
    /// An ACK as ns-3 passes it to the controller, with the smoothed round-trip time as the one observed.
    #[inline]
    pub(super) fn ack_event(&self, now: Time, bytes: u32, ack: u32) -> Ack {
        let srtt = self.rtt.srtt().ps();
        Ack { now, bytes, una: ack, high: self.snd_max, srtt, rtt: srtt, may_grow: true }
    }

    /// Lets the window grow by an ACK for `bytes`.
    pub(super) fn grow(&mut self, cfg: &Config, now: Time, ack: u32, bytes: u32) {
        let event = self.ack_event(now, bytes, ack);
        self.congestion.controller(cfg).on_ack(cfg, &event);
    }

    /// Notifies the controller of delivered data.
    #[inline]
    pub(super) fn note_delivered(&mut self, cfg: &Config, bytes: u32, marked: bool, ack: u32) {
        let delivered = Delivered { bytes, marked, una: ack, high: self.snd_max };
        self.congestion.controller(cfg).on_delivered(cfg, &delivered);
    }

    /// ns-3 counts whole segments and carries the remainder over.
    #[inline]
    pub(super) fn whole_segments(&mut self, cfg: &Config, bytes: u32) -> u32 {
        let mss = cfg.segment();
        if bytes == mss || bytes == 2 * mss {
            return bytes;
        }
        let rest = bytes % mss;
        self.remainder += rest;
        let mut whole = bytes - rest;
        if self.remainder >= mss {
            self.remainder -= mss;
            whole = whole.saturating_add(mss);
        }
        whole
    }

    /// RACK in the Open phase: removes acknowledged runs, which yield two round-trip samples.
    #[inline]
    pub(super) fn plain_rack(&mut self, cfg: &Config, now: Time, ack: u32) -> u64 {
        let Some(loss) = &mut self.loss else { return 0 };
        if loss.probe.is_out() {
            loss.probe.acked(ack);
        }
        let Some((first, last)) = loss.sent.pop_runs(ack) else { return 0 };
        let tick = Tick::at(now);
        let newest = tick.since(last).max(1);
        let rack = &mut loss.rack;
        rack.latest = Some(SendOrder { sent: last, end: ack });
        rack.rtt = newest;
        rack.highest = Some(rack.highest.map_or(ack, |highest| later(highest, ack)));
        if rack.least == 0 || newest < rack.least {
            rack.least = newest;
        }
        self.measured(cfg, tick.since(first));
        newest
    }

    /// An ACK carries ECE: reduces the window once per window (RFC 3168, section 6.1.2; RFC 8257, section 3.3).
    pub(super) fn on_mark(&mut self, cfg: &Config, flight: u32) {
        if at_or_before(self.snd_una, self.cwr_end) {
            return;
        }
        self.cwr_end = self.snd_max;
        self.set(fact::CWR_DUE);
        if let Some(loss) = &mut self.loss {
            // Linux (`tcp_enter_cwr`): a mark proves congestion.
            loss.undo = Undo::default();
        }
        let controller = self.congestion.controller(cfg);
        let before = controller.window();
        controller.on_congestion_event(cfg, Cause::Mark, flight);
        let standard = cfg.loss_recovery == LossRecovery::Standard;
        if standard && cfg.proportional_rate_reduction && cfg.congestion_control != CongestionControl::Dctcp {
            self.phase = Phase::Reduced;
            self.recover = self.snd_max;
            let loss = self.loss.get_or_insert_default();
            loss.reduction.start(flight);
            // The rate reduction starts with the next ACK.
            controller.on_recovery(before);
        }
    }

    /// A reduction is over: the window is the threshold.
    pub(super) fn end_reduction(&mut self, cfg: &Config) {
        let controller = self.congestion.controller(cfg);
        controller.on_recovery(controller.ssthresh());
    }

    /// Recovery is over.
    pub(super) fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        self.dup_acks = 0;
        self.clear(fact::GUARD);
        if let Some(loss) = &mut self.loss {
            loss.frto = Frto::Off;
        }
    }

    /// Gives the scoreboard an entry for each segment in flight.
    pub(super) fn split(&mut self, cfg: &Config, now: Time) -> &mut Loss {
        let (from, to) = (self.snd_una, self.snd_nxt);
        self.facts |= fact::SPLIT;
        let loss = self.loss.get_or_insert_default();
        loss.sent.split(from, to, cfg.segment(), Tick::at(now));
        loss
    }

    /// Returns the scoreboard to runs, or to nothing, once recovery is over.
    pub(super) fn settle(&mut self, cfg: &Config) {
        if self.phase == Phase::Open
            && self.is(fact::SPLIT)
            && let Some(loss) = &mut self.loss
            && loss.sent.is_clean()
            && loss.forced_count == 0
        {
            loss.sent.merge(cfg.rack, cfg.segment());
            self.clear(fact::SPLIT);
        }
    }

    /// Marks a segment on the scoreboard as retransmitted, with the timestamp `ts`.
    pub(super) fn note_resent(&mut self, now: Time, start: u32, len: u32, ts: u32) {
        let reducing = self.phase.is_reducing();
        let loss = self.loss.get_or_insert_default();
        loss.resent(start, len, Tick::at(now), ts, reducing);
    }

    /// Marks a segment as retransmitted, for a retransmission that is sent at once.
    pub(super) fn resend(&mut self, cfg: &Config, now: Time, start: u32, len: u32) -> Piece {
        self.note_resent(now, start, len, timestamp::clock(cfg, now));
        Piece::Again { start, len }
    }
}
