//! Recovery according to the RFCs, with Linux's choices where they leave one open.
//!
//! Fast recovery by SACK (RFC 6675) or duplicate ACKs (RFC 6582), by time with RACK (RFC 8985); the window by RFC 6937;
//! timeouts by RFC 6298 with F-RTO (RFC 5682); unnecessary reductions are undone (RFC 3522, RFC 3708).

use weft_units::{Duration, Time};

use super::{Frto, LONGEST_WAIT, Loss, TailProbe};
use crate::config::{Config, RttSource};
use crate::congestion::{Ack, Cause, Controller, Timeout};
use crate::endpoint::{Endpoint, Phase, fact, todo};
use crate::segment::{Flags, Segment};
use crate::sent::{News, SACKED, Tick};
use crate::seq::{at_or_before, before, later, span};
use crate::timers::Timer;

/// Number of recoveries for which RACK's reordering window is kept (RFC 8985, section 6.2, step 4).
const PERSISTENCE: u8 = 16;

/// The information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Tidings {
    news: News,
    /// Bytes by which SND.UNA moved.
    advanced: u32,
    /// A duplicate ACK without SACK (RFC 5681, section 2).
    duplicate: bool,
    /// A duplicate was reported (RFC 2883).
    dsack: bool,
    /// The reported duplicate is that of a tail loss probe.
    of_probe: bool,
    /// More bytes count as lost than before.
    lost: bool,
    /// The echoed timestamp is older than the first retransmission (RFC 3522).
    original: bool,
    /// The ACK carries a congestion mark.
    marked: bool,
    /// The round trip for the controller, picoseconds; 0: none.
    rtt: u64,
}

pub(super) fn on_ack(ep: &mut Endpoint, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let flight = span(ep.snd_una, ep.snd_nxt);
    let advanced = span(ep.snd_una, ack);
    let sacks = if cfg.sack { seg.sacks() } else { &[] };
    let duplicate = !cfg.sack && advanced == 0 && seg.len == 0 && flight > 0 && seg.window == ep.snd_wnd;
    let nothing = advanced == 0 && sacks.is_empty() && !duplicate;
    if nothing && !seg.flags.has(Flags::ECE) {
        return;
    }
    let marked = seg.flags.has(Flags::ECE) && ep.is(fact::ECN);
    let unsplit = ep.phase == Phase::Reduced && !ep.is(fact::SPLIT) && sacks.is_empty() && !duplicate;
    if nothing || unsplit {
        reduced_ack(ep, cfg, now, seg, ack, advanced, marked);
        return;
    }

    let mut tidings = Tidings { advanced, duplicate, marked, ..Tidings::default() };
    tidings.dsack = is_dsack(sacks, ack);
    update_scoreboard(ep, cfg, now, seg, ack, sacks, &mut tidings);
    ep.advance_if(cfg, ack, advanced);
    take_sample(ep, cfg, now, seg, ack, &mut tidings);
    if let Some(loss) = &mut ep.loss {
        tidings.original = advanced > 0 && loss.undo.is_original(seg);
        if tidings.dsack
            && let Some(&(left, right)) = sacks.first()
        {
            loss.undo.duplicate(left, right, cfg.segment());
            tidings.of_probe = loss.probe.end == Some(right);
        }
    }
    let lost_before = ep.loss.as_ref().map_or(0, |loss| loss.sent.lost());
    // Linux (`tcp_try_undo_partial`): the original has arrived, so this ACK marks nothing else as lost.
    if !(tidings.original && ep.phase == Phase::Recovery) {
        detect_losses(ep, cfg, now, &tidings);
    }
    let lost_after = ep.loss.as_ref().map_or(0, |loss| loss.sent.lost());
    tidings.lost = lost_after > lost_before;

    if ep.is(fact::ECN) {
        ep.note_delivered(cfg, tidings.news.delivered, marked, ack);
        if marked && matches!(ep.phase, Phase::Open | Phase::Disorder) {
            ep.on_mark(cfg, flight);
        }
    }
    probe_answered(ep, cfg, ack, &tidings, flight);
    let reducing = matches!(ep.phase, Phase::Recovery | Phase::Reduced);
    change_phase(ep, cfg, now, ack, flight, &tidings);
    change_window(ep, cfg, now, ack, flight, &tidings, marked || reducing);
    // A duplicate alone may have ended RACK's reordering timer. Reports of data sent after the head do not defer the
    // timeout (Linux: `tcp_clean_rtx_queue`).
    let idle = ep.send_timer_at == Time::MAX;
    let head = ep.loss.as_ref().and_then(|loss| loss.sent.head_sent());
    let older = head.is_some_and(|head| tidings.news.reports_older(head));
    let probes = ep.timer == Timer::TailProbe && ep.phase != Phase::Open;
    if tidings.advanced > 0 || tidings.lost || idle || older || probes {
        let waits = ep.timer == Timer::Reorder && !idle;
        if !waits {
            ep.start_timer(cfg, now);
        }
    }
    ep.settle(cfg);
}

/// Processes an ACK without news for the scoreboard, in a reduction after a mark, or with only a mark.
fn reduced_ack(
    ep: &mut Endpoint,
    cfg: &Config,
    now: Time,
    seg: &Segment,
    ack: u32,
    advanced: u32,
    marked: bool,
) {
    let flight = span(ep.snd_una, ep.snd_nxt);
    ep.advance_if(cfg, ack, advanced);
    if advanced > 0 {
        if cfg.rack {
            ep.plain_rack(cfg, now, ack);
        } else {
            ep.sample(cfg, now, seg, ack);
        }
        ep.note_delivered(cfg, advanced, marked, ack);
    }
    if marked && ep.phase == Phase::Open {
        ep.on_mark(cfg, flight);
    }
    if ep.phase == Phase::Reduced {
        if at_or_before(ep.recover, ack) {
            ep.end_reduction(cfg);
            ep.phase = Phase::Open;
        } else if advanced > 0 {
            reduce(ep, cfg, advanced, true);
        }
    }
    if advanced > 0 {
        ep.start_timer(cfg, now);
    }
}

/// RFC 2883, section 4: the first block lies below the ACK or inside the second block.
fn is_dsack(sacks: &[(u32, u32)], ack: u32) -> bool {
    let Some(&(left, right)) = sacks.first() else { return false };
    at_or_before(right, ack)
        || sacks.get(1).is_some_and(|&(l, r)| at_or_before(l, left) && at_or_before(right, r))
}

fn update_scoreboard(
    ep: &mut Endpoint,
    cfg: &Config,
    now: Time,
    seg: &Segment,
    ack: u32,
    sacks: &[(u32, u32)],
    tidings: &mut Tidings,
) {
    let after_echo = if seg.flags.has(Flags::TS) { Endpoint::after_echo(cfg, now, seg.ts_ecr) } else { 0 };
    let in_recovery = matches!(ep.phase, Phase::Recovery | Phase::Disorder);
    let loss = ep.split(cfg, now);
    let sent = &mut loss.sent;
    tidings.news = News::at(Tick::at(now), loss.rack.least, after_echo);
    let news = &mut tidings.news;
    // As in Linux, the lowest block first: RACK's round-trip time is that of the highest segment delivered.
    let mut blocks = [(0, 0); 4];
    let blocks = &mut blocks[..sacks.len()];
    blocks.copy_from_slice(sacks);
    blocks.sort_by_key(|block| block.0.wrapping_sub(ack) as i32);
    for &mut (left, right) in blocks {
        sent.sack(left, right, false, news);
    }
    sent.remember(sacks);
    sent.discard_to(ack, news);
    if sent.head_flags() & SACKED != 0 {
        if cfg.sack {
            // The receiver reneged: it discarded data that it had reported.
            sent.forget_sacks();
        } else if sent.unguess_head() {
            sent.guess_sack();
        }
    }
    if tidings.duplicate && (in_recovery || cfg.limited_transmit || cfg.dup_ack_threshold <= 1) {
        sent.guess_sack();
    }
    if tidings.duplicate {
        news.delivered = news.delivered.saturating_add(cfg.segment());
    }
}

impl Endpoint {
    /// A reduction is over: the window is the threshold.
    pub(super) fn end_reduction(&mut self, cfg: &Config) {
        let controller = self.congestion.controller(cfg);
        controller.on_recovery(controller.ssthresh());
    }

    /// Moves SND.UNA if the ACK does.
    fn advance_if(&mut self, cfg: &Config, ack: u32, advanced: u32) {
        if advanced > 0 {
            self.advance(cfg, ack, advanced);
        }
    }
}

/// RFC 6298 with Karn's algorithm, and RACK's round trip (RFC 8985, section 6.2, steps 1 to 3).
fn take_sample(ep: &mut Endpoint, cfg: &Config, now: Time, seg: &Segment, ack: u32, tidings: &mut Tidings) {
    let tick = Tick::at(now);
    if !cfg.rack {
        if tidings.advanced > 0 {
            tidings.rtt = ep.sample(cfg, now, seg, ack);
        }
        return;
    }
    if cfg.rtt_source == RttSource::Timestamps {
        if tidings.advanced > 0 {
            tidings.rtt = ep.sample(cfg, now, seg, ack);
        }
    } else if let Some((first, last)) = tidings.news.timed() {
        ep.measured(cfg, tick.since(first));
        tidings.rtt = tick.since(last).max(1);
    } else if tidings.advanced > 0 && seg.flags.has(Flags::TS) {
        // RFC 7323, section 4; Linux (`tcp_ack_update_rtt`).
        tidings.rtt = ep.elapsed(cfg, now, seg.ts_ecr);
        if tidings.rtt > 0 {
            ep.measured(cfg, tidings.rtt);
        }
    }
    let Some(loss) = &mut ep.loss else { return };
    let rack = &mut loss.rack;
    let news = &tidings.news;
    if let (Some(low), Some(highest)) = (news.lowest_original, rack.highest)
        && before(low, highest)
    {
        rack.reordering = true;
    }
    if let Some(high) = news.highest_original {
        rack.highest = Some(rack.highest.map_or(high, |highest| later(highest, high)));
    }
    let Some((sent, end)) = news.latest else { return };
    let newest = tick.since(sent).max(1);
    if rack.least == 0 || newest < rack.least {
        rack.least = newest;
    }
    // Linux (`tcp_rack_advance`): the send time only moves forward, the round-trip time follows every delivery. So a
    // late segment makes RACK wait longer for others.
    rack.rtt = news.rtt;
    if rack.latest.is_none_or(|(t, e)| sent.after(t) || (sent == t && before(e, end))) {
        rack.latest = Some((sent, end));
    }
}

fn detect_losses(ep: &mut Endpoint, cfg: &Config, now: Time, tidings: &Tidings) {
    let threshold = u32::from(cfg.dup_ack_threshold);
    if tidings.duplicate {
        ep.dup_acks = ep.dup_acks.saturating_add(1);
    } else if tidings.advanced > 0 {
        ep.dup_acks = 0;
    }
    if cfg.rack {
        adapt_patience(ep, tidings);
        rack_detect(ep, cfg, now);
    } else if cfg.sack
        && let Some(loss) = &mut ep.loss
    {
        loss.sent.judge(threshold);
    }
}

/// RFC 8985, section 6.2, step 4: reported duplicates mean that RACK's reordering window was too short.
fn adapt_patience(ep: &mut Endpoint, tidings: &Tidings) {
    let (una, nxt) = (ep.snd_una, ep.snd_nxt);
    let Some(loss) = &mut ep.loss else { return };
    let rack = &mut loss.rack;
    if rack.dsack_round.is_some_and(|round| at_or_before(round, una)) {
        rack.dsack_round = None;
    }
    // A tail loss probe is sent by a timer, not because the reordering window was too short.
    if tidings.dsack && !tidings.of_probe && rack.reordering && rack.dsack_round.is_none() {
        rack.dsack_round = Some(nxt);
        rack.patience = rack.patience.saturating_add(1);
        rack.persist = PERSISTENCE;
    }
}

/// RACK's reordering window (RFC 8985, section 6.2, step 4).
fn patience(loss: &Loss, phase: Phase, cfg: &Config, srtt: u64) -> u64 {
    let rack = &loss.rack;
    if !rack.reordering {
        let many = u32::from(cfg.dup_ack_threshold) * cfg.segment();
        if matches!(phase, Phase::Recovery | Phase::Loss) || loss.sent.sacked() >= many {
            return 0;
        }
    }
    let quarters = u64::from(rack.patience) + 1;
    (quarters.saturating_mul(rack.least / 4)).min(srtt)
}

fn rack_detect(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let srtt = ep.rtt.srtt().ps();
    let phase = ep.phase;
    let Some(loss) = &mut ep.loss else { return };
    if ep.timer == Timer::Reorder {
        ep.send_timer_at = Time::MAX;
    }
    let Some(latest) = loss.rack.latest else { return };
    if loss.sent.is_empty() || (loss.sent.sacked() == 0 && loss.sent.retrans() == 0) {
        return;
    }
    let window = patience(loss, phase, cfg, srtt);
    let wait = loss.sent.lose_older(latest, loss.rack.rtt, window, Tick::at(now));
    if let Some(wait) = wait {
        ep.timer = Timer::Reorder;
        ep.send_timer_at = now + Duration::from_ps(wait).min(LONGEST_WAIT) + cfg.reorder_slack;
    }
}

/// RACK's reordering timer expired.
pub(crate) fn on_reorder_timer(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let flight = span(ep.snd_una, ep.snd_nxt);
    rack_detect(ep, cfg, now);
    let lost = ep.loss.as_ref().is_some_and(|loss| loss.sent.lost() > 0);
    if lost && matches!(ep.phase, Phase::Open | Phase::Disorder | Phase::Reduced) {
        enter_recovery(ep, cfg, now, flight, false);
    }
    if ep.phase == Phase::Recovery && lost && cfg.proportional_rate_reduction {
        reduce(ep, cfg, 0, false);
    }
    if ep.send_timer_at == Time::MAX {
        ep.start_timer(cfg, now);
    }
}

/// Proportional rate reduction after `delivered` bytes.
fn reduce(ep: &mut Endpoint, cfg: &Config, delivered: u32, good: bool) {
    let pipe = ep.pipe();
    let loss = ep.loss.get_or_insert_default();
    let controller = ep.congestion.controller(cfg);
    controller.on_recovery(loss.reduction.standard(cfg, controller.ssthresh(), delivered, pipe, good));
}

/// RFC 6675, section 5, (4.2): with `proportional_rate_reduction`, the window of the event lasts only until [`reduce`].
/// If the ACK is `marked`, the reduction cannot be undone.
fn enter_recovery(ep: &mut Endpoint, cfg: &Config, now: Time, flight: u32, marked: bool) {
    let controller = ep.congestion.controller(cfg);
    let mut prior = None;
    if ep.phase != Phase::Reduced {
        prior = (!marked).then_some(*controller.state());
        controller.on_congestion_event(cfg, Cause::Loss, flight);
    }
    ep.phase = Phase::Recovery;
    let una = ep.snd_una;
    ep.recover = ep.snd_nxt;
    ep.stats.fast_recoveries += 1;
    let loss = ep.split(cfg, now);
    if loss.sent.lost() == 0 {
        loss.sent.lose_head();
    }
    let sent = loss.sent.retrans().div_ceil(cfg.segment());
    loss.undo.start(una, prior, sent);
    loss.probe = TailProbe::default();
    loss.reduction.start(flight);
    force_first_lost(ep, cfg, now);
}

/// RFC 6582, section 3.2, steps 2 and 3; RFC 6675, section 5, (4.3): sends one segment regardless of the window.
fn force_first_lost(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let Some(loss) = &mut ep.loss else { return };
    if let Some((start, len)) = loss.sent.next_lost() {
        loss.force(start, len);
        ep.note_resent(now, start, len, Endpoint::clock(cfg, now));
        ep.todo |= todo::FORCED;
    }
}

fn change_phase(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32, flight: u32, tidings: &Tidings) {
    let done = at_or_before(ep.recover, ack);
    let recovers = matches!(ep.phase, Phase::Recovery | Phase::Loss);
    match ep.phase {
        Phase::Recovery if done => {
            if !try_undo(ep, cfg, tidings.original) {
                ep.end_reduction(cfg);
                spend_patience(ep);
            }
            leave(ep);
        }
        Phase::Recovery => {
            if tidings.advanced > 0 && !cfg.sack {
                // RFC 6582, section 3.2, step 3: a partial ACK indicates the next hole.
                if let Some(loss) = &mut ep.loss {
                    loss.sent.lose_head();
                    force_first_lost(ep, cfg, now);
                }
            } else {
                undo_in_recovery(ep, cfg, tidings);
            }
        }
        Phase::Loss => in_loss(ep, cfg, ack, tidings),
        Phase::Reduced if done => {
            ep.end_reduction(cfg);
            leave(ep);
        }
        // The last duplicate may be reported after the recovery.
        Phase::Open | Phase::Disorder if tidings.dsack => {
            undo_by_dsack(ep, cfg);
        }
        _ => {}
    }
    if recovers && ep.phase == Phase::Open && cfg.rack {
        // Linux (`tcp_undo_cwnd_reduction`): after an undo, RACK judges anew.
        rack_detect(ep, cfg, now);
    }
    if matches!(ep.phase, Phase::Open | Phase::Disorder | Phase::Reduced) {
        let threshold = u32::from(cfg.dup_ack_threshold);
        let lost = ep.loss.as_ref().is_some_and(|loss| loss.sent.lost() > 0);
        if lost || (!cfg.sack && ep.dup_acks >= threshold && !recently_recovered(ep)) {
            enter_recovery(ep, cfg, now, flight, tidings.marked);
        } else if ep.phase != Phase::Reduced {
            let sacked = ep.loss.as_ref().is_some_and(|loss| loss.sent.sacked() > 0);
            ep.phase = if sacked || ep.dup_acks > 0 { Phase::Disorder } else { Phase::Open };
        }
    }
}

/// RFC 6582, section 3.2, step 1: duplicates for data sent before the last recovery ended do not start another.
fn recently_recovered(ep: &Endpoint) -> bool {
    ep.is(fact::GUARD) && before(ep.snd_una, ep.recover)
}

fn leave(ep: &mut Endpoint) {
    ep.phase = Phase::Open;
    ep.dup_acks = 0;
    ep.clear(fact::GUARD);
    if let Some(loss) = &mut ep.loss {
        loss.frto = Frto::Off;
    }
}

/// Counts a recovery that was necessary: RACK keeps its reordering window for a number of them (RFC 8985, section 6.2,
/// step 4). A reduction after a mark does not count.
fn spend_patience(ep: &mut Endpoint) {
    let Some(loss) = &mut ep.loss else { return };
    let rack = &mut loss.rack;
    rack.persist = rack.persist.saturating_sub(1);
    if rack.persist == 0 {
        rack.patience = 0;
    }
}

/// During recovery, Linux accepts a late original as proof only once no retransmission is in flight: other
/// retransmissions may have been necessary.
fn undo_in_recovery(ep: &mut Endpoint, cfg: &Config, tidings: &Tidings) {
    let Some(loss) = &mut ep.loss else { return };
    loss.rack.reordering |= tidings.original;
    if tidings.original && loss.sent.retrans() == 0 {
        try_undo(ep, cfg, true);
        forget_losses(ep);
        leave(ep);
    } else {
        undo_by_dsack(ep, cfg);
    }
}

/// Undoes a reduction once every retransmission was reported as a duplicate (RFC 3708).
fn undo_by_dsack(ep: &mut Endpoint, cfg: &Config) {
    if try_undo(ep, cfg, false)
        && let Some(loss) = &mut ep.loss
    {
        loss.rack.persist = (loss.rack.persist + 1).min(PERSISTENCE);
        leave(ep);
    }
}

/// Undoes a reduction if all retransmissions were unnecessary, or if the `original` of a retransmitted segment arrived.
/// Returns whether it did.
fn try_undo(ep: &mut Endpoint, cfg: &Config, original: bool) -> bool {
    let Some(loss) = &ep.loss else { return false };
    let proven = loss.undo.marker.is_some() && (loss.undo.pending == Some(0) || original);
    if cfg.undo && proven {
        undo(ep, cfg);
    }
    cfg.undo && proven
}

/// Restores the window from before the reduction.
fn undo(ep: &mut Endpoint, cfg: &Config) {
    let Some(loss) = &mut ep.loss else { return };
    loss.undo.marker = None;
    if let Some(prior) = loss.undo.prior.take()
        && cfg.undo
    {
        ep.congestion.controller(cfg).on_spurious(cfg, prior);
    }
}

/// What counts as lost is in flight after all.
fn forget_losses(ep: &mut Endpoint) {
    if let Some(loss) = &mut ep.loss {
        loss.sent.unlose_all();
    }
}

/// Recovery from a timeout, as in Linux (`tcp_process_loss`). It was spurious if the original of a retransmitted segment
/// arrives (RFC 4015), or, with F-RTO, if data arrives that was never retransmitted (RFC 5682, section 3.1).
fn in_loss(ep: &mut Endpoint, cfg: &Config, ack: u32, tidings: &Tidings) {
    let done = at_or_before(ep.recover, ack);
    if tidings.advanced > 0 && try_undo(ep, cfg, tidings.original) {
        forget_losses(ep);
        leave(ep);
        return;
    }
    // Step 3.b.
    let recover = ep.recover;
    let untouched = tidings.news.lowest_original.is_some_and(|start| before(start, recover));
    if untouched && ep.loss.as_ref().is_some_and(|loss| loss.frto != Frto::Off) {
        undo(ep, cfg);
        forget_losses(ep);
        leave(ep);
        return;
    }
    if sends_new_data(ep, cfg, tidings, done) {
        return;
    }
    if done {
        spend_patience(ep);
        leave(ep);
        return;
    }
    let outstanding = before(ep.snd_una, ep.snd_nxt);
    if let Some(loss) = &mut ep.loss
        && !cfg.sack
        && tidings.advanced > 0
        && outstanding
        && loss.frto == Frto::Off
        && loss.sent.lost() == 0
    {
        loss.sent.lose_head();
    }
}

/// F-RTO's next step (RFC 5682, section 3.1). Returns whether new data goes before what is lost.
fn sends_new_data(ep: &mut Endpoint, cfg: &Config, tidings: &Tidings, done: bool) -> bool {
    let len = ep.next_len(cfg);
    let has_new = len > 0 && ep.room() >= len;
    let (una_moves, nxt) = (tidings.advanced > 0, ep.snd_nxt);
    let Some(loss) = &mut ep.loss else { return false };
    if loss.frto == Frto::Off {
        return false;
    }
    if before(ep.recover, nxt) {
        // Step 3.a: the loss was real. Without a sign, what is lost goes first again.
        let real = tidings.duplicate || tidings.news.sacked > 0;
        loss.frto = if real { Frto::Off } else { Frto::Head };
        return false;
    }
    if una_moves && !done {
        // Step 2.b: the head arrived; new data finds out more.
        ep.recover = nxt;
        loss.frto = if has_new { Frto::New } else { Frto::Off };
        return has_new;
    }
    false
}

fn change_window(
    ep: &mut Endpoint,
    cfg: &Config,
    now: Time,
    ack: u32,
    flight: u32,
    tidings: &Tidings,
    stays: bool,
) {
    match ep.phase {
        Phase::Recovery | Phase::Reduced if cfg.proportional_rate_reduction => {
            let good = tidings.advanced > 0 && !tidings.lost;
            reduce(ep, cfg, tidings.news.delivered, good);
        }
        Phase::Recovery | Phase::Reduced => {}
        _ if tidings.advanced > 0 && !stays => {
            let event = ep.ack_event(now, tidings.news.delivered, ack);
            let controller = ep.congestion.controller(cfg);
            let used = controller.state().was_used(cfg, flight);
            let may_grow = !cfg.window_validation || used || ep.phase == Phase::Loss;
            controller.on_ack(cfg, &Ack { rtt: tidings.rtt, may_grow, ..event });
        }
        _ => {}
    }
}

/// A plain ACK reached a tail probe that was new data: nothing was lost.
#[inline]
pub(super) fn probe_acked(probe: &mut TailProbe, ack: u32) {
    if probe.end.is_some_and(|end| at_or_before(end, ack)) {
        *probe = TailProbe::default();
    }
}

/// RFC 8985, section 7.4: an ACK for the probe without a reported duplicate means that the probe repaired a loss.
fn probe_answered(ep: &mut Endpoint, cfg: &Config, ack: u32, tidings: &Tidings, flight: u32) {
    let Some(loss) = &mut ep.loss else { return };
    let Some(end) = loss.probe.end else { return };
    if before(ack, end) {
        return;
    }
    let repaired = loss.probe.retransmission && !tidings.dsack;
    loss.probe = TailProbe::default();
    if repaired && matches!(ep.phase, Phase::Open | Phase::Disorder) && tidings.advanced > 0 {
        let controller = ep.congestion.controller(cfg);
        let before = controller.window();
        controller.on_congestion_event(cfg, Cause::Loss, flight);
        controller.on_recovery(before.min(controller.window()));
    }
}

pub(super) fn on_timeout(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let flight = span(ep.snd_una, ep.snd_nxt);
    let repeated = ep.retries > 1;
    // Linux (`tcp_enter_loss`): once per window of data.
    let first = at_or_before(ep.recover, ep.snd_una)
        || match ep.phase {
            Phase::Open | Phase::Disorder => true,
            Phase::Recovery | Phase::Reduced => false,
            Phase::Loss => !repeated,
        };
    let window = *ep.congestion.controller(cfg).state();
    let una = ep.snd_una;
    // RFC 5682, sections 3.1, step 1, and 3.2.
    let has_frto = cfg.frto && (repeated || !matches!(ep.phase, Phase::Recovery | Phase::Loss));
    let srtt = ep.rtt.srtt().ps();
    let phase = ep.phase;
    let loss = ep.split(cfg, now);
    if loss.sent.head_flags() & SACKED != 0 || !cfg.sack {
        loss.sent.forget_sacks();
    }
    if cfg.rack && loss.rack.latest.is_some() {
        let patience = patience(loss, phase, cfg, srtt);
        loss.sent.lose_overdue(loss.rack.rtt, patience, Tick::at(now));
    } else {
        loss.sent.lose_all();
    }
    if first {
        let sent = loss.sent.retrans().div_ceil(cfg.segment());
        loss.undo.start(una, Some(window), sent);
    }
    loss.frto = if has_frto { Frto::Head } else { Frto::Off };
    let window = loss.sent.pipe(flight).saturating_add(cfg.segment());
    let timeout = Timeout { now, flight, high: ep.snd_max, again: !first, window };
    ep.congestion.controller(cfg).on_timeout(cfg, &timeout);
    ep.phase = Phase::Loss;
    ep.recover = ep.snd_nxt;
    ep.set(fact::GUARD);
    ep.dup_acks = 0;
}

/// RFC 6675, section 5, (C), and NextSeg.
pub(super) fn poll(ep: &mut Endpoint, cfg: &Config, now: Time, out: &mut Segment) -> bool {
    let pipe = ep.pipe();
    let window = ep.congestion.controller(cfg).window();
    let avail = window.saturating_sub(pipe);
    let len = ep.next_len(cfg);
    let phase = ep.phase;
    let Some(loss) = &mut ep.loss else { return false };
    let new_first = phase == Phase::Loss && loss.frto == Frto::New;
    if !new_first && let Some((start, lost)) = loss.sent.next_lost() {
        // Linux doubles the limit for retransmissions (`tcp_xmit_retransmit_queue`).
        let fits = lost.min(cfg.segment()) <= avail || pipe == 0;
        if fits && !ep.waits_for_pace(cfg, now) && !ep.waits_for_interface(cfg, now, 2) {
            ep.resend(cfg, now, out, start, lost);
            return true;
        }
        return false;
    }
    // Without limited transmit (RFC 3042), SACKed bytes do not open the window before recovery.
    let held_back = phase == Phase::Disorder && !cfg.limited_transmit;
    let avail = if held_back { window.saturating_sub(span(ep.snd_una, ep.snd_nxt)) } else { avail };
    if len > 0 {
        return len <= avail && ep.poll_new(cfg, now, out, len);
    }
    let rescues = phase == Phase::Recovery && cfg.sack && !cfg.rack && avail >= cfg.segment();
    if rescues && !ep.waits_for_pace(cfg, now) {
        let Some(loss) = &mut ep.loss else { return false };
        if let Some((start, len)) = loss.sent.next_unreported(true) {
            ep.resend(cfg, now, out, start, len);
            return true;
        }
    }
    false
}
