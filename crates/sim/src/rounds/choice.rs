//! When nodes handle their events in rounds: whether they can, and whether that is faster.

use weft_fabric::{Fabric, Link};
use weft_transport::Framing;
use weft_units::{Duration, TxClock};

/// The longest window: 2^24 ps, the times of which have keys.
pub const LONGEST: Duration = Duration::from_ps(1 << 24);
/// Full packets per link and window from which on rounds are faster.
const ENOUGH: f64 = 2.0;

/// Whether nodes can handle their events in rounds: each link has a delay, and no port depends on others.
pub fn are_possible(fabric: &Fabric) -> bool {
    longest(fabric) > Duration::ZERO && !fabric.uses_pfc() && fabric.buffer().is_none()
}

/// The longest window within which the nodes do not depend on each other: the shortest delay of a link, at most
/// [`LONGEST`].
pub fn longest(fabric: &Fabric) -> Duration {
    fabric.links().iter().map(|link| link.delay).min().unwrap_or(LONGEST).min(LONGEST)
}

/// Whether rounds are faster than the event queue: a link that is always busy carries at least [`ENOUGH`] full packets in a
/// window, on average over the links to switches.
pub fn are_faster(fabric: &Fabric, framing: &Framing) -> bool {
    let to_switches = || fabric.links().iter().filter(|link| !fabric.node(link.to).is_host());
    let window = longest(fabric);
    let packets = |link: &Link| {
        let wire_bytes = link.overhead.wire_bytes(framing.full_packet());
        window.ps() as f64 / TxClock::new(link.rate).tx_time(wire_bytes).ps() as f64
    };
    to_switches().map(packets).sum::<f64>() >= ENOUGH * to_switches().count() as f64
}

#[cfg(test)]
mod tests {
    use weft_fabric::{Limit, LinkSpec, QueueSpec, build};
    use weft_transport::{Config, Protocol};
    use weft_units::Rate;

    use super::*;

    fn fabric(gbps: u64, delay: Duration) -> Fabric {
        let queue = QueueSpec::fifo(Limit::Packets(30));
        let link = LinkSpec::new(Rate::from_gbps(gbps), delay).with_queue(queue);
        build::spine_leaf(2, 2, 2, &link, &link).expect("the sizes are positive")
    }

    #[test]
    fn rounds_are_faster_where_a_link_carries_several_packets_within_its_delay() {
        let framing = Protocol::from(Config::profile("linux").expect("a profile")).framing();
        for (gbps, delay, expected) in [
            (100, Duration::from_us(1), true),
            (10, Duration::from_us(1), false),
            (10, Duration::from_us(10), true),
            (100, Duration::from_ps(10_000), false),
        ] {
            let fabric = fabric(gbps, delay);
            assert!(are_possible(&fabric));
            assert_eq!(are_faster(&fabric, &framing), expected, "{gbps} Gbps, {delay}");
        }
        assert!(!are_possible(&fabric(100, Duration::ZERO)));
        assert_eq!(longest(&fabric(1, Duration::from_secs(1))), LONGEST);
    }
}
