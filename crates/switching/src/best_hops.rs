//! [`BestHops`]: the least utilised next hop of a switch to each ToR switch (Katta et al., "HULA: scalable load balancing
//! using programmable data planes", SOSR 2016, section 4.2).

use weft_units::{Duration, PortId, Time};

/// The best next hop to one switch.
#[derive(Clone, Copy)]
struct Best {
    port: PortId,
    /// The highest utilisation on the path.
    level: u8,
    /// When a probe confirmed it; [`Time::MAX`]: never.
    at: Time,
}

/// The best next hops of one switch, by number of the ToR switch.
pub(crate) struct BestHops {
    best: Vec<Best>,
    aging: Duration,
}

impl BestHops {
    /// Creates an empty table for `count` ToR switches; an entry is valid for `aging` after the last probe that
    /// confirmed it.
    pub(crate) fn new(count: usize, aging: Duration) -> Self {
        Self { best: vec![Best { port: PortId(0), level: 0, at: Time::MAX }; count], aging }
    }

    fn is_recent(&self, best: &Best, now: Time) -> bool {
        best.at < Time::MAX && now.saturating_since(best.at) < self.aging
    }

    /// A probe of switch `tor` arrived on `port`, and the path by which it came has this utilisation. Returns whether it
    /// sets the entry: the path is better than the known one, is the known one, or the known one has aged.
    pub(crate) fn probed(&mut self, tor: u16, port: PortId, level: u8, now: Time) -> bool {
        let Some(best) = self.best.get(usize::from(tor)) else { return false };
        let is_set = level < best.level || port == best.port || !self.is_recent(best, now);
        if is_set {
            self.best[usize::from(tor)] = Best { port, level, at: now };
        }
        is_set
    }

    /// The best next hop to switch `tor`; `None` without a recent probe.
    #[inline]
    pub(crate) fn to(&self, tor: u16, now: Time) -> Option<PortId> {
        let best = self.best.get(usize::from(tor))?;
        self.is_recent(best, now).then_some(best.port)
    }

    /// Entries that count.
    pub(crate) fn len(&self, now: Time) -> usize {
        self.best.iter().filter(|best| self.is_recent(best, now)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn a_better_path_the_known_path_and_any_path_after_aging_set_the_entry() {
        let mut hops = BestHops::new(2, Duration::from_us(600));
        assert_eq!(hops.to(1, at(0)), None);
        for (us, port, level, is_set, best) in [
            (0, 3, 100, true, 3),
            (1, 4, 100, false, 3),
            (2, 5, 99, true, 5),
            (3, 5, 180, true, 5),
            (4, 3, 150, true, 3),
            (603, 4, 200, false, 3),
            (604, 4, 200, true, 4),
        ] {
            assert_eq!(hops.probed(1, PortId(port), level, at(us)), is_set, "at {us} us");
            assert_eq!(hops.to(1, at(us)), Some(PortId(best)), "at {us} us");
        }
        assert_eq!((hops.len(at(604)), hops.to(0, at(604)), hops.to(1, at(1_204))), (1, None, None));
        assert!(!hops.probed(2, PortId(0), 0, at(0)), "no such switch");
    }
}
