//! Recovery as in ns-3.37 (`TcpSocketBase`, `TcpTxBuffer`, `TcpPrrRecovery`).
//!
//! It follows RFC 6675, with differences that change flow completion times and are therefore reproduced:
//! * With SACK, an ACK is a duplicate if it reports something new, even if it advances. Recovery starts with
//!   exactly the third duplicate, or when the second segment in flight counts as lost. A segment is lost when three
//!   segments (not bytes) above it are reported; a segment reported right below the highest replaces the highest.
//! * A lost segment is retransmitted as soon as the window allows, in any phase, so before recovery without a
//!   reduction. A lost retransmission is detected only by timeout.
//! * The bytes of a retransmission stay in the pipe until the cumulative ACK passes them, even when reported.
//! * The threshold is computed from the pipe after marking, not from the flight size.
//! * Rate reduction wraps at 2^32 (`reduction.rs`) and, without SACK, sees no delivered bytes in duplicates.
//! * On a partial ACK one segment is sent regardless of the window, even a new one.
//! * Only the first partial ACK restarts the timer; in disorder, an ACK that also reports does not.
//! * Without SACK, a head that was assumed to have arrived is lost as soon as the ACK stops at it.
//! * After a timeout, duplicates are ignored; each timeout halves the threshold again.

use weft_units::Time;

use crate::config::Config;
use crate::congestion::{Ack, Cause, Timeout};
use crate::departures::Piece;
use crate::news::News;
use crate::segment::{Flags, Segment};
use crate::sender::{Phase, Sender, fact};
use crate::sent_segment::{EVER, LOST};
use crate::seq::{at_or_before, before, span};
use crate::todo;

pub(super) fn on_ack(tx: &mut Sender, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let old = tx.snd_una;
    let advanced = span(old, ack);
    let sacks = if cfg.sack { seg.sacks() } else { &[] };
    let outstanding = tx.snd_una != tx.snd_max;
    let repeats = !cfg.sack && advanced == 0 && outstanding;
    if advanced == 0 && sacks.is_empty() && !repeats {
        return;
    }
    if !outstanding {
        return;
    }
    if advanced > 0 {
        sample(tx, cfg, now, seg, ack);
    }
    let in_recovery = tx.phase == Phase::Recovery;
    let recover = tx.recover;
    let loss = tx.split(cfg, now);
    let mut news = News::default();
    for &(left, right) in sacks {
        loss.sent.sack(left, right, true, &mut news);
    }
    loss.sent.remember(sacks);
    let sacked = news.sacked > 0;
    if sacked {
        loss.sent.judge_from_highest(u32::from(cfg.dup_ack_threshold));
    }
    loss.sent.discard_to(ack, &mut news);
    if advanced > 0 && loss.sent.unguess_head() {
        loss.sent.guess_sack();
        loss.sent.lose_head();
    }
    let again = news.retransmitted && in_recovery && advanced > 0 && before(ack, recover);
    if advanced > 0 {
        tx.advance(cfg, ack, advanced);
    }
    let duplicate = if cfg.sack { sacked } else { repeats };
    // An assumed SACK does not count as delivered; the cumulative ACK makes up for it.
    let delivered = if cfg.sack { news.delivered } else { advanced };
    let mut view = View { delivered, pipe: tx.pipe(), again, ack };
    let old_duplicates = tx.dup_acks;
    if duplicate {
        on_duplicate(tx, cfg, now, &mut view);
    }
    if advanced == 0 {
        round_trip(tx, cfg, now, ack);
    } else {
        on_advance(tx, cfg, now, &view, old, old_duplicates, duplicate);
    }
    if seg.flags.has(Flags::ECE) && tx.is(fact::ECN) && matches!(tx.phase, Phase::Open | Phase::Disorder) {
        tx.on_mark(cfg, view.pipe);
    }
    tx.settle(cfg);
}

/// The inputs of `ProcessAck`.
#[derive(Clone, Copy)]
struct View {
    delivered: u32,
    /// The pipe when last computed: the window is derived from it.
    pipe: u32,
    /// A retransmission was acknowledged in recovery.
    again: bool,
    ack: u32,
}

/// One sample for an ACK that covers the oldest segment, unless that was retransmitted.
fn sample(tx: &mut Sender, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let ambiguous = tx.is(fact::SPLIT)
        && tx.loss.as_ref().is_some_and(|loss| loss.sent.head_flags() & EVER != 0)
        && !tx.is(fact::HOLD_RTT);
    if !ambiguous {
        tx.sample(cfg, now, seg, ack);
    }
}

fn round_trip(tx: &mut Sender, cfg: &Config, now: Time, ack: u32) {
    let event = Ack { may_grow: false, ..tx.ack_event(now, 0, ack) };
    tx.congestion.controller(cfg).on_ack(cfg, &event);
}

fn reduce(tx: &mut Sender, cfg: &Config, view: &View) {
    if let Some(loss) = &mut tx.loss {
        let controller = tx.congestion.controller(cfg);
        let ssthresh = controller.ssthresh();
        controller.on_recovery(loss.reduction.ns3(cfg, ssthresh, view.delivered, view.pipe, view.again));
    }
}

fn on_duplicate(tx: &mut Sender, cfg: &Config, now: Time, view: &mut View) {
    match tx.phase {
        Phase::Loss | Phase::Reduced => return,
        Phase::Recovery => {
            if !cfg.sack
                && let Some(loss) = &mut tx.loss
            {
                loss.sent.guess_sack();
            }
            reduce(tx, cfg, view);
            return;
        }
        Phase::Open | Phase::Disorder => {
            tx.phase = Phase::Disorder;
            tx.dup_acks += 1;
        }
    }
    let third = tx.dup_acks == u32::from(cfg.dup_ack_threshold);
    let allowed = !tx.is(fact::GUARD) || at_or_before(tx.recover, view.ack);
    let second = tx.loss.as_ref().is_some_and(|loss| loss.sent.second_is_lost());
    if (third && allowed) || second {
        enter_recovery(tx, cfg, now, view);
    } else if !cfg.sack
        && cfg.limited_transmit
        && let Some(loss) = &mut tx.loss
    {
        loss.sent.guess_sack();
    }
}

fn enter_recovery(tx: &mut Sender, cfg: &Config, now: Time, view: &mut View) {
    let Some(loss) = &mut tx.loss else { return };
    if !cfg.sack {
        loss.sent.guess_sack();
        loss.sent.lose_head();
    } else if loss.sent.head_flags() & LOST == 0 {
        loss.sent.lose_head();
    }
    tx.recover = tx.snd_max;
    tx.set(fact::GUARD);
    tx.phase = Phase::Recovery;
    tx.recoveries += 1;
    view.pipe = tx.pipe();
    let flight = if cfg.sack { view.pipe } else { view.pipe + cfg.segment() };
    tx.congestion.controller(cfg).on_congestion_event(cfg, Cause::Loss, flight);
    if let Some(loss) = &mut tx.loss {
        loss.reduction.start(span(tx.snd_una, tx.snd_max));
    }
    reduce(tx, cfg, view);
    force_retransmission(tx, cfg, now);
}

/// Sends the first lost segment, otherwise new data, otherwise the head again, regardless of the window.
fn force_retransmission(tx: &mut Sender, cfg: &Config, now: Time) {
    let new = tx.next_len(cfg);
    let new = new > 0 && new <= tx.room();
    let Some(loss) = &mut tx.loss else { return };
    let lost = loss.sent.next_lost();
    if lost.is_none() && new {
        loss.force(0, 0);
    } else if let Some((start, len)) = lost.or_else(|| loss.sent.head()) {
        loss.force(start, len);
        tx.note_resent(now, start, len, 0);
    }
    tx.todo |= todo::FORCED;
}

fn on_advance(
    tx: &mut Sender,
    cfg: &Config,
    now: Time,
    view: &View,
    old: u32,
    old_duplicates: u32,
    duplicate: bool,
) {
    let ack = view.ack;
    let mss = cfg.segment();
    let mut bytes = tx.whole_segments(cfg, span(old, ack));
    if !duplicate {
        tx.dup_acks = 0;
    }
    if tx.phase == Phase::Recovery && before(ack, tx.recover) {
        partial(tx, cfg, now, view, bytes >= mss);
        return;
    }
    if tx.phase == Phase::Loss && before(ack, tx.recover) {
        tx.grow(cfg, now, ack, bytes);
        tx.start_timer(cfg, now);
        return;
    }
    match tx.phase {
        Phase::Open => round_trip(tx, cfg, now, ack),
        Phase::Disorder => {
            if bytes / mss >= old_duplicates {
                round_trip(tx, cfg, now, ack);
            }
            if !duplicate {
                tx.phase = Phase::Open;
            }
        }
        Phase::Recovery => {
            tx.clear(fact::PARTIAL_SEEN);
            bytes = span(old, ack) / mss * mss;
            round_trip(tx, cfg, now, ack);
            tx.phase = Phase::Open;
            tx.dup_acks = 0;
            tx.end_reduction(cfg);
        }
        Phase::Loss => {
            tx.clear(fact::PARTIAL_SEEN);
            bytes = span(tx.recover, ack) / mss * mss;
            round_trip(tx, cfg, now, ack);
            tx.phase = Phase::Open;
        }
        Phase::Reduced => tx.phase = Phase::Open,
    }
    if at_or_before(tx.recover, ack) {
        tx.clear(fact::GUARD);
    }
    if tx.phase == Phase::Open {
        let event = Ack { rtt: 0, ..tx.ack_event(now, bytes, ack) };
        tx.congestion.controller(cfg).on_ack(cfg, &event);
        tx.start_timer(cfg, now);
    }
    if tx.snd_una == tx.snd_max && !tx.awaits_fin_ack() {
        tx.timer_at = Time::MAX;
    }
}

fn partial(tx: &mut Sender, cfg: &Config, now: Time, view: &View, whole: bool) {
    if !cfg.sack
        && let Some(loss) = &mut tx.loss
    {
        loss.sent.lose_head();
    }
    if whole {
        reduce(tx, cfg, view);
    }
    let next = view.ack.wrapping_add(cfg.segment());
    if !tx.loss.as_ref().is_some_and(|loss| loss.sent.head_in_repair(next)) {
        force_retransmission(tx, cfg, now);
    }
    round_trip(tx, cfg, now, view.ack);
    if !tx.is(fact::PARTIAL_SEEN) {
        tx.set(fact::PARTIAL_SEEN);
        tx.start_timer(cfg, now);
    }
}

pub(super) fn on_timeout(tx: &mut Sender, cfg: &Config, now: Time) {
    let flight = tx.pipe();
    tx.dup_acks = 0;
    let loss = tx.split(cfg, now);
    if !cfg.sack {
        loss.sent.forget_sacks();
    }
    loss.sent.lose_all();
    tx.recover = tx.snd_max;
    tx.set(fact::GUARD);
    let timeout = Timeout { now, flight, high: tx.snd_max, again: false, window: cfg.segment() };
    tx.congestion.controller(cfg).on_timeout(cfg, &timeout);
    tx.phase = Phase::Loss;
}

/// `SendPendingData` with `NextSeg`.
pub(super) fn next(tx: &mut Sender, cfg: &Config, now: Time) -> Option<Piece> {
    let pipe = tx.pipe();
    let window = tx.congestion.controller(cfg).window();
    let avail = window.min(tx.snd_wnd).saturating_sub(pipe);
    if avail == 0 {
        return None;
    }
    let mss = cfg.segment();
    let new = tx.next_len(cfg);
    let by_guess = cfg.sack && tx.phase == Phase::Recovery;
    let loss = tx.loss.as_mut()?;
    let again = match loss.sent.next_lost() {
        None if new == 0 && by_guess => loss.sent.next_unreported(false),
        lost => lost,
    };
    let Some((start, len)) = again else {
        return if new > 0 && new <= avail { tx.next_if_allowed(cfg, now, new) } else { None };
    };
    // Silly window avoidance: a piece that does not fit waits, unless it is the last.
    let left = u64::from(span(start, tx.snd_max)) + tx.unsent;
    if avail < mss && left > u64::from(avail) {
        return None;
    }
    Some(tx.resend(cfg, now, start, len.min(avail)))
}
