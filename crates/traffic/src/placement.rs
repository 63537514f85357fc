//! [`Ranks`]: the hosts on which the ranks of a collective or a trace run.

use rand_core::RngCore;
use weft_units::{HostId, plural, words};

use crate::places::Places;
use crate::random::shuffle;
use crate::words::there_are;

words! {
    /// The order in which ranks are placed on hosts.
    pub enum Placement {
        /// All hosts of a rack before the next rack; of a scale-up domain, if there are any.
        Rack = "rack",
        /// The first host of every rack or domain, then the second ones.
        Striped = "striped",
        /// As [`Rack`](Self::Rack), every second rack or domain from its last host to its first: so a ring changes domains along
        /// a rail.
        Snake = "snake",
        /// Drawn at random.
        Random = "random",
    }
}

/// Hosts for ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ranks {
    /// This many, placed in this order after so many hosts that are left to others; all further hosts if `None`.
    Placed(Option<u64>, Placement, u64),
    /// These.
    Listed(Vec<HostId>),
}

impl Ranks {
    /// The number of ranks, in a fabric of so many hosts.
    pub fn count(&self, hosts: u64) -> u64 {
        match self {
            Self::Placed(count, _, skip) => count.unwrap_or(hosts.saturating_sub(*skip)),
            Self::Listed(hosts) => hosts.len() as u64,
        }
    }

    /// Checks that a trace of `count` ranks has all that are asked for.
    ///
    /// # Errors
    /// It has fewer.
    pub(crate) fn check_trace(&self, count: u64) -> Result<(), String> {
        let (given, fewer) = match self {
            Self::Placed(Some(asked), ..) if *asked > count => {
                (format!("is {asked}"), format!("set `ranks` to {count}"))
            }
            Self::Listed(hosts) if hosts.len() as u64 > count => {
                let listed = plural(hosts.len() as u64, "host");
                (format!("lists {listed}"), format!("list {}", plural(count, "host")))
            }
            _ => return Ok(()),
        };
        Err(format!("`ranks` {given}, but the trace has {}; {fewer}, or remove it", plural(count, "rank")))
    }

    /// The number of hosts to skip, if it leaves fewer than two of so many.
    pub(crate) const fn skips_too_many(&self, hosts: u64) -> Option<u64> {
        match self {
            Self::Placed(.., skip) if *skip > 0 && hosts.saturating_sub(*skip) < 2 => Some(*skip),
            _ => None,
        }
    }

    /// The host of each of `count` ranks.
    ///
    /// # Errors
    /// A rank without a host, or two ranks on one host.
    pub fn hosts(&self, count: u64, places: &Places, rng: &mut impl RngCore) -> Result<Vec<HostId>, String> {
        let skipped = if let Self::Placed(_, _, skip) = self { (*skip).min(places.len() as u64) } else { 0 };
        let given = self.count(places.len() as u64).min(places.len() as u64 - skipped);
        if count > given {
            let hosts = match self {
                Self::Listed(_) => format!("`ranks` lists {}", plural(given, "host")),
                Self::Placed(Some(asked), ..) if *asked <= given => format!("`ranks` is {asked}"),
                Self::Placed(..) if skipped > 0 => {
                    format!("the fabric has {} after the {skipped} to skip", plural(given, "host"))
                }
                Self::Placed(..) => format!("the fabric has {}", plural(given, "host")),
            };
            return Err(format!("rank {given} has no host: {}, and {hosts}", there_are(count, "rank")));
        }
        let mut hosts = match self {
            Self::Listed(hosts) => hosts.clone(),
            Self::Placed(_, placement, _) => placement.order(places, rng).split_off(skipped as usize),
        };
        hosts.truncate(count as usize);
        let mut sorted = hosts.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("`{}` has two ranks; expected one per host", places.name(pair[0]))),
            None => Ok(hosts),
        }
    }
}

impl Placement {
    /// All hosts in this order.
    fn order(self, places: &Places, rng: &mut impl RngCore) -> Vec<HostId> {
        let domains = places.domains();
        let racks = || {
            let racks =
                places.racks().iter().filter(|_| domains.is_empty()).map(|rack| rack.hosts.as_slice());
            domains.iter().map(Vec::as_slice).chain(racks)
        };
        let mut hosts: Vec<HostId> = racks().flatten().copied().collect();
        match self {
            Self::Rack => {}
            Self::Snake => {
                let turned = |(number, rack): (usize, &[HostId])| {
                    let mut rack = rack.to_vec();
                    if number % 2 == 1 {
                        rack.reverse();
                    }
                    rack
                };
                hosts = racks().enumerate().flat_map(turned).collect();
            }
            Self::Striped => {
                let most = racks().map(<[_]>::len).max().unwrap_or(0);
                hosts =
                    (0..most).flat_map(|at| racks().filter_map(move |rack| rack.get(at))).copied().collect();
            }
            Self::Random => shuffle(rng, &mut hosts),
        }
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::tests::spine_leaf;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn hosts(ranks: &Ranks, count: u64) -> Result<Vec<u32>, String> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let hosts = ranks.hosts(count, &spine_leaf(2, 3, 2), &mut rng)?;
        Ok(hosts.into_iter().map(|host| host.0).collect())
    }

    #[test]
    fn ranks_are_placed_rack_by_rack_across_racks_or_at_random() {
        let placed = |placement| hosts(&Ranks::Placed(None, placement, 0), 5).unwrap();
        assert_eq!(placed(Placement::Rack), [0, 1, 2, 3, 4]);
        assert_eq!(placed(Placement::Striped), [0, 2, 4, 1, 3]);
        assert_eq!(placed(Placement::Snake), [0, 1, 3, 2, 4]);
        let mut random = hosts(&Ranks::Placed(None, Placement::Random, 0), 6).unwrap();
        assert_ne!(random, [0, 1, 2, 3, 4, 5]);
        random.sort_unstable();
        assert_eq!(random, [0, 1, 2, 3, 4, 5]);
        assert_eq!(hosts(&Ranks::Listed(vec![HostId(4), HostId(1)]), 2).unwrap(), [4, 1]);
    }

    #[test]
    fn a_rank_without_a_host_of_its_own_is_refused() {
        for (ranks, count, message) in [
            (
                Ranks::Placed(None, Placement::Rack, 0),
                7,
                "rank 6 has no host: there are 7 ranks, and the fabric has 6 hosts",
            ),
            (
                Ranks::Placed(Some(9), Placement::Random, 0),
                9,
                "rank 6 has no host: there are 9 ranks, and the fabric has 6 hosts",
            ),
            (
                Ranks::Placed(Some(2), Placement::Rack, 0),
                3,
                "rank 2 has no host: there are 3 ranks, and `ranks` is 2",
            ),
            (
                Ranks::Listed(vec![HostId(0)]),
                2,
                "rank 1 has no host: there are 2 ranks, and `ranks` lists 1 host",
            ),
            (Ranks::Listed(vec![HostId(4); 2]), 2, "`h4` has two ranks; expected one per host"),
        ] {
            assert_eq!(hosts(&ranks, count), Err(message.to_owned()));
        }
    }
}
