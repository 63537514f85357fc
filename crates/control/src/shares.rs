//! [`Shares`]: how many rules for what stations say of their addresses each port has a part in, and how many of those
//! with each other port.
//!
//! Hosts have each other ask: a packet from an address makes its receiver ask for it. So such a rule counts at both
//! ports, whoever of the two has asked, and no port gets more than a part of what another port may have.

use rustc_hash::FxHashMap;

/// Of the rules that a port may have, its rules with one other port may take up one part in so many of those that its
/// rules with the rest leave.
const PART: u32 = 4;

/// How many rules there are, at each port and between each two ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    by_port: FxHashMap<u32, u32>,
    /// The lower port first.
    by_pair: FxHashMap<[u32; 2], u32>,
}

impl Shares {
    /// Whether there may be so many more rules between two ports, where a port has `most` at most. Two ports that have none
    /// get their first ones as long as both have room at all.
    pub fn has_room(&self, ports: [u32; 2], more: u32, most: u32) -> bool {
        let own = self.by_pair.get(&pair(ports)).copied().unwrap_or(0);
        ports.iter().all(|port| {
            let all = self.by_port.get(port).copied().unwrap_or(0);
            let left = most.saturating_sub(all - own);
            all + more <= most && (own == 0 || own + more <= left / PART)
        })
    }

    /// There is one more rule between two ports, which differ.
    pub fn add(&mut self, ports: [u32; 2]) {
        *self.by_pair.entry(pair(ports)).or_default() += 1;
        for port in ports {
            *self.by_port.entry(port).or_default() += 1;
        }
    }

    /// There is one less.
    pub fn remove(&mut self, ports: [u32; 2]) {
        take_one(&mut self.by_pair, pair(ports));
        for port in ports {
            take_one(&mut self.by_port, port);
        }
    }

    /// The bytes that the tables hold.
    pub fn bytes(&self) -> usize {
        self.by_port.capacity() * 9 + self.by_pair.capacity() * 13
    }
}

fn pair([one, other]: [u32; 2]) -> [u32; 2] {
    [one.min(other), one.max(other)]
}

/// Counts one less. Nothing is kept of what has none.
fn take_one<K: Eq + std::hash::Hash>(counts: &mut FxHashMap<K, u32>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ports get as many rules as they may, two at a time; returns how many.
    fn fill(shares: &mut Shares, ports: [u32; 2], most: u32) -> u32 {
        let mut count = 0;
        while shares.has_room(ports, 2, most) {
            shares.add(ports);
            shares.add([ports[1], ports[0]]);
            count += 2;
        }
        count
    }

    #[test]
    fn a_port_leaves_others_three_quarters_of_what_a_port_may_have_and_all_of_it_can_be_used() {
        let mut shares = Shares::default();
        assert_eq!(fill(&mut shares, [1, 0], 400), 100, "a quarter");
        assert_eq!(fill(&mut shares, [0, 2], 400), 74, "a quarter of what is left");
        let rest: u32 = (3..200).map(|port| fill(&mut shares, [0, port], 400)).sum();
        assert_eq!(rest, 400 - 100 - 74);
        assert!(!shares.has_room([0, 1000], 2, 400));
        assert_eq!(fill(&mut shares, [1, 1000], 400), 74, "what others may have among themselves");
    }

    #[test]
    fn what_goes_makes_room_and_leaves_nothing_behind() {
        let mut shares = Shares::default();
        assert_eq!(fill(&mut shares, [1, 2], 40), 10);
        (0..2).for_each(|_| shares.remove([2, 1]));
        assert_eq!(fill(&mut shares, [1, 2], 40), 2);
        (0..10).for_each(|_| shares.remove([2, 1]));
        assert!(shares.by_port.is_empty() && shares.by_pair.is_empty());
    }
}
