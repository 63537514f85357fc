//! [`Shares`]: the number of neighbour discovery rules that each port takes part in, and how many of them with each
//! other port.
//!
//! Hosts can trigger each other's requests: a packet from an address makes its receiver resolve it. So such a rule counts
//! at both ports, whichever side sent the request, and no port can use more than a fraction of another port's limit.

use rustc_hash::FxHashMap;

/// The rules of one pair of ports may take up 1/`PART` of the limit that the port's rules with other ports leave
/// free.
const PART: u32 = 4;

/// The number of rules at each port and between each pair of ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    by_port: FxHashMap<u32, u32>,
    /// The lower port first.
    by_pair: FxHashMap<[u32; 2], u32>,
}

impl Shares {
    /// Whether two ports may have `more` rules between them, with a limit of `most` per port. A pair without rules gets its
    /// first ones as long as both ports have any room.
    pub fn has_room(&self, ports: [u32; 2], more: u32, most: u32) -> bool {
        let own = self.by_pair.get(&pair(ports)).copied().unwrap_or(0);
        ports.iter().all(|port| {
            let all = self.by_port.get(port).copied().unwrap_or(0);
            let left = most.saturating_sub(all - own);
            all + more <= most && (own == 0 || own + more <= left / PART)
        })
    }

    /// Counts one more rule between two different ports.
    pub fn add(&mut self, ports: [u32; 2]) {
        *self.by_pair.entry(pair(ports)).or_default() += 1;
        for port in ports {
            *self.by_port.entry(port).or_default() += 1;
        }
    }

    /// Counts one rule less.
    pub fn remove(&mut self, ports: [u32; 2]) {
        take_one(&mut self.by_pair, pair(ports));
        for port in ports {
            take_one(&mut self.by_port, port);
        }
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.by_port.capacity() * 9 + self.by_pair.capacity() * 13
    }
}

fn pair([one, other]: [u32; 2]) -> [u32; 2] {
    [one.min(other), one.max(other)]
}

/// Decrements a count and removes it at zero.
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

    /// Adds rules between two ports, two at a time, up to the limit; returns how many.
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
        assert_eq!(fill(&mut shares, [1, 1000], 400), 74, "other ports keep their own share");
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
