//! Recovery as in ns-3.23 and ns-3.26: duplicates inflate the window, a timeout goes back to the first hole.
//!
//! RFC 6582 as written, without a scoreboard. The data in flight is SND.NXT - SND.UNA, and after a
//! timeout everything from SND.UNA on is retransmitted in slow start.
//!
//! | | 3.23 | 3.26 |
//! |---|---|---|
//! | flight size for ssthresh | highest sent - UNA | NXT - UNA, less duplicates |
//! | duplicates after a timeout | start a recovery | do not, up to `recover` |
//! | first duplicates | send nothing | send a new segment each (RFC 3042) |
//! | partial ACK | each restarts the timer | only the first restarts it |
//! | repeated timeout | halves the threshold again | changes nothing |

use weft_units::Time;

use crate::config::{Config, LossRecovery};
use crate::congestion::{Cause, Timeout};
use crate::segment::Segment;
use crate::sender::{Phase, Sender, fact};
use crate::seq::{at_or_before, before, span};
use crate::todo;

pub(super) fn on_ack(tx: &mut Sender, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let advanced = span(tx.snd_una, ack);
    if advanced == 0 {
        if seg.len == 0 && before(ack, tx.snd_nxt) {
            on_duplicate(tx, cfg, now);
        }
        return;
    }
    tx.sample(cfg, now, seg, ack);
    if cfg.loss_recovery == LossRecovery::Ns3v23 {
        advance_23(tx, cfg, now, ack, advanced);
    } else {
        advance_26(tx, cfg, now, ack, advanced);
    }
}

fn on_duplicate(tx: &mut Sender, cfg: &Config, now: Time) {
    let mss = cfg.segment();
    let old = cfg.loss_recovery == LossRecovery::Ns3v23;
    tx.dup_acks = tx.dup_acks.saturating_add(1);
    if tx.phase == Phase::Recovery {
        let controller = tx.congestion.controller(cfg);
        controller.on_recovery(controller.window().saturating_add(mss));
        return;
    }
    if tx.phase == Phase::Loss && !old {
        return;
    }
    let third = tx.dup_acks == u32::from(cfg.dup_ack_threshold);
    let allowed = old || !tx.is(fact::GUARD) || at_or_before(tx.recover, tx.snd_una);
    if third && allowed {
        let flight = flight(tx, cfg, 0);
        tx.recover = tx.snd_max;
        tx.set(fact::GUARD);
        let controller = tx.congestion.controller(cfg);
        controller.on_congestion_event(cfg, Cause::Loss, flight);
        let inflated = u32::from(cfg.dup_ack_threshold).saturating_mul(mss);
        controller.on_recovery(controller.ssthresh().saturating_add(inflated));
        tx.phase = Phase::Recovery;
        tx.recoveries += 1;
        force_head(tx, cfg, now);
    } else {
        if tx.phase == Phase::Open {
            tx.phase = Phase::Disorder;
        }
        if cfg.limited_transmit && tx.dup_acks < u32::from(cfg.dup_ack_threshold) {
            tx.loss.get_or_insert_default().force(0, 0);
            tx.todo |= todo::FORCED;
        }
    }
}

/// The flight size as each version computes it; `repeated` segments were retransmitted.
fn flight(tx: &Sender, cfg: &Config, repeated: u32) -> u32 {
    if cfg.loss_recovery == LossRecovery::Ns3v23 {
        return span(tx.snd_una, tx.snd_max);
    }
    let gone = tx.dup_acks.saturating_sub(repeated).saturating_mul(cfg.segment());
    tx.used().saturating_sub(gone)
}

/// Sends the first segment, whatever the window allows.
fn force_head(tx: &mut Sender, cfg: &Config, now: Time) {
    let (una, max) = (tx.snd_una, tx.snd_max);
    let len = span(una, max).min(cfg.segment());
    if len == 0 {
        return;
    }
    tx.loss.get_or_insert_default().force(una, len);
    tx.todo |= todo::FORCED;
    // No samples from ACKs that may answer a retransmission.
    let end = una.wrapping_add(len);
    if !tx.is(fact::HOLD_RTT) || before(tx.hold, end) {
        tx.hold = end;
    }
    tx.set(fact::HOLD_RTT);
    if before(tx.snd_nxt, end) {
        tx.snd_nxt = end;
    }
    if tx.timer_at == Time::MAX {
        tx.start_timer(cfg, now);
    }
}

/// RFC 6582, section 3.2, step 3, a full ACK: the window at the end of recovery.
fn deflate(tx: &mut Sender, cfg: &Config, flight: u32) {
    let controller = tx.congestion.controller(cfg);
    controller.on_recovery(controller.ssthresh().min(flight.saturating_add(cfg.segment())));
}

fn advance_23(tx: &mut Sender, cfg: &Config, now: Time, ack: u32, advanced: u32) {
    let mss = cfg.segment();
    tx.dup_acks = 0;
    if tx.phase == Phase::Recovery && before(ack, tx.recover) {
        let controller = tx.congestion.controller(cfg);
        controller.on_recovery(controller.window().saturating_add(mss).saturating_sub(advanced));
        tx.advance(cfg, ack, advanced);
        force_head(tx, cfg, now);
        tx.start_timer(cfg, now);
        return;
    }
    if tx.phase == Phase::Recovery {
        let flight = span(tx.snd_una, tx.snd_max);
        deflate(tx, cfg, flight);
    }
    tx.phase = Phase::Open;
    tx.clear(fact::GUARD);
    tx.advance(cfg, ack, advanced);
    // Any ACK that advances counts as one segment.
    tx.grow(cfg, now, ack, mss);
    tx.start_timer(cfg, now);
}

fn advance_26(tx: &mut Sender, cfg: &Config, now: Time, ack: u32, advanced: u32) {
    let mss = cfg.segment();
    let bytes = tx.whole_segments(cfg, advanced);
    if tx.phase == Phase::Recovery && before(ack, tx.recover) {
        let controller = tx.congestion.controller(cfg);
        let again = if bytes >= mss { mss } else { 0 };
        controller.on_recovery(controller.window().saturating_sub(advanced).saturating_add(again));
        tx.dup_acks = tx.dup_acks.saturating_sub(bytes / mss);
        tx.advance(cfg, ack, advanced);
        force_head(tx, cfg, now);
        if !tx.is(fact::PARTIAL_SEEN) {
            tx.set(fact::PARTIAL_SEEN);
            tx.start_timer(cfg, now);
        }
        return;
    }
    let past = span(tx.recover, ack);
    match tx.phase {
        Phase::Recovery => {
            let flight = flight(tx, cfg, 1);
            deflate(tx, cfg, flight);
            tx.dup_acks = 0;
            tx.clear(fact::PARTIAL_SEEN | fact::GUARD);
            tx.phase = Phase::Open;
            tx.advance(cfg, ack, advanced);
            tx.grow(cfg, now, ack, past / mss * mss);
        }
        Phase::Loss => {
            tx.dup_acks = 0;
            tx.advance(cfg, ack, advanced);
            tx.grow(cfg, now, ack, bytes);
            // An ACK that equals `recover` does not end it.
            if before(tx.recover, ack) || tx.snd_una == tx.snd_max {
                tx.phase = Phase::Open;
                tx.clear(fact::PARTIAL_SEEN | fact::GUARD);
            }
        }
        _ => {
            tx.dup_acks = 0;
            tx.phase = Phase::Open;
            if at_or_before(tx.recover, ack) {
                tx.clear(fact::GUARD);
            }
            tx.advance(cfg, ack, advanced);
            tx.grow(cfg, now, ack, bytes);
        }
    }
    tx.start_timer(cfg, now);
}

pub(super) fn on_timeout(tx: &mut Sender, cfg: &Config, now: Time) {
    let repeated = u32::from(tx.phase == Phase::Recovery);
    let flight = flight(tx, cfg, repeated);
    let old = cfg.loss_recovery == LossRecovery::Ns3v23;
    if old || tx.phase != Phase::Loss {
        let timeout = Timeout { now, flight, high: tx.snd_max, again: false, window: cfg.segment() };
        tx.congestion.controller(cfg).on_timeout(cfg, &timeout);
    }
    if old {
        tx.phase = Phase::Open;
    } else {
        tx.phase = Phase::Loss;
        tx.dup_acks = 0;
        tx.recover = tx.snd_max;
        tx.set(fact::GUARD);
    }
    tx.snd_nxt = tx.snd_una;
    tx.clear(fact::PARTIAL_SEEN);
    force_head(tx, cfg, now);
}
