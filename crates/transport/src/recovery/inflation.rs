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

use super::{Endpoint, Phase};
use crate::config::{Config, LossRecovery};
use crate::congestion::{Cause, Controller, Timeout};
use crate::endpoint::{fact, todo};
use crate::segment::Segment;
use crate::seq::{at_or_before, before, span};

pub(super) fn on_ack(ep: &mut Endpoint, cfg: &Config, now: Time, seg: &Segment, ack: u32) {
    let advanced = span(ep.snd_una, ack);
    if advanced == 0 {
        if seg.len == 0 && before(ack, ep.snd_nxt) {
            on_duplicate(ep, cfg, now);
        }
        return;
    }
    ep.sample(cfg, now, seg, ack);
    if cfg.loss_recovery == LossRecovery::Ns3v23 {
        advance_23(ep, cfg, now, ack, advanced);
    } else {
        advance_26(ep, cfg, now, ack, advanced);
    }
}

fn on_duplicate(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let mss = cfg.segment();
    let old = cfg.loss_recovery == LossRecovery::Ns3v23;
    ep.dup_acks = ep.dup_acks.saturating_add(1);
    if ep.phase == Phase::Recovery {
        let controller = ep.congestion.controller(cfg);
        controller.on_recovery(controller.window().saturating_add(mss));
        return;
    }
    if ep.phase == Phase::Loss && !old {
        return;
    }
    let third = ep.dup_acks == u32::from(cfg.dup_ack_threshold);
    let allowed = old || !ep.is(fact::GUARD) || at_or_before(ep.recover, ep.snd_una);
    if third && allowed {
        let flight = flight(ep, cfg, 0);
        ep.recover = ep.snd_max;
        ep.set(fact::GUARD);
        let controller = ep.congestion.controller(cfg);
        controller.on_congestion_event(cfg, Cause::Loss, flight);
        let inflated = u32::from(cfg.dup_ack_threshold).saturating_mul(mss);
        controller.on_recovery(controller.ssthresh().saturating_add(inflated));
        ep.phase = Phase::Recovery;
        ep.stats.fast_recoveries += 1;
        force_head(ep, cfg, now);
    } else {
        if ep.phase == Phase::Open {
            ep.phase = Phase::Disorder;
        }
        if cfg.limited_transmit && ep.dup_acks < u32::from(cfg.dup_ack_threshold) {
            ep.loss.get_or_insert_default().force(0, 0);
            ep.todo |= todo::FORCED;
        }
    }
}

/// The flight size as each version computes it; `repeated` segments were retransmitted.
fn flight(ep: &Endpoint, cfg: &Config, repeated: u32) -> u32 {
    if cfg.loss_recovery == LossRecovery::Ns3v23 {
        return span(ep.snd_una, ep.snd_max);
    }
    let gone = ep.dup_acks.saturating_sub(repeated).saturating_mul(cfg.segment());
    span(ep.snd_una, ep.snd_nxt).saturating_sub(gone)
}

/// Sends the first segment, whatever the window allows.
fn force_head(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let (una, max) = (ep.snd_una, ep.snd_max);
    let len = span(una, max).min(cfg.segment());
    if len == 0 {
        return;
    }
    ep.loss.get_or_insert_default().force(una, len);
    ep.todo |= todo::FORCED;
    // No samples from ACKs that may answer a retransmission.
    let end = una.wrapping_add(len);
    if !ep.is(fact::HOLD_RTT) || before(ep.hold, end) {
        ep.hold = end;
    }
    ep.set(fact::HOLD_RTT);
    if before(ep.snd_nxt, end) {
        ep.snd_nxt = end;
    }
    if ep.send_timer_at == Time::MAX {
        ep.start_timer(cfg, now);
    }
}

fn grow(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32, bytes: u32) {
    let event = ep.ack_event(now, bytes, ack);
    ep.congestion.controller(cfg).on_ack(cfg, &event);
}

/// RFC 6582, section 3.2, step 3, a full ACK: the window at the end of recovery.
fn deflate(ep: &mut Endpoint, cfg: &Config, flight: u32) {
    let controller = ep.congestion.controller(cfg);
    controller.on_recovery(controller.ssthresh().min(flight.saturating_add(cfg.segment())));
}

fn advance_23(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32, advanced: u32) {
    let mss = cfg.segment();
    ep.dup_acks = 0;
    if ep.phase == Phase::Recovery && before(ack, ep.recover) {
        let controller = ep.congestion.controller(cfg);
        controller.on_recovery(controller.window().saturating_add(mss).saturating_sub(advanced));
        ep.advance(cfg, ack, advanced);
        force_head(ep, cfg, now);
        ep.start_timer(cfg, now);
        return;
    }
    if ep.phase == Phase::Recovery {
        let flight = span(ep.snd_una, ep.snd_max);
        deflate(ep, cfg, flight);
    }
    ep.phase = Phase::Open;
    ep.clear(fact::GUARD);
    ep.advance(cfg, ack, advanced);
    // Any ACK that advances counts as one segment.
    grow(ep, cfg, now, ack, mss);
    ep.start_timer(cfg, now);
}

fn advance_26(ep: &mut Endpoint, cfg: &Config, now: Time, ack: u32, advanced: u32) {
    let mss = cfg.segment();
    let bytes = ep.whole_segments(cfg, advanced);
    if ep.phase == Phase::Recovery && before(ack, ep.recover) {
        let controller = ep.congestion.controller(cfg);
        let again = if bytes >= mss { mss } else { 0 };
        controller.on_recovery(controller.window().saturating_sub(advanced).saturating_add(again));
        ep.dup_acks = ep.dup_acks.saturating_sub(bytes / mss);
        ep.advance(cfg, ack, advanced);
        force_head(ep, cfg, now);
        if !ep.is(fact::PARTIAL_SEEN) {
            ep.set(fact::PARTIAL_SEEN);
            ep.start_timer(cfg, now);
        }
        return;
    }
    let past = span(ep.recover, ack);
    match ep.phase {
        Phase::Recovery => {
            let flight = flight(ep, cfg, 1);
            deflate(ep, cfg, flight);
            ep.dup_acks = 0;
            ep.clear(fact::PARTIAL_SEEN | fact::GUARD);
            ep.phase = Phase::Open;
            ep.advance(cfg, ack, advanced);
            grow(ep, cfg, now, ack, past / mss * mss);
        }
        Phase::Loss => {
            ep.dup_acks = 0;
            ep.advance(cfg, ack, advanced);
            grow(ep, cfg, now, ack, bytes);
            // An ACK that equals `recover` does not end it.
            if before(ep.recover, ack) || ep.snd_una == ep.snd_max {
                ep.phase = Phase::Open;
                ep.clear(fact::PARTIAL_SEEN | fact::GUARD);
            }
        }
        _ => {
            ep.dup_acks = 0;
            ep.phase = Phase::Open;
            if at_or_before(ep.recover, ack) {
                ep.clear(fact::GUARD);
            }
            ep.advance(cfg, ack, advanced);
            grow(ep, cfg, now, ack, bytes);
        }
    }
    ep.start_timer(cfg, now);
}

pub(super) fn on_timeout(ep: &mut Endpoint, cfg: &Config, now: Time) {
    let repeated = u32::from(ep.phase == Phase::Recovery);
    let flight = flight(ep, cfg, repeated);
    let old = cfg.loss_recovery == LossRecovery::Ns3v23;
    if old || ep.phase != Phase::Loss {
        let timeout = Timeout { now, flight, high: ep.snd_max, again: false, window: cfg.segment() };
        ep.congestion.controller(cfg).on_timeout(cfg, &timeout);
    }
    if old {
        ep.phase = Phase::Open;
    } else {
        ep.phase = Phase::Loss;
        ep.dup_acks = 0;
        ep.recover = ep.snd_max;
        ep.set(fact::GUARD);
    }
    ep.snd_nxt = ep.snd_una;
    ep.clear(fact::PARTIAL_SEEN);
    force_head(ep, cfg, now);
}
