//! [`Marking`]: which packets a port's queue marks: those that find a threshold reached, or at random as in RED with
//! DCQCN's parameters (Zhu et al., SIGCOMM 2015).

use rand_core::RngCore as _;
use weft_fabric::{CERTAIN, Limit, MarkAt, QueueSpec, RedSpec};
use weft_switching::{Stream, stream};
use weft_units::LinkId;

use crate::room::Room;

/// The rule of one port, with its own random numbers.
pub struct Marking {
    rule: Rule,
    /// When packets are compared with the queue.
    pub at: MarkAt,
}

enum Rule {
    Threshold(Limit),
    Red(RedSpec, Box<Stream>),
}

impl Marking {
    /// The rule of the port of `link`; `None` if it marks nothing.
    pub fn new(spec: &QueueSpec, seed: u64, link: LinkId) -> Option<Self> {
        if let Some(red) = spec.red {
            let random = Box::new(stream(seed, "red", link.0.into()));
            return Some(Self { rule: Rule::Red(red, random), at: red.at });
        }
        spec.ecn_threshold.map(|limit| Self { rule: Rule::Threshold(limit), at: MarkAt::Enqueue })
    }

    /// The length from which a queue may mark.
    pub fn from(&self) -> Room {
        match &self.rule {
            Rule::Threshold(limit) => Room::of(*limit),
            Rule::Red(red, _) => Room::of(match red.kmin {
                Limit::Packets(packets) => Limit::Packets(packets.saturating_add(1)),
                Limit::Bytes(bytes) => Limit::Bytes(bytes.saturating_add(1)),
                Limit::Unlimited => Limit::Unlimited,
            }),
        }
    }

    /// Draws whether a packet gets a mark when this much is queued.
    #[inline(always)]
    pub fn draw_mark(&mut self, bytes: u64, packets: u32) -> bool {
        let queued = |limit: Limit| match limit {
            Limit::Packets(_) => u64::from(packets),
            Limit::Bytes(_) | Limit::Unlimited => bytes,
        };
        match &mut self.rule {
            Rule::Threshold(limit) => queued(*limit) >= limit.count(),
            Rule::Red(red, random) => {
                let (queued, [kmin, kmax]) = (queued(red.kmin), red.thresholds());
                if queued <= kmin || queued > kmax {
                    return queued > kmax;
                }
                let drawn = u128::from(random.next_u32()) * u128::from(CERTAIN) * u128::from(kmax - kmin);
                drawn < (u128::from(red.pmax) * u128::from(queued - kmin)) << 32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of `draws` packets that are marked with this much queued.
    fn share(red: RedSpec, bytes: u64, draws: u32) -> f64 {
        let spec = QueueSpec { red: Some(red), ..QueueSpec::default() };
        let mut marking = Marking::new(&spec, 7, LinkId(3)).unwrap();
        f64::from((0..draws).map(|_| u32::from(marking.draw_mark(bytes, 0))).sum::<u32>()) / f64::from(draws)
    }

    #[test]
    fn the_probability_rises_on_a_line_from_0_at_kmin_to_pmax_at_kmax_and_is_1_above() {
        let red = RedSpec {
            kmin: Limit::Bytes(100_000),
            kmax: Limit::Bytes(400_000),
            pmax: CERTAIN / 5,
            at: MarkAt::Enqueue,
        };
        for (bytes, expected) in [
            (0, 0.0),
            (100_000, 0.0),
            (160_000, 0.04),
            (250_000, 0.1),
            (340_000, 0.16),
            (400_000, 0.2),
            (400_001, 1.0),
            (9_000_000, 1.0),
        ] {
            let found = share(red, bytes, 100_000);
            // Four standard deviations of 100 000 draws.
            let tolerance = 4.0 * (expected * (1.0 - expected) / 1e5_f64).sqrt();
            assert!((found - expected).abs() <= tolerance, "{bytes} bytes: {found} against {expected}");
        }
    }

    #[test]
    fn equal_thresholds_mark_all_above_and_none_else() {
        let limit = Limit::Bytes(5_000);
        let red = RedSpec { kmin: limit, kmax: limit, pmax: CERTAIN, at: MarkAt::Enqueue };
        assert_eq!([4_999, 5_000, 5_001].map(|bytes| share(red, bytes, 100)), [0.0, 0.0, 1.0]);
    }

    /// Whether a queue of this many bytes and packets may mark, as ports ask before they draw.
    fn may(marking: &Marking, bytes: u64, packets: u32) -> bool {
        bytes >= marking.from().bytes || packets >= marking.from().packets
    }

    #[test]
    fn shorter_queues_than_from_mark_nothing_and_thresholds_mark_there() {
        let red = |kmin, kmax| {
            let red = RedSpec { kmin, kmax, pmax: CERTAIN, at: MarkAt::Enqueue };
            QueueSpec { red: Some(red), ..QueueSpec::default() }
        };
        let threshold = |limit| QueueSpec::default().marking(limit);
        // The last length that marks nothing.
        for (spec, last, is_certain) in [
            (threshold(Limit::Bytes(20)), 19, true),
            (threshold(Limit::Packets(20)), 19, true),
            (red(Limit::Bytes(20), Limit::Bytes(20)), 20, true),
            (red(Limit::Packets(20), Limit::Packets(20)), 20, true),
            (red(Limit::Bytes(20), Limit::Bytes(30)), 20, false),
            (red(Limit::Packets(20), Limit::Packets(30)), 20, false),
        ] {
            let mut marking = Marking::new(&spec, 7, LinkId(3)).unwrap();
            let in_bytes = marking.from().packets == u32::MAX;
            let queue = |length: u32| if in_bytes { (length.into(), 1) } else { (1, length) };
            for length in 0..=last {
                let (bytes, packets) = queue(length);
                assert!(!may(&marking, bytes, packets), "{spec:?}: {length}");
                assert!(!marking.draw_mark(bytes, packets), "{spec:?}: {length}");
            }
            let (bytes, packets) = queue(last + 1);
            assert!(may(&marking, bytes, packets), "{spec:?}");
            let drawn = (0..1_000).filter(|_| marking.draw_mark(bytes, packets)).count();
            assert!(
                if is_certain { drawn == 1_000 } else { drawn > 0 && drawn < 1_000 },
                "{spec:?}: {drawn}"
            );
        }
    }
}
