//! Recovery from a timeout according to the RFCs, with F-RTO (RFC 5682).

use weft_units::Time;

use super::ack_info::AckInfo;
use super::loss::Frto;
use super::{rack, undo};
use crate::config::Config;
use crate::congestion::Timeout;
use crate::sender::{Phase, Sender, fact};
use crate::sent_segment::SACKED;
use crate::seq::{at_or_before, before};
use crate::tick::Tick;

/// The retransmission timeout expired with data outstanding (RFC 6298, section 5).
pub(super) fn on_timeout(tx: &mut Sender, cfg: &Config, now: Time) {
    let flight = tx.used();
    let repeated = tx.retries > 1;
    // Linux (`tcp_enter_loss`): once per window of data.
    let first = at_or_before(tx.recover, tx.snd_una)
        || match tx.phase {
            Phase::Open | Phase::Disorder => true,
            Phase::Recovery | Phase::Reduced => false,
            Phase::Loss => !repeated,
        };
    let window = *tx.congestion.controller(cfg).state();
    let una = tx.snd_una;
    // RFC 5682, sections 3.1, step 1, and 3.2.
    let has_frto = cfg.frto && (repeated || !matches!(tx.phase, Phase::Recovery | Phase::Loss));
    let srtt = tx.rtt.srtt().ps();
    let phase = tx.phase;
    let loss = tx.split(cfg, now);
    if loss.sent.head_flags() & SACKED != 0 || !cfg.sack {
        loss.sent.forget_sacks();
    }
    if cfg.rack && loss.rack.latest.is_some() {
        let patience = rack::patience(loss, phase, cfg, srtt);
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
    let timeout = Timeout { now, flight, high: tx.snd_max, again: !first, window };
    tx.congestion.controller(cfg).on_timeout(cfg, &timeout);
    tx.phase = Phase::Loss;
    tx.recover = tx.snd_nxt;
    tx.set(fact::GUARD);
    tx.dup_acks = 0;
}

/// Recovery from a timeout, as in Linux (`tcp_process_loss`). It was spurious if the original of a retransmitted segment
/// arrives (RFC 4015), or, with F-RTO, if data arrives that was never retransmitted (RFC 5682, section 3.1).
pub(super) fn in_loss(tx: &mut Sender, cfg: &Config, ack: u32, info: &AckInfo) {
    let done = at_or_before(tx.recover, ack);
    if info.advanced > 0 && undo::try_undo(tx, cfg, info.original) {
        undo::forget_losses(tx);
        tx.leave_recovery();
        return;
    }
    // Step 3.b.
    let recover = tx.recover;
    let untouched = info.news.lowest_original.is_some_and(|start| before(start, recover));
    if untouched && tx.loss.as_ref().is_some_and(|loss| loss.frto != Frto::Off) {
        undo::restore(tx, cfg);
        undo::forget_losses(tx);
        tx.leave_recovery();
        return;
    }
    if sends_new_data(tx, cfg, info, done) {
        return;
    }
    if done {
        rack::spend_patience(tx);
        tx.leave_recovery();
        return;
    }
    let outstanding = before(tx.snd_una, tx.snd_nxt);
    if let Some(loss) = &mut tx.loss
        && !cfg.sack
        && info.advanced > 0
        && outstanding
        && loss.frto == Frto::Off
        && loss.sent.lost() == 0
    {
        loss.sent.lose_head();
    }
}

/// F-RTO's next step (RFC 5682, section 3.1). Returns whether new data goes before lost data.
fn sends_new_data(tx: &mut Sender, cfg: &Config, info: &AckInfo, done: bool) -> bool {
    let len = tx.next_len(cfg);
    let has_new = len > 0 && tx.room() >= len;
    let (una_moves, nxt) = (info.advanced > 0, tx.snd_nxt);
    let Some(loss) = &mut tx.loss else { return false };
    if loss.frto == Frto::Off {
        return false;
    }
    if before(tx.recover, nxt) {
        // Step 3.a: the loss was real. Without a sign, lost data goes first again.
        let real = info.duplicate || info.news.sacked > 0;
        loss.frto = if real { Frto::Off } else { Frto::Head };
        return false;
    }
    if una_moves && !done {
        // Step 2.b: the head arrived; new data finds out more.
        tx.recover = nxt;
        loss.frto = if has_new { Frto::New } else { Frto::Off };
        return has_new;
    }
    false
}
