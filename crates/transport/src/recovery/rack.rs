//! RACK: losses are detected by time (RFC 8985, sections 5 and 6).

use weft_units::{Duration, Time};

use super::loss::Loss;
use crate::config::Config;
use crate::news::News;
use crate::sender::{Phase, Sender, Timer};
use crate::seq::{at_or_before, before, later};
use crate::tick::Tick;

/// Number of recoveries for which the reordering window is kept (RFC 8985, section 6.2, step 4).
pub(super) const PERSISTENCE: u8 = 16;

/// Maximum of the reordering timer.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The round trip and reordering that an ACK shows (RFC 8985, section 6.2, steps 1 to 3).
pub(super) fn take_sample(tx: &mut Sender, now: Time, news: &News) {
    let tick = Tick::at(now);
    let Some(loss) = &mut tx.loss else { return };
    let rack = &mut loss.rack;
    if let (Some(low), Some(highest)) = (news.lowest_original, rack.highest)
        && before(low, highest)
    {
        rack.reordering = true;
    }
    if let Some(high) = news.highest_original {
        rack.highest = Some(rack.highest.map_or(high, |highest| later(highest, high)));
    }
    let Some(latest) = news.latest else { return };
    let newest = tick.since(latest.sent).max(1);
    if rack.least == 0 || newest < rack.least {
        rack.least = newest;
    }
    // Linux (`tcp_rack_advance`): the send time only moves forward, the round-trip time follows every delivery. So a
    // late segment makes RACK wait longer for others.
    rack.rtt = news.rtt;
    if rack.latest.is_none_or(|last| latest.is_after(last)) {
        rack.latest = Some(latest);
    }
}

/// RFC 8985, section 6.2, step 4: a `needless` retransmission, reported as a duplicate, means that the reordering window
/// was too short.
pub(super) fn adapt_patience(tx: &mut Sender, needless: bool) {
    let (una, nxt) = (tx.snd_una, tx.snd_nxt);
    let Some(loss) = &mut tx.loss else { return };
    let rack = &mut loss.rack;
    if rack.dsack_round.is_some_and(|round| at_or_before(round, una)) {
        rack.dsack_round = None;
    }
    if needless && rack.reordering && rack.dsack_round.is_none() {
        rack.dsack_round = Some(nxt);
        rack.patience = rack.patience.saturating_add(1);
        rack.persist = PERSISTENCE;
    }
}

/// The reordering window (RFC 8985, section 6.2, step 4).
pub(super) fn patience(loss: &Loss, phase: Phase, cfg: &Config, srtt: u64) -> u64 {
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

/// Marks segments as lost that were sent long enough before the latest one delivered (RFC 8985, section 6.2, step 5).
pub(super) fn detect(tx: &mut Sender, cfg: &Config, now: Time) {
    let srtt = tx.rtt.srtt().ps();
    let phase = tx.phase;
    let Some(loss) = &mut tx.loss else { return };
    if tx.timer == Timer::Reorder {
        tx.timer_at = Time::MAX;
    }
    let Some(latest) = loss.rack.latest else { return };
    if loss.sent.is_empty() || (loss.sent.sacked() == 0 && loss.sent.retrans() == 0) {
        return;
    }
    let window = patience(loss, phase, cfg, srtt);
    let wait = loss.sent.lose_older(latest, loss.rack.rtt, window, Tick::at(now));
    if let Some(wait) = wait {
        tx.timer = Timer::Reorder;
        tx.timer_at = now + Duration::from_ps(wait).min(LONGEST_WAIT) + cfg.reorder_slack;
    }
}

/// Counts a recovery that was necessary: RACK keeps its reordering window for a number of them (RFC 8985, section 6.2,
/// step 4). A reduction after a mark does not count.
pub(super) fn spend_patience(tx: &mut Sender) {
    let Some(loss) = &mut tx.loss else { return };
    let rack = &mut loss.rack;
    rack.persist = rack.persist.saturating_sub(1);
    if rack.persist == 0 {
        rack.patience = 0;
    }
}
