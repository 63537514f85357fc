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

use super::{Endpoint, Phase};
use crate::config::Config;
use crate::congestion::{Ack, Cause, Controller, Timeout};
use crate::endpoint::{State, fact, todo};
use crate::segment::{Flags, Segment};
use crate::sent::{EVER, LOST, News};
use crate::seq::{at_or_before, before, span};

pub(super) fn on_ack(ep: &mut Endpoint, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let old = ep.snd_una;
    let advanced = span(old, ack);
    let sacks = if cfg.sack { seg.sacks() } else { &[] };
    let outstanding = ep.snd_una != ep.snd_max;
    let repeats = !cfg.sack && advanced == 0 && outstanding;
    if advanced == 0 && sacks.is_empty() && !repeats {
        return;
    }
    if !outstanding {
        return;
    }
    if advanced > 0 {
        sample(ep, cfg, now, seg, ack);
    }
    let in_recovery = ep.phase == Phase::Recovery;
    let recover = ep.recover;
    let loss = ep.split(cfg, now);
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
        ep.advance(cfg, ack, advanced);
    }
    let duplicate = if cfg.sack { sacked } else { repeats };
    // An assumed SACK does not count as delivered; the cumulative ACK makes up for it.
    let delivered = if cfg.sack { news.delivered } else { advanced };
    let mut view = View { delivered, pipe: ep.pipe(), again, ack };
    let old_duplicates = ep.dup_acks;
    if duplicate {
        on_duplicate(ep, cfg, now, &mut view);
    }
    if advanced == 0 {
        round_trip(ep, cfg, now, ack);
    } else {
        on_advance(ep, cfg, now, &view, old, old_duplicates, duplicate);
    }
    if seg.flags.has(Flags::ECE) && ep.is(fact::ECN) && matches!(ep.phase, Phase::Open | Phase::Disorder) {
        ep.on_mark(cfg, view.pipe);
    }
    ep.settle(cfg);
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
fn sample(ep: &mut Endpoint, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let ambiguous = ep.is(fact::SPLIT)
        && ep.loss.as_ref().is_some_and(|loss| loss.sent.head_flags() & EVER != 0)
        && !ep.is(fact::HOLD_RTT);
    if !ambiguous {
        ep.sample(cfg, now, seg, ack);
    }
}

fn round_trip(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32) {
    let event = Ack { may_grow: false, ..ep.ack_event(now, 0, ack) };
    ep.congestion.controller(cfg).on_ack(cfg, &event);
}

fn reduce(ep: &mut Endpoint, cfg: &Config, view: &View) {
    if let Some(loss) = &mut ep.loss {
        let controller = ep.congestion.controller(cfg);
        let ssthresh = controller.ssthresh();
        controller.on_recovery(loss.reduction.ns3(cfg, ssthresh, view.delivered, view.pipe, view.again));
    }
}

fn on_duplicate(ep: &mut Endpoint, cfg: &Config, now: Time, view: &mut View) {
    match ep.phase {
        Phase::Loss | Phase::Reduced => return,
        Phase::Recovery => {
            if !cfg.sack
                && let Some(loss) = &mut ep.loss
            {
                loss.sent.guess_sack();
            }
            reduce(ep, cfg, view);
            return;
        }
        Phase::Open | Phase::Disorder => {
            ep.phase = Phase::Disorder;
            ep.dup_acks += 1;
        }
    }
    let third = ep.dup_acks == u32::from(cfg.dup_ack_threshold);
    let allowed = !ep.is(fact::GUARD) || at_or_before(ep.recover, view.ack);
    let second = ep.loss.as_ref().is_some_and(|loss| loss.sent.second_is_lost());
    if (third && allowed) || second {
        enter_recovery(ep, cfg, now, view);
    } else if !cfg.sack
        && cfg.limited_transmit
        && let Some(loss) = &mut ep.loss
    {
        loss.sent.guess_sack();
    }
}

fn enter_recovery(ep: &mut Endpoint, cfg: &Config, now: Time, view: &mut View) {
    let Some(loss) = &mut ep.loss else { return };
    if !cfg.sack {
        loss.sent.guess_sack();
        loss.sent.lose_head();
    } else if loss.sent.head_flags() & LOST == 0 {
        loss.sent.lose_head();
    }
    ep.recover = ep.snd_max;
    ep.set(fact::GUARD);
    ep.phase = Phase::Recovery;
    ep.stats.fast_recoveries += 1;
    view.pipe = ep.pipe();
    let flight = if cfg.sack { view.pipe } else { view.pipe + cfg.segment() };
    ep.congestion.controller(cfg).on_congestion_event(cfg, Cause::Loss, flight);
    if let Some(loss) = &mut ep.loss {
        loss.reduction.start(span(ep.snd_una, ep.snd_max));
    }
    reduce(ep, cfg, view);
    force_retransmission(ep, cfg, now);
}

/// Sends the first lost segment, otherwise new data, otherwise the head again, regardless of the window.
fn force_retransmission(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let new = ep.next_len(cfg);
    let new = new > 0 && new <= ep.room();
    let Some(loss) = &mut ep.loss else { return };
    let lost = loss.sent.next_lost();
    if lost.is_none() && new {
        loss.force(0, 0);
    } else if let Some((start, len)) = lost.or_else(|| loss.sent.head()) {
        loss.force(start, len);
        ep.note_resent(now, start, len, 0);
    }
    ep.todo |= todo::FORCED;
}

fn on_advance(
    ep: &mut Endpoint,
    cfg: &Config,
    now: Time,
    view: &View,
    old: u32,
    old_duplicates: u32,
    duplicate: bool,
) {
    let ack = view.ack;
    let mss = cfg.segment();
    let mut bytes = ep.whole_segments(cfg, span(old, ack));
    if !duplicate {
        ep.dup_acks = 0;
    }
    if ep.phase == Phase::Recovery && before(ack, ep.recover) {
        partial(ep, cfg, now, view, bytes >= mss);
        return;
    }
    if ep.phase == Phase::Loss && before(ack, ep.recover) {
        grow(ep, cfg, now, ack, bytes);
        ep.start_timer(cfg, now);
        return;
    }
    match ep.phase {
        Phase::Open => round_trip(ep, cfg, now, ack),
        Phase::Disorder => {
            if bytes / mss >= old_duplicates {
                round_trip(ep, cfg, now, ack);
            }
            if !duplicate {
                ep.phase = Phase::Open;
            }
        }
        Phase::Recovery => {
            ep.clear(fact::PARTIAL_SEEN);
            bytes = span(old, ack) / mss * mss;
            round_trip(ep, cfg, now, ack);
            ep.phase = Phase::Open;
            ep.dup_acks = 0;
            ep.end_reduction(cfg);
        }
        Phase::Loss => {
            ep.clear(fact::PARTIAL_SEEN);
            bytes = span(ep.recover, ack) / mss * mss;
            round_trip(ep, cfg, now, ack);
            ep.phase = Phase::Open;
        }
        Phase::Reduced => ep.phase = Phase::Open,
    }
    if at_or_before(ep.recover, ack) {
        ep.clear(fact::GUARD);
    }
    if ep.phase == Phase::Open {
        let event = Ack { rtt: 0, ..ep.ack_event(now, bytes, ack) };
        ep.congestion.controller(cfg).on_ack(cfg, &event);
        ep.start_timer(cfg, now);
    }
    if ep.snd_una == ep.snd_max && !ep.awaits_fin_ack() {
        ep.send_timer_at = Time::MAX;
    }
}

fn grow(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32, bytes: u32) {
    let event = ep.ack_event(now, bytes, ack);
    ep.congestion.controller(cfg).on_ack(cfg, &event);
}

fn partial(ep: &mut Endpoint, cfg: &Config, now: Time, view: &View, whole: bool) {
    if !cfg.sack
        && let Some(loss) = &mut ep.loss
    {
        loss.sent.lose_head();
    }
    if whole {
        reduce(ep, cfg, view);
    }
    let next = view.ack.wrapping_add(cfg.segment());
    if !ep.loss.as_ref().is_some_and(|loss| loss.sent.head_in_repair(next)) {
        force_retransmission(ep, cfg, now);
    }
    round_trip(ep, cfg, now, view.ack);
    if !ep.is(fact::PARTIAL_SEEN) {
        ep.set(fact::PARTIAL_SEEN);
        ep.start_timer(cfg, now);
    }
}

pub(super) fn on_timeout(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let flight = ep.pipe();
    ep.dup_acks = 0;
    let loss = ep.split(cfg, now);
    if !cfg.sack {
        loss.sent.forget_sacks();
    }
    loss.sent.lose_all();
    ep.recover = ep.snd_max;
    ep.set(fact::GUARD);
    let timeout = Timeout { now, flight, high: ep.snd_max, again: false, window: cfg.segment() };
    ep.congestion.controller(cfg).on_timeout(cfg, &timeout);
    ep.phase = Phase::Loss;
}

/// `SendPendingData` with `NextSeg`.
pub(super) fn poll(ep: &mut Endpoint, cfg: &Config, now: Time, out: &mut Segment) -> bool {
    if ep.phase == Phase::Open && ep.state == State::FinWait1 {
        return false;
    }
    let pipe = ep.pipe();
    let window = ep.congestion.controller(cfg).window();
    let avail = window.min(ep.snd_wnd).saturating_sub(pipe);
    if avail == 0 {
        return false;
    }
    let mss = cfg.segment();
    let new = ep.next_len(cfg);
    let by_guess = cfg.sack && ep.phase == Phase::Recovery;
    let Some(loss) = &mut ep.loss else { return false };
    let again = match loss.sent.next_lost() {
        None if new == 0 && by_guess => loss.sent.next_unreported(false),
        lost => lost,
    };
    let Some((start, len)) = again else {
        return new > 0 && new <= avail && ep.poll_new(cfg, now, out, new);
    };
    // Silly window avoidance: a piece that does not fit waits, unless it is the last.
    let left = u64::from(span(start, ep.snd_max)) + ep.unsent;
    if avail < mss && left > u64::from(avail) {
        return false;
    }
    ep.resend(cfg, now, out, start, len.min(avail));
    true
}
