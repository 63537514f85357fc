//! Loss recovery: what to retransmit, and how much at once.
//!
//! [`Loss`] is its state, allocated at the first sign of loss (with RACK: with the first data). `standard.rs` follows
//! the RFCs and Linux; `ns3.rs` and `inflation.rs` follow versions of ns-3, for comparisons with its results. The fast
//! path for ordinary ACKs is in this file.

mod inflation;
mod ns3;
mod reduction;
pub(crate) mod standard;

use weft_units::{Duration, Time};

use crate::config::{Config, CongestionControl, LossRecovery, RttSource, TimestampClock};
use crate::congestion::{Ack, Cause, Controller, Delivered, Window};
use crate::endpoint::{Endpoint, Phase, fact, todo};
use crate::segment::{Flags, Segment};
use crate::sent::{Sent, Tick};
use crate::seq::{at_or_before, before, later, span};
use crate::small_queue::SmallQueue;
use crate::timers::Timer;
use reduction::Reduction;

/// State of recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss {
    pub(crate) sent: Sent,
    pub(crate) reduction: Reduction,
    pub(crate) undo: Undo,
    pub(crate) rack: Rack,
    pub(crate) probe: TailProbe,
    pub(crate) frto: Frto,
    pub(crate) small_queue: SmallQueue,
    /// Segments to send regardless of the window: start and length; length 0: new data.
    forced: [(u32, u32); 2],
    forced_count: u8,
}

impl Loss {
    fn force(&mut self, start: u32, len: u32) {
        if let Some(slot) = self.forced.get_mut(usize::from(self.forced_count)) {
            *slot = (start, len);
            self.forced_count += 1;
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.sent.heap_bytes() + self.small_queue.heap_bytes()
    }

    /// Corrects the record of `[start, start + was)`: only the part before `end` was sent, as new data or a
    /// retransmission.
    pub(crate) fn cut(&mut self, start: u32, was: u32, end: u32, new: bool, reducing: bool) {
        if new {
            self.sent.cut_end(end);
        } else {
            self.sent.cut(start, end);
        }
        if reducing {
            self.reduction.unsent(was - span(start, end));
        }
    }

    pub(crate) fn next_forced(&mut self) -> Option<(u32, u32)> {
        if self.forced_count == 0 {
            return None;
        }
        let first = self.forced[0];
        self.forced[0] = self.forced[1];
        self.forced_count -= 1;
        Some(first)
    }
}

/// State for undoing a reduction (RFC 3522, 3708 and 4015).
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA at the reduction; `None`: there is none that can be undone.
    marker: Option<u32>,
    /// The window before; `None`: it stays reduced, because of a mark.
    prior: Option<Window>,
    /// Retransmissions not yet known to have been unnecessary; `None`: there were none.
    pending: Option<u32>,
    /// Timestamp of the first retransmission since the reduction.
    first: Option<u32>,
}

impl Undo {
    pub(crate) fn resent(&mut self, ts: u32) {
        self.pending = Some(self.pending.unwrap_or(0) + 1);
        self.first.get_or_insert(ts);
    }

    /// A reduction at SND.UNA `una`, from the window `prior`, with `sent` retransmissions in flight.
    fn start(&mut self, una: u32, prior: Option<Window>, sent: u32) {
        let first = if sent > 0 { self.first } else { None };
        *self = Self { marker: Some(una), prior, pending: (sent > 0).then_some(sent), first };
    }

    /// The receiver reported `[left, right)` as a duplicate. What lies below the marker was resent before.
    fn duplicate(&mut self, left: u32, right: u32, mss: u32) {
        if let Some(pending) = &mut self.pending
            && self.marker.is_some_and(|marker| before(marker, right))
        {
            *pending = pending.saturating_sub(span(left, right).div_ceil(mss).max(1));
        }
    }

    /// Whether the original of a segment must have arrived: the timestamp that it echoes is older than the first
    /// retransmission (RFC 3522, section 3.2).
    fn is_original(&self, seg: &Segment) -> bool {
        self.marker.is_some()
            && seg.flags.has(Flags::TS)
            && self.first.is_some_and(|first| before(seg.ts_ecr, first))
    }
}

/// RACK's state (RFC 8985, section 5.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// Send time and end of the most recently sent segment among those delivered.
    latest: Option<(Tick, u32)>,
    /// Its round-trip time, picoseconds.
    rtt: u64,
    /// Minimum round-trip time, picoseconds; 0: none.
    least: u64,
    /// Highest end delivered.
    highest: Option<u32>,
    reordering: bool,
    /// Reordering window in quarters of the minimum round-trip time, minus one.
    patience: u8,
    /// Remaining recoveries before `patience` is reset.
    persist: u8,
    /// End of the round in which a duplicate was reported.
    dsack_round: Option<u32>,
}

/// A tail loss probe (RFC 8985, section 7.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct TailProbe {
    /// SND.NXT when it was sent.
    end: Option<u32>,
    retransmission: bool,
}

impl TailProbe {
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        self.end.is_some()
    }
}

/// F-RTO's state (RFC 5682, section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Frto {
    /// Not in use.
    #[default]
    Off,
    /// The next ACKs decide.
    Head,
    /// The next ACKs decide, and new data is sent before lost data.
    New,
}

impl Endpoint {
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
        let flight = span(self.snd_una, self.snd_nxt);
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
        event.may_grow = !cfg.window_validation || controller.state().was_used(cfg, flight);
        controller.on_ack(cfg, &event);
        if !standard && self.is(fact::GUARD) && at_or_before(self.recover, ack) {
            self.clear(fact::GUARD);
        }
        self.start_timer(cfg, now);
    }

    /// An ACK as ns-3 passes it to the controller, with the smoothed round-trip time as the one observed.
    #[inline]
    fn ack_event(&self, now: Time, bytes: u32, ack: u32) -> Ack {
        let srtt = self.rtt.srtt().ps();
        Ack { now, bytes, una: ack, high: self.snd_max, srtt, rtt: srtt, may_grow: true }
    }

    /// Tells the controller of delivered data.
    #[inline]
    fn note_delivered(&mut self, cfg: &Config, bytes: u32, marked: bool, ack: u32) {
        let delivered = Delivered { bytes, marked, una: ack, high: self.snd_max };
        self.congestion.controller(cfg).on_delivered(cfg, &delivered);
    }

    /// Moves SND.UNA. ns-3 then computes the timeout anew; otherwise it stays doubled until a sample (RFC 6298,
    /// section 5.7).
    #[inline]
    fn advance(&mut self, cfg: &Config, ack: u32, advanced: u32) {
        self.snd_una = ack;
        self.acked += u64::from(advanced);
        self.retries = 0;
        if cfg.loss_recovery != LossRecovery::Standard {
            self.backoff = 0;
        }
        if before(self.snd_nxt, ack) {
            self.snd_nxt = ack;
        }
    }

    /// ns-3 counts whole segments and carries the remainder over.
    #[inline]
    fn whole_segments(&mut self, cfg: &Config, bytes: u32) -> u32 {
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

    /// A round-trip sample without RACK, in picoseconds; 0 if there is none.
    #[inline]
    fn sample(&mut self, cfg: &Config, now: Time, seg: &Segment, ack: u32) -> u64 {
        let sample = match cfg.rtt_source {
            RttSource::Timestamps => {
                if self.is(fact::HOLD_RTT) {
                    if at_or_before(ack, self.hold) && cfg.loss_recovery != LossRecovery::Standard {
                        return 0;
                    }
                    self.clear(fact::HOLD_RTT);
                }
                if !seg.flags.has(Flags::TS) {
                    return 0;
                }
                self.elapsed(cfg, now, seg.ts_ecr)
            }
            RttSource::SendTimes => {
                if self.is(fact::TIMED) && at_or_before(self.timed_seq, ack) {
                    self.clear(fact::TIMED);
                    now.saturating_since(self.timed_at).ps()
                } else if self.backoff > 0 && seg.flags.has(Flags::TS) {
                    // What is acknowledged was retransmitted.
                    self.elapsed(cfg, now, seg.ts_ecr)
                } else {
                    0
                }
            }
        };
        if sample > 0 {
            self.measured(cfg, sample);
        }
        sample
    }

    /// Takes a round-trip sample, which ends the backoff (RFC 6298, section 5.7).
    #[inline]
    pub(crate) fn measured(&mut self, cfg: &Config, sample: u64) {
        let new_round = before(self.rtt_round, self.snd_una);
        if new_round {
            self.rtt_round = self.snd_nxt;
        }
        self.rtt.sample(cfg, sample, new_round);
        self.backoff = 0;
    }

    /// Time since the timestamp `echo` was sent.
    #[inline]
    pub(crate) fn elapsed(&self, cfg: &Config, now: Time, echo: u32) -> u64 {
        let ticks = Self::clock(cfg, now).wrapping_sub(echo);
        if ticks == 0 { cfg.zero_rtt_sample.ps() } else { u64::from(ticks) * tick(cfg) }
    }

    /// Picoseconds since the tick in which the timestamp `echo` was sent; 0 if it is not over.
    fn after_echo(cfg: &Config, now: Time, echo: u32) -> u64 {
        match Self::clock(cfg, now).wrapping_sub(echo) {
            ticks @ 1..=0x7fff_ffff => u64::from(ticks - 1) * tick(cfg) + now.ps() % tick(cfg),
            _ => 0,
        }
    }

    /// RACK in the Open phase: removes acknowledged runs, which yield two round-trip samples.
    #[inline]
    fn plain_rack(&mut self, cfg: &Config, now: Time, ack: u32) -> u64 {
        let Some(loss) = &mut self.loss else { return 0 };
        if loss.probe.is_out() {
            standard::probe_acked(&mut loss.probe, ack);
        }
        let Some((first, last)) = loss.sent.pop_runs(ack) else { return 0 };
        let tick = Tick::at(now);
        let newest = tick.since(last).max(1);
        let rack = &mut loss.rack;
        rack.latest = Some((last, ack));
        rack.rtt = newest;
        rack.highest = Some(rack.highest.map_or(ack, |highest| later(highest, ack)));
        if rack.least == 0 || newest < rack.least {
            rack.least = newest;
        }
        self.measured(cfg, tick.since(first));
        newest
    }

    /// An ACK carries ECE: reduces the window once per window (RFC 3168, section 6.1.2; RFC 8257, section 3.3).
    fn on_mark(&mut self, cfg: &Config, flight: u32) {
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

    /// Gives the scoreboard an entry for each segment in flight.
    fn split(&mut self, cfg: &Config, now: Time) -> &mut Loss {
        let (from, to) = (self.snd_una, self.snd_nxt);
        self.facts |= fact::SPLIT;
        let loss = self.loss.get_or_insert_default();
        loss.sent.split(from, to, cfg.segment(), Tick::at(now));
        loss
    }

    /// Returns the scoreboard to runs, or to nothing, once recovery is over.
    fn settle(&mut self, cfg: &Config) {
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

    /// The next segment while the scoreboard holds single segments.
    pub(crate) fn poll_scoreboard(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        match cfg.loss_recovery {
            LossRecovery::Standard => standard::poll(self, cfg, now, out),
            _ => ns3::poll(self, cfg, now, out),
        }
    }

    /// Retransmits `[start, start + len)` and records it.
    fn resend(&mut self, cfg: &Config, now: Time, out: &mut Segment, start: u32, len: u32) {
        self.note_resent(now, start, len, Self::clock(cfg, now));
        self.emit_again(cfg, now, out, start, len);
    }

    /// RFC 8985, section 7.3: new data if there is any, otherwise the last segment again.
    pub(crate) fn poll_tail_probe(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        // Linux (`skb_still_in_host_queue`): a segment that has not left the host cannot have been lost.
        let waits = self.loss.as_ref().is_some_and(|loss| loss.small_queue.holds_last(now));
        if self.snd_una == self.snd_nxt || self.phase != Phase::Open || waits {
            self.start_timer(cfg, now);
            return false;
        }
        let len = self.next_len(cfg);
        let new = len > 0 && len <= self.room();
        if new {
            self.emit_new(cfg, now, out, len);
        } else {
            let loss = self.split(cfg, now);
            if let Some((start, len)) = loss.sent.tail(cfg.segment()) {
                loss.sent.resent(start, Tick::at(now));
                self.emit_again(cfg, now, out, start, len);
            }
        }
        let end = self.snd_nxt;
        self.loss.get_or_insert_default().probe = TailProbe { end: Some(end), retransmission: !new };
        self.start_timer(cfg, now);
        true
    }
}

/// Picoseconds per tick of the timestamp clock.
fn tick(cfg: &Config) -> u64 {
    match cfg.timestamp_clock {
        TimestampClock::Millisecond => 1_000_000_000,
        TimestampClock::Microsecond => 1_000_000,
    }
}

/// The retransmission timeout expired with data outstanding.
pub(crate) fn on_timeout(ep: &mut Endpoint, cfg: &Config, now: Time) {
    if let Some(loss) = &mut ep.loss {
        loss.forced_count = 0;
        loss.probe = TailProbe::default();
    }
    ep.todo &= !(todo::FORCED | todo::TAIL_PROBE);
    match cfg.loss_recovery {
        LossRecovery::Standard => standard::on_timeout(ep, cfg, now),
        LossRecovery::Ns3v37 => ns3::on_timeout(ep, cfg, now),
        LossRecovery::Ns3v26 | LossRecovery::Ns3v23 => inflation::on_timeout(ep, cfg, now),
    }
}

/// Maximum of the reordering timer.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
