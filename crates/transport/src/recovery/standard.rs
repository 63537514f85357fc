//! Recovery according to the RFCs, with Linux's choices where they leave one open.
//!
//! Fast recovery by SACK (RFC 6675) or duplicate ACKs (RFC 6582), by time with RACK (RFC 8985); the window by RFC 6937;
//! timeouts by RFC 6298 with F-RTO (RFC 5682); unnecessary reductions are undone (RFC 3522, RFC 3708).

use weft_units::Time;

use super::ack_info::{AckInfo, is_dsack};
use super::loss::{Frto, TailProbe};
use super::{rack, tail_probe, timeout, undo};
use crate::config::{Config, RttSource};
use crate::congestion::{Ack, Cause};
use crate::departures::Piece;
use crate::news::News;
use crate::segment::{Flags, Segment};
use crate::sender::{Phase, Sender, Timer, fact};
use crate::sent_segment::SACKED;
use crate::seq::{at_or_before, before, span};
use crate::tick::Tick;
use crate::{timestamp, todo};

pub(super) fn on_ack(tx: &mut Sender, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let flight = tx.used();
    let advanced = span(tx.snd_una, ack);
    let sacks = if cfg.sack { seg.sacks() } else { &[] };
    let duplicate = !cfg.sack && advanced == 0 && seg.len == 0 && flight > 0 && seg.window == tx.snd_wnd;
    let nothing = advanced == 0 && sacks.is_empty() && !duplicate;
    if nothing && !seg.flags.has(Flags::ECE) {
        return;
    }
    let marked = seg.flags.has(Flags::ECE) && tx.is(fact::ECN);
    let unsplit = tx.phase == Phase::Reduced && !tx.is(fact::SPLIT) && sacks.is_empty() && !duplicate;
    if nothing || unsplit {
        reduced_ack(tx, cfg, now, seg, ack, advanced, marked);
        return;
    }

    let mut info = AckInfo { advanced, duplicate, marked, ..AckInfo::default() };
    info.dsack = is_dsack(sacks, ack);
    update_scoreboard(tx, cfg, now, seg, ack, sacks, &mut info);
    if advanced > 0 {
        tx.advance(cfg, ack, advanced);
    }
    take_sample(tx, cfg, now, seg, ack, &mut info);
    if let Some(loss) = &mut tx.loss {
        info.original = advanced > 0 && loss.undo.is_original(seg);
        if info.dsack
            && let Some(&(left, right)) = sacks.first()
        {
            loss.undo.duplicate(left, right, cfg.segment());
            info.of_probe = loss.probe.end == Some(right);
        }
    }
    let lost_before = tx.loss.as_ref().map_or(0, |loss| loss.sent.lost());
    // Linux (`tcp_try_undo_partial`): the original has arrived, so this ACK marks nothing else as lost.
    if !(info.original && tx.phase == Phase::Recovery) {
        detect_losses(tx, cfg, now, &info);
    }
    let lost_after = tx.loss.as_ref().map_or(0, |loss| loss.sent.lost());
    info.lost = lost_after > lost_before;

    if tx.is(fact::ECN) {
        tx.note_delivered(cfg, info.news.delivered, marked, ack);
        if marked && matches!(tx.phase, Phase::Open | Phase::Disorder) {
            tx.on_mark(cfg, flight);
        }
    }
    tail_probe::answered(tx, cfg, ack, &info, flight);
    let reducing = tx.phase.is_reducing();
    change_phase(tx, cfg, now, ack, flight, &info);
    change_window(tx, cfg, now, ack, flight, &info, marked || reducing);
    // A duplicate alone may have ended RACK's reordering timer. Reports of data sent after the head do not defer the
    // timeout (Linux: `tcp_clean_rtx_queue`).
    let idle = tx.timer_at == Time::MAX;
    let head = tx.loss.as_ref().and_then(|loss| loss.sent.head_sent());
    let older = head.is_some_and(|head| info.news.reports_older(head));
    let probes = tx.timer == Timer::TailProbe && tx.phase != Phase::Open;
    if info.advanced > 0 || info.lost || idle || older || probes {
        let waits = tx.timer == Timer::Reorder && !idle;
        if !waits {
            tx.start_timer(cfg, now);
        }
    }
    tx.settle(cfg);
}

/// Processes an ACK without news for the scoreboard, in a reduction after a mark, or with only a mark.
fn reduced_ack(
    tx: &mut Sender,
    cfg: &Config,
    now: Time,
    seg: &Segment,
    ack: u32,
    advanced: u32,
    marked: bool,
) {
    let flight = tx.used();
    if advanced > 0 {
        tx.advance(cfg, ack, advanced);
        if cfg.rack {
            tx.plain_rack(cfg, now, ack);
        } else {
            tx.sample(cfg, now, seg, ack);
        }
        tx.note_delivered(cfg, advanced, marked, ack);
    }
    if marked && tx.phase == Phase::Open {
        tx.on_mark(cfg, flight);
    }
    if tx.phase == Phase::Reduced {
        if at_or_before(tx.recover, ack) {
            tx.end_reduction(cfg);
            tx.phase = Phase::Open;
        } else if advanced > 0 {
            reduce(tx, cfg, advanced, true);
        }
    }
    if advanced > 0 {
        tx.start_timer(cfg, now);
    }
}

fn update_scoreboard(
    tx: &mut Sender,
    cfg: &Config,
    now: Time,
    seg: &Segment,
    ack: u32,
    sacks: &[(u32, u32)],
    info: &mut AckInfo,
) {
    let after_echo = if seg.flags.has(Flags::TS) { timestamp::after_echo(cfg, now, seg.ts_ecr) } else { 0 };
    let in_recovery = matches!(tx.phase, Phase::Recovery | Phase::Disorder);
    let loss = tx.split(cfg, now);
    let sent = &mut loss.sent;
    info.news = News::at(Tick::at(now), loss.rack.least, after_echo);
    let news = &mut info.news;
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
    if info.duplicate && (in_recovery || cfg.limited_transmit || cfg.dup_ack_threshold <= 1) {
        sent.guess_sack();
    }
    if info.duplicate {
        news.delivered = news.delivered.saturating_add(cfg.segment());
    }
}

/// RFC 6298 with Karn's algorithm, and RACK's round trip (RFC 8985, section 6.2, steps 1 to 3).
fn take_sample(tx: &mut Sender, cfg: &Config, now: Time, seg: &Segment, ack: u32, info: &mut AckInfo) {
    let tick = Tick::at(now);
    if !cfg.rack {
        if info.advanced > 0 {
            info.rtt = tx.sample(cfg, now, seg, ack);
        }
        return;
    }
    if cfg.rtt_source == RttSource::Timestamps {
        if info.advanced > 0 {
            info.rtt = tx.sample(cfg, now, seg, ack);
        }
    } else if let Some((first, last)) = info.news.timed() {
        tx.measured(cfg, tick.since(first));
        info.rtt = tick.since(last).max(1);
    } else if info.advanced > 0 && seg.flags.has(Flags::TS) {
        // RFC 7323, section 4; Linux (`tcp_ack_update_rtt`).
        info.rtt = timestamp::elapsed(cfg, now, seg.ts_ecr);
        if info.rtt > 0 {
            tx.measured(cfg, info.rtt);
        }
    }
    rack::take_sample(tx, now, &info.news);
}

fn detect_losses(tx: &mut Sender, cfg: &Config, now: Time, info: &AckInfo) {
    let threshold = u32::from(cfg.dup_ack_threshold);
    if info.duplicate {
        tx.dup_acks = tx.dup_acks.saturating_add(1);
    } else if info.advanced > 0 {
        tx.dup_acks = 0;
    }
    if cfg.rack {
        // A tail loss probe is sent by a timer, not because the reordering window was too short.
        rack::adapt_patience(tx, info.dsack && !info.of_probe);
        rack::detect(tx, cfg, now);
    } else if cfg.sack
        && let Some(loss) = &mut tx.loss
    {
        loss.sent.judge(threshold);
    }
}

/// RACK's reordering timer expired.
pub(crate) fn on_reorder_timer(tx: &mut Sender, cfg: &Config, now: Time) {
    let flight = tx.used();
    rack::detect(tx, cfg, now);
    let lost = tx.loss.as_ref().is_some_and(|loss| loss.sent.lost() > 0);
    if lost && matches!(tx.phase, Phase::Open | Phase::Disorder | Phase::Reduced) {
        enter_recovery(tx, cfg, now, flight, false);
    }
    if tx.phase == Phase::Recovery && lost && cfg.proportional_rate_reduction {
        reduce(tx, cfg, 0, false);
    }
    if tx.timer_at == Time::MAX {
        tx.start_timer(cfg, now);
    }
}

/// Proportional rate reduction after `delivered` bytes.
fn reduce(tx: &mut Sender, cfg: &Config, delivered: u32, good: bool) {
    let pipe = tx.pipe();
    let loss = tx.loss.get_or_insert_default();
    let controller = tx.congestion.controller(cfg);
    controller.on_recovery(loss.reduction.standard(cfg, controller.ssthresh(), delivered, pipe, good));
}

/// RFC 6675, section 5, (4.2): with `proportional_rate_reduction`, the window of the event lasts only until [`reduce`].
/// If the ACK is `marked`, the reduction cannot be undone.
fn enter_recovery(tx: &mut Sender, cfg: &Config, now: Time, flight: u32, marked: bool) {
    let controller = tx.congestion.controller(cfg);
    let mut prior = None;
    if tx.phase != Phase::Reduced {
        prior = (!marked).then_some(*controller.state());
        controller.on_congestion_event(cfg, Cause::Loss, flight);
    }
    tx.phase = Phase::Recovery;
    let una = tx.snd_una;
    tx.recover = tx.snd_nxt;
    tx.recoveries += 1;
    let loss = tx.split(cfg, now);
    if loss.sent.lost() == 0 {
        loss.sent.lose_head();
    }
    let sent = loss.sent.retrans().div_ceil(cfg.segment());
    loss.undo.start(una, prior, sent);
    loss.probe = TailProbe::default();
    loss.reduction.start(flight);
    force_first_lost(tx, cfg, now);
}

/// RFC 6582, section 3.2, steps 2 and 3; RFC 6675, section 5, (4.3): sends one segment regardless of the window.
fn force_first_lost(tx: &mut Sender, cfg: &Config, now: Time) {
    let Some(loss) = &mut tx.loss else { return };
    if let Some((start, len)) = loss.sent.next_lost() {
        loss.force(start, len);
        tx.note_resent(now, start, len, timestamp::clock(cfg, now));
        tx.todo |= todo::FORCED;
    }
}

fn change_phase(tx: &mut Sender, cfg: &Config, now: Time, ack: u32, flight: u32, info: &AckInfo) {
    let done = at_or_before(tx.recover, ack);
    let recovers = matches!(tx.phase, Phase::Recovery | Phase::Loss);
    match tx.phase {
        Phase::Recovery if done => {
            if !undo::try_undo(tx, cfg, info.original) {
                tx.end_reduction(cfg);
                rack::spend_patience(tx);
            }
            tx.leave_recovery();
        }
        Phase::Recovery => {
            if info.advanced > 0 && !cfg.sack {
                // RFC 6582, section 3.2, step 3: a partial ACK indicates the next hole.
                if let Some(loss) = &mut tx.loss {
                    loss.sent.lose_head();
                    force_first_lost(tx, cfg, now);
                }
            } else {
                undo_in_recovery(tx, cfg, info);
            }
        }
        Phase::Loss => timeout::in_loss(tx, cfg, ack, info),
        Phase::Reduced if done => {
            tx.end_reduction(cfg);
            tx.leave_recovery();
        }
        // The last duplicate may be reported after the recovery.
        Phase::Open | Phase::Disorder if info.dsack => {
            undo_by_dsack(tx, cfg);
        }
        _ => {}
    }
    if recovers && tx.phase == Phase::Open && cfg.rack {
        // Linux (`tcp_undo_cwnd_reduction`): after an undo, RACK judges anew.
        rack::detect(tx, cfg, now);
    }
    if matches!(tx.phase, Phase::Open | Phase::Disorder | Phase::Reduced) {
        let threshold = u32::from(cfg.dup_ack_threshold);
        let lost = tx.loss.as_ref().is_some_and(|loss| loss.sent.lost() > 0);
        if lost || (!cfg.sack && tx.dup_acks >= threshold && !recently_recovered(tx)) {
            enter_recovery(tx, cfg, now, flight, info.marked);
        } else if tx.phase != Phase::Reduced {
            let sacked = tx.loss.as_ref().is_some_and(|loss| loss.sent.sacked() > 0);
            tx.phase = if sacked || tx.dup_acks > 0 { Phase::Disorder } else { Phase::Open };
        }
    }
}

/// RFC 6582, section 3.2, step 1: duplicates for data sent before the last recovery ended do not start another.
fn recently_recovered(tx: &Sender) -> bool {
    tx.is(fact::GUARD) && before(tx.snd_una, tx.recover)
}

/// During recovery, Linux accepts a late original as proof only once no retransmission is in flight: other
/// retransmissions may have been necessary.
fn undo_in_recovery(tx: &mut Sender, cfg: &Config, info: &AckInfo) {
    let Some(loss) = &mut tx.loss else { return };
    loss.rack.reordering |= info.original;
    if info.original && loss.sent.retrans() == 0 {
        undo::try_undo(tx, cfg, true);
        undo::forget_losses(tx);
        tx.leave_recovery();
    } else {
        undo_by_dsack(tx, cfg);
    }
}

/// Undoes a reduction once every retransmission was reported as a duplicate (RFC 3708).
fn undo_by_dsack(tx: &mut Sender, cfg: &Config) {
    if undo::try_undo(tx, cfg, false)
        && let Some(loss) = &mut tx.loss
    {
        loss.rack.persist = (loss.rack.persist + 1).min(rack::PERSISTENCE);
        tx.leave_recovery();
    }
}

fn change_window(
    tx: &mut Sender,
    cfg: &Config,
    now: Time,
    ack: u32,
    flight: u32,
    info: &AckInfo,
    stays: bool,
) {
    match tx.phase {
        Phase::Recovery | Phase::Reduced if cfg.proportional_rate_reduction => {
            let good = info.advanced > 0 && !info.lost;
            reduce(tx, cfg, info.news.delivered, good);
        }
        Phase::Recovery | Phase::Reduced => {}
        _ if info.advanced > 0 && !stays => {
            let event = tx.ack_event(now, info.news.delivered, ack);
            let controller = tx.congestion.controller(cfg);
            let used = controller.state().was_used(cfg.segment(), flight);
            let may_grow = !cfg.window_validation || used || tx.phase == Phase::Loss;
            controller.on_ack(cfg, &Ack { rtt: info.rtt, may_grow, ..event });
        }
        _ => {}
    }
}

/// RFC 6675, section 5, (C), and NextSeg.
pub(super) fn next(tx: &mut Sender, cfg: &Config, now: Time) -> Option<Piece> {
    let pipe = tx.pipe();
    let window = tx.congestion.controller(cfg).window();
    let avail = window.saturating_sub(pipe);
    let len = tx.next_len(cfg);
    let phase = tx.phase;
    let loss = tx.loss.as_mut()?;
    let new_first = phase == Phase::Loss && loss.frto == Frto::New;
    if !new_first && let Some((start, lost)) = loss.sent.next_lost() {
        // Linux doubles the limit for retransmissions (`tcp_xmit_retransmit_queue`).
        let fits = lost.min(cfg.segment()) <= avail || pipe == 0;
        let leaves = fits && !tx.hold_for_pace(cfg, now) && !tx.hold_for_interface(cfg, now, 2);
        return leaves.then(|| tx.resend(cfg, now, start, lost));
    }
    // Without limited transmit (RFC 3042), SACKed bytes do not open the window before recovery.
    let held_back = phase == Phase::Disorder && !cfg.limited_transmit;
    let avail = if held_back { window.saturating_sub(tx.used()) } else { avail };
    if len > 0 {
        return if len <= avail { tx.next_if_allowed(cfg, now, len) } else { None };
    }
    let rescues = phase == Phase::Recovery && cfg.sack && !cfg.rack && avail >= cfg.segment();
    if !rescues || tx.hold_for_pace(cfg, now) {
        return None;
    }
    let (start, len) = tx.loss.as_mut()?.sent.next_unreported(true)?;
    Some(tx.resend(cfg, now, start, len))
}
