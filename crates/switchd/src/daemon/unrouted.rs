//! Leaves without a route, and which of them the log has named: each lost leaf is named, however few messages the log's
//! limit admits.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// How long the first route to a leaf may take, in ns: a routing daemon that has just started converges within 5 to 10 s.
const GRACE: u64 = 15_000_000_000;
/// Leaves named by one message at most; the next one names others.
const MOST: usize = 16;

/// A leaf.
#[derive(Clone, Copy, Debug)]
struct Seen {
    is_reached: bool,
    /// Since when it is without its first route, while that is no reason for a warning.
    awaited_since: Option<u64>,
    /// Whether it has lost its route since the log last named it.
    is_unnamed: bool,
    /// Whether it has no route according to the log.
    is_named: bool,
}

/// All leaves.
#[derive(Debug, Default)]
pub struct Unrouted(BTreeMap<IpAddr, Seen>);

impl Unrouted {
    /// Notes at `now` which leaves have a route; the others are not configured any more.
    pub fn note(&mut self, leaves: impl Iterator<Item = (IpAddr, bool)>, now: u64) {
        let mut before = std::mem::take(&mut self.0);
        for (address, is_reached) in leaves {
            let new = Seen { is_reached, awaited_since: Some(now), is_unnamed: false, is_named: false };
            let mut seen = before.remove(&address).unwrap_or(new);
            let is_lost = match seen.awaited_since {
                Some(since) => !is_reached && now >= since + GRACE,
                None => !is_reached && seen.is_reached,
            };
            if is_reached || is_lost {
                seen.awaited_since = None;
            }
            seen.is_reached = is_reached;
            seen.is_unnamed |= is_lost && !seen.is_named;
            self.0.insert(address, seen);
        }
    }

    /// Whether a leaf that was lost is to be named.
    pub fn has_unnamed(&self) -> bool {
        self.0.values().any(|seen| seen.is_unnamed)
    }

    /// Names leaves that were lost: those that still are, and those that have a route again.
    pub fn name_lost(&mut self) -> (Vec<IpAddr>, Vec<IpAddr>) {
        let (mut lost, mut back) = (Vec::new(), Vec::new());
        for (address, seen) in self.0.iter_mut().filter(|(_, seen)| seen.is_unnamed).take(MOST) {
            (seen.is_unnamed, seen.is_named) = (false, !seen.is_reached);
            let names = if seen.is_reached { &mut back } else { &mut lost };
            names.push(*address);
        }
        (lost, back)
    }

    /// Whether a leaf that was named has a route again.
    pub fn has_found(&self) -> bool {
        self.0.values().any(|seen| seen.is_named && seen.is_reached)
    }

    /// Names leaves that have a route again.
    pub fn name_found(&mut self) -> Vec<IpAddr> {
        let found = self.0.iter_mut().filter(|(_, seen)| seen.is_named && seen.is_reached);
        let name = |(address, seen): (&IpAddr, &mut Seen)| {
            seen.is_named = false;
            *address
        };
        found.take(MOST).map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn leaf(number: u8) -> IpAddr {
        IpAddr::from([10, 1, 0, number])
    }

    /// The leaves 1, 2, ... have a route or not.
    fn note(leaves: &mut Unrouted, reached: &[bool], second: u64) {
        let all = (1..).zip(reached).map(|(number, is_reached)| (leaf(number), *is_reached));
        leaves.note(all, second * SECOND);
    }

    #[test]
    fn the_first_route_may_take_a_while_and_a_leaf_that_stays_without_one_is_named() {
        let mut leaves = Unrouted::default();
        note(&mut leaves, &[false, false], 0);
        note(&mut leaves, &[false, true], 14);
        assert!(!leaves.has_unnamed());
        note(&mut leaves, &[false, true], 15);
        assert_eq!(leaves.name_lost(), (vec![leaf(1)], vec![]));
        note(&mut leaves, &[false, false], 16);
        assert_eq!(leaves.name_lost(), (vec![leaf(2)], vec![]), "it has had a route");
        note(&mut leaves, &[false, false], 60);
        assert!(!leaves.has_unnamed(), "once");
    }

    #[test]
    fn each_leaf_that_is_lost_while_the_log_is_silent_is_named_later() {
        let mut leaves = Unrouted::default();
        note(&mut leaves, &[true, true, true], 0);
        note(&mut leaves, &[false, true, true], 1);
        note(&mut leaves, &[false, false, true], 2);
        note(&mut leaves, &[true, false, false], 3);
        assert!(!leaves.has_found(), "the log has not said that it was lost");
        assert_eq!(leaves.name_lost(), (vec![leaf(2), leaf(3)], vec![leaf(1)]));
        note(&mut leaves, &[true, true, false], 4);
        note(&mut leaves, &[true, false, false], 5);
        assert!(!leaves.has_unnamed() && !leaves.has_found(), "as the log says");
        note(&mut leaves, &[true, true, true], 6);
        assert_eq!(leaves.name_found(), [leaf(2), leaf(3)]);
        assert!(!leaves.has_found());
    }

    #[test]
    fn a_thousand_leaves_take_several_messages_and_those_that_are_removed_none() {
        let mut leaves = Unrouted::default();
        let all =
            |count: u16| (0..count).map(|number| IpAddr::from([10, 1, (number >> 8) as u8, number as u8]));
        leaves.note(all(1000).map(|address| (address, true)), 0);
        leaves.note(all(1000).map(|address| (address, false)), 1);
        assert_eq!(leaves.name_lost().0.len(), MOST);
        leaves.note(all(20).map(|address| (address, false)), 2);
        assert_eq!(leaves.name_lost().0, all(20).skip(MOST).collect::<Vec<_>>());
        assert!(!leaves.has_unnamed());
    }
}
