//! [`Pairs`]: the sources and destinations of flows.

use rand_core::RngCore;
use thiserror::Error;
use weft_units::{HostId, plural};

use crate::demand::Demand;
use crate::places::Places;
use crate::random::{below, shuffle, unit};

/// How the two ends of a flow are chosen.
#[derive(Clone, PartialEq, Debug)]
pub enum Pairs {
    /// Two hosts of different racks.
    InterLeaf,
    /// Two different hosts.
    Random,
    /// Every host sends to one other host and receives from one, drawn once.
    Permutation,
    /// At every arrival, `fan_in` different hosts send to one host.
    Incast {
        /// The number of simultaneous senders.
        fan_in: u32,
        /// The receiver; drawn for every arrival if `None`.
        receiver: Option<HostId>,
    },
    /// Every host to every other.
    AllToAll,
    /// Within the rack with probability `share`, otherwise to another rack.
    RackLocal {
        /// The probability, in [0, 1].
        share: f64,
    },
    /// These pairs.
    Listed(Vec<(HostId, HostId)>),
}

/// Why no pairs can be chosen.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum PairsError {
    /// Fewer hosts than a flow needs.
    #[error("a flow needs two hosts; the fabric has {0}")]
    TooFewHosts(usize),
    /// Only one rack has hosts.
    #[error("pairs between racks need hosts in two racks; all {0} hosts share one")]
    OneRack(usize),
    /// A share of rack-local flows where a rack has a single host.
    #[error("rack-local flows need two hosts in every rack; rack `{0}` has one")]
    LoneHost(String),
    /// A share that is not a probability.
    #[error("the share of rack-local flows is {0}; expected a number from 0 to 1")]
    Share(f64),
    /// More senders than there are hosts.
    #[error(
        "{} cannot send to one host: it has only {} to receive from; expected {}", plural(*fan_in, "host"),
        plural(*others as u64, "other"), match others { 1 => "1".to_owned(), _ => format!("1 to {others}") }
    )]
    FanIn {
        /// The requested number.
        fan_in: u32,
        /// The number of other hosts.
        others: usize,
    },
    /// An empty list of pairs.
    #[error("the list of pairs is empty")]
    NoPairs,
    /// A flow from a host to itself.
    #[error("a flow from `{0}` to itself; expected two different hosts")]
    Self_(String),
    /// A host that the fabric does not have.
    #[error("there is no host {0} in the fabric")]
    UnknownHost(HostId),
}

/// The state of drawing one group's pairs.
#[derive(Debug)]
pub(crate) struct Pattern<'a> {
    places: &'a Places,
    pairs: &'a Pairs,
    /// The pairs of a permutation or a list.
    table: Vec<(HostId, HostId)>,
    /// Takes pairs in turn instead of drawing them, if the pattern has an order.
    in_turn: bool,
    next: u64,
}

impl Pairs {
    /// Checks the pattern against the hosts and makes one-time draws. With `in_turn`, a pattern with
    /// an order (permutation, all-to-all, list) is walked instead of drawn from.
    pub(crate) fn pattern<'a>(
        &'a self,
        places: &'a Places,
        in_turn: bool,
        rng: &mut impl RngCore,
    ) -> Result<Pattern<'a>, PairsError> {
        let hosts = places.len();
        if hosts < 2 {
            return Err(PairsError::TooFewHosts(hosts));
        }
        let two_racks = || match places.outside(HostId(0)) {
            0 => Err(PairsError::OneRack(hosts)),
            _ => Ok(()),
        };
        let mut table = Vec::new();
        match self {
            Self::InterLeaf => two_racks()?,
            Self::Random | Self::AllToAll => {}
            Self::Permutation => table = permutation(hosts as u32, rng),
            Self::Incast { fan_in, receiver } => {
                if *fan_in == 0 || *fan_in as usize >= hosts {
                    return Err(PairsError::FanIn { fan_in: *fan_in, others: hosts - 1 });
                }
                if let Some(host) = receiver.filter(|host| host.index() >= hosts) {
                    return Err(PairsError::UnknownHost(host));
                }
            }
            Self::RackLocal { share } => {
                if !(0.0..=1.0).contains(share) {
                    return Err(PairsError::Share(*share));
                }
                if *share < 1.0 {
                    two_racks()?;
                }
                let lone = places.racks().iter().find(|rack| rack.hosts.len() == 1);
                if let Some(rack) = lone.filter(|_| *share > 0.0) {
                    return Err(PairsError::LoneHost(rack.name.clone()));
                }
            }
            Self::Listed(list) => {
                if list.is_empty() {
                    return Err(PairsError::NoPairs);
                }
                for &(src, dst) in list {
                    if let Some(host) = [src, dst].into_iter().find(|host| host.index() >= hosts) {
                        return Err(PairsError::UnknownHost(host));
                    }
                    if src == dst {
                        return Err(PairsError::Self_(places.name(src).to_owned()));
                    }
                }
                table.clone_from(list);
            }
        }
        Ok(Pattern { places, pairs: self, table, in_turn, next: 0 })
    }
}

/// A random derangement of the hosts.
fn permutation(hosts: u32, rng: &mut impl RngCore) -> Vec<(HostId, HostId)> {
    let mut to: Vec<u32> = (0..hosts).collect();
    loop {
        shuffle(rng, &mut to);
        if to.iter().zip(0..).all(|(to, from)| *to != from) {
            return to.iter().zip(0..).map(|(to, from)| (HostId(from), HostId(*to))).collect();
        }
    }
}

impl Pattern<'_> {
    /// The number of flows per arrival.
    pub(crate) fn batch(&self) -> u64 {
        match self.pairs {
            Pairs::Incast { fan_in, .. } => u64::from(*fan_in),
            _ => 1,
        }
    }

    /// The number of arrivals that go through the pattern once; `None` if it has no end.
    pub(crate) fn round(&self) -> Option<u64> {
        let hosts = self.places.len() as u64;
        match self.pairs {
            Pairs::InterLeaf | Pairs::Random | Pairs::RackLocal { .. } => None,
            Pairs::Incast { .. } => Some(1),
            Pairs::AllToAll => Some(hosts * (hosts - 1)),
            Pairs::Permutation | Pairs::Listed(_) => Some(self.table.len() as u64),
        }
    }

    /// Writes the pairs of the next arrival into `out`.
    pub(crate) fn arrival(&mut self, rng: &mut impl RngCore, out: &mut Vec<(HostId, HostId)>) {
        let hosts = self.places.len() as u64;
        out.clear();
        let mut turn = |rng: &mut _, of: u64| {
            if !self.in_turn {
                return below(rng, of);
            }
            let at = self.next % of;
            self.next += 1;
            at
        };
        match self.pairs {
            Pairs::InterLeaf => out.push(self.to_another_rack(rng)),
            Pairs::Random => out.push(two_of(rng, hosts)),
            Pairs::Permutation | Pairs::Listed(_) => {
                out.push(self.table[turn(rng, self.table.len() as u64) as usize]);
            }
            Pairs::AllToAll => {
                let at = turn(rng, hosts * (hosts - 1));
                let (round, src) = (at / hosts, at % hosts);
                out.push((HostId(src as u32), HostId(((src + 1 + round) % hosts) as u32)));
            }
            Pairs::Incast { fan_in, receiver } => {
                let receiver = receiver.unwrap_or_else(|| HostId(below(rng, hosts) as u32));
                several_others(rng, hosts as u32, receiver, *fan_in, out);
            }
            Pairs::RackLocal { share } => {
                if unit(rng) < *share {
                    let src = HostId(below(rng, hosts) as u32);
                    let rack = &self.places.racks()[self.places.rack_of(src)].hosts;
                    let other = rack[below(rng, rack.len() as u64 - 1) as usize];
                    let last = rack[rack.len() - 1];
                    out.push((src, if other == src { last } else { other }));
                } else {
                    out.push(self.to_another_rack(rng));
                }
            }
        }
    }

    fn to_another_rack(&self, rng: &mut impl RngCore) -> (HostId, HostId) {
        let src = HostId(below(rng, self.places.len() as u64) as u32);
        (src, self.places.nth_outside(src, below(rng, self.places.outside(src))))
    }

    /// The share of flows that every host sends and receives, and that leaves every rack.
    pub(crate) fn demand(&self) -> Demand {
        match self.pairs {
            Pairs::Random | Pairs::AllToAll | Pairs::Incast { receiver: None, .. } => {
                Demand::random(self.places)
            }
            Pairs::InterLeaf => Demand::rack_local(self.places, 0.0),
            Pairs::RackLocal { share } => Demand::rack_local(self.places, *share),
            Pairs::Permutation | Pairs::Listed(_) => Demand::of_pairs(self.places, &self.table),
            Pairs::Incast { receiver: Some(receiver), .. } => {
                let others = (0..self.places.len() as u32).map(HostId).filter(|host| host != receiver);
                Demand::of_pairs(self.places, &others.map(|host| (host, *receiver)).collect::<Vec<_>>())
            }
        }
    }
}

/// Two different hosts of `hosts`.
fn two_of(rng: &mut impl RngCore, hosts: u64) -> (HostId, HostId) {
    let src = below(rng, hosts);
    let dst = below(rng, hosts - 1);
    (HostId(src as u32), HostId((dst + u64::from(dst >= src)) as u32))
}

/// `count` different senders to `receiver`, in random order (Floyd's sampling, then a shuffle).
fn several_others(
    rng: &mut impl RngCore,
    hosts: u32,
    receiver: HostId,
    count: u32,
    out: &mut Vec<(HostId, HostId)>,
) {
    let others = hosts - 1;
    let mut taken: Vec<u32> = Vec::with_capacity(count as usize);
    for limit in others - count..others {
        let drawn = below(rng, u64::from(limit) + 1) as u32;
        match taken.binary_search(&drawn) {
            Err(place) => taken.insert(place, drawn),
            Ok(_) => taken.push(limit),
        }
    }
    shuffle(rng, &mut taken);
    out.extend(taken.iter().map(|&other| (HostId(other + u32::from(other >= receiver.0)), receiver)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::tests::spine_leaf;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn draw(pairs: &Pairs, places: &Places, in_turn: bool, arrivals: u64, seed: u64) -> Vec<(u32, u32)> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut pattern = pairs.pattern(places, in_turn, &mut rng).unwrap();
        let mut batch = Vec::new();
        let mut all = Vec::new();
        for _ in 0..arrivals {
            pattern.arrival(&mut rng, &mut batch);
            assert_eq!(batch.len() as u64, pattern.batch());
            all.extend(batch.iter().map(|(src, dst)| (src.0, dst.0)));
        }
        all
    }

    proptest! {
        #[test]
        fn a_permutation_sends_from_every_host_once_and_to_every_host_once(hosts in 2..60_u32, seed: u64) {
            let places = spine_leaf(1, hosts, 1);
            let drawn = draw(&Pairs::Permutation, &places, true, u64::from(hosts), seed);
            let mut from: Vec<u32> = drawn.iter().map(|pair| pair.0).collect();
            let mut to: Vec<u32> = drawn.iter().map(|pair| pair.1).collect();
            from.sort_unstable();
            to.sort_unstable();
            prop_assert!(drawn.iter().all(|(src, dst)| src != dst));
            prop_assert_eq!(&from, &(0..hosts).collect::<Vec<_>>());
            prop_assert_eq!(from, to);
        }

        #[test]
        fn no_pattern_sends_to_itself_or_outside(leaves in 2..5_u32, hosts in 2..5_u32, seed: u64, share in 0.0..1.0) {
            let places = spine_leaf(1, leaves, hosts);
            let total = leaves * hosts;
            for pairs in [
                Pairs::InterLeaf,
                Pairs::Random,
                Pairs::AllToAll,
                Pairs::RackLocal { share },
                Pairs::Incast { fan_in: total - 1, receiver: None },
                Pairs::Incast { fan_in: 2, receiver: Some(HostId(1)) },
            ] {
                for (src, dst) in draw(&pairs, &places, false, 50, seed) {
                    prop_assert!(src != dst && src < total && dst < total, "{pairs:?}");
                    prop_assert!(pairs != Pairs::InterLeaf || src / hosts != dst / hosts);
                }
            }
        }
    }

    #[test]
    fn all_to_all_in_turn_sends_every_pair_once() {
        let places = spine_leaf(1, 2, 3);
        let mut drawn = draw(&Pairs::AllToAll, &places, true, 30, 1);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 30);
    }

    #[test]
    fn an_incast_has_different_senders_each_equally_often() {
        let places = spine_leaf(1, 2, 4);
        let pairs = Pairs::Incast { fan_in: 3, receiver: Some(HostId(2)) };
        let drawn = draw(&pairs, &places, false, 7_000, 1);
        let mut counts = [0; 8];
        for batch in drawn.chunks(3) {
            assert!(batch[0].0 != batch[1].0 && batch[1].0 != batch[2].0 && batch[0].0 != batch[2].0);
            batch.iter().for_each(|pair| counts[pair.0 as usize] += 1);
        }
        assert_eq!(counts[2], 0);
        assert!(
            counts.iter().enumerate().all(|(host, &n)| host == 2 || (2_850..3_150).contains(&n)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_demand_foretells_what_is_drawn() {
        let places = Places::new(
            (0..7).map(|id| (format!("h{id}"), weft_units::Rate::from_gbps(1))).collect(),
            [0..2, 2..7]
                .into_iter()
                .map(|hosts| crate::Rack {
                    name: String::new(),
                    hosts: hosts.map(HostId).collect(),
                    uplinks: weft_units::Rate::from_gbps(1),
                    uplinks_up: weft_units::Rate::from_gbps(1),
                })
                .collect(),
        );
        for pairs in [
            Pairs::InterLeaf,
            Pairs::Random,
            Pairs::AllToAll,
            Pairs::Permutation,
            Pairs::RackLocal { share: 0.3 },
            Pairs::Incast { fan_in: 3, receiver: None },
            Pairs::Incast { fan_in: 3, receiver: Some(HostId(3)) },
            Pairs::Listed(vec![(HostId(0), HostId(6)), (HostId(1), HostId(0))]),
        ] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
            let expected = pairs.pattern(&places, false, &mut rng).unwrap().demand();
            let drawn = draw(&pairs, &places, false, 30_000, 9);
            let found = Demand::of_pairs(
                &places,
                &drawn.iter().map(|&(src, dst)| (HostId(src), HostId(dst))).collect::<Vec<_>>(),
            );
            for (expected, found) in [
                (&expected.sent, &found.sent),
                (&expected.received, &found.received),
                (&expected.leaving, &found.leaving),
            ] {
                for (expected, found) in expected.iter().zip(found) {
                    assert!((expected - found).abs() < 0.012, "{pairs:?}: {expected} {found}");
                }
            }
            let racks = places.racks().len();
            for (from, to) in (0..racks * racks).map(|pair| (pair / racks, pair % racks)) {
                let [expected, found] = [&expected, &found].map(|demand| demand.from_to(&places, from, to));
                assert!((expected - found).abs() < 0.012, "{pairs:?}, {from} to {to}: {expected} {found}");
            }
        }
    }
}
