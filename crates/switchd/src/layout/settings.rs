//! [`Settings`] from the configuration of an exploration.

use weft_switching::exploration::{
    Announce, Exploration, FloodOrder, OnMiss, OnUnknown, Scope, Snoop, WhileBroken,
};
use weft_switching::tfe::Classifier;
use weft_wire::TagWidth;

use super::{NEVER, Settings, ns};

impl Settings {
    /// The settings of `config`, with the EtherTypes of docs/wire-format.md.
    pub fn new(config: &Exploration) -> Self {
        let [rate_gap, rate_slack] = bucket(config.rate, config.burst);
        let [flood_gap, flood_slack] = bucket(config.flood_rate, config.flood_burst);
        let [station_gap, station_slack] = bucket(config.station_rate, config.station_burst);
        Self {
            lock: ns(config.lock),
            learnt: ns(config.learnt),
            attached: ns(config.attached),
            broadcast_lock: ns(config.safeguards.broadcast_lock),
            repair: ns(config.safeguards.repair),
            confirmed: ns(config.confirmed),
            closing: ns(config.closing),
            refresh_after: ns(config.refresh_after),
            rate_gap,
            rate_slack,
            flood_gap,
            flood_slack,
            station_gap,
            station_slack,
            hello_type: 0xff70,
            path_type: 0xffaf,
            hops: config.safeguards.hops,
            valley_free: (config.scope == Scope::ValleyFree).into(),
            fixed_order: (config.order == FloodOrder::Fixed).into(),
            recovers: (config.on_miss == OnMiss::Recover).into(),
            detours: (config.while_broken == WhileBroken::Detour).into(),
            down_bits: TagWidth::Narrow.down_bits() as u8,
            tag_type: TagWidth::Narrow.ethertype().0,
            floods_unknown: (config.on_unknown == OnUnknown::Flood).into(),
            snoops: (config.safeguards.snooping == Snoop::On).into(),
            membership: ns(config.safeguards.membership),
            announces: (config.announce == Announce::On).into(),
            ..Self::default()
        }
    }

    /// These settings with the classifier of elephants, mode `tfe`.
    #[must_use]
    pub fn classifying(self, classifier: &Classifier) -> Self {
        match *classifier {
            Classifier::Ports(first_port, last_port) => Self { classifier: 0, first_port, last_port, ..self },
            Classifier::Dscp(dscp) => Self { classifier: 1, dscp, ..self },
            Classifier::Auto(bytes) => Self { classifier: 2, elephant_bytes: bytes.0, ..self },
        }
    }
}

/// A token bucket of `burst` tokens that gains `rate` a second, in ns: the time per token, and the size of the bucket.
fn bucket(rate: u64, burst: u64) -> [u64; 2] {
    let never = NEVER / 4 / burst.max(1);
    let gap = 1_000_000_000_u64.checked_div(rate).unwrap_or(never);
    [gap, gap.saturating_mul(burst.max(1)).min(NEVER / 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_that_gains_nothing_holds_its_whole_burst() {
        for burst in [1, 5, 1_000] {
            let [gap, slack] = bucket(0, burst);
            assert_eq!(slack / gap, burst);
            assert!(gap > 3_600 * 1_000_000_000);
        }
    }
}
