//! Simulated annealing (Al-Fares et al., "Hedera: dynamic flow scheduling for data center networks", NSDI 2010,
//! section 4.3.2).

use rand_core::RngCore;

use super::paths::Pods;
use super::placement::{Demand, TOLERANCE};
use crate::hash::pick;
use crate::streams::Stream;

/// Iterations, and the first temperature.
const ITERATIONS: u32 = 1_000;
/// The paper's constant c per degree of the first temperature: for its testbed of 16 hosts, and for larger networks.
const C: [f64; 2] = [0.5, 1_000.0];
const TESTBED: usize = 16;

/// The core switch over which each host receives its large flows: a state of the search, and the start of the next.
pub(super) struct Annealing {
    pods: Pods,
    /// Pod and edge switch of each host; `None` without an edge switch.
    places: Vec<Option<[usize; 2]>>,
    /// The core number of each host.
    cores: Vec<usize>,
}

impl Annealing {
    /// All hosts of a pod have different cores, and those of an edge switch different aggregation switches, as far as there
    /// are so many.
    pub(super) fn new(pods: Pods, hosts: usize) -> Self {
        let (mut cores, mut places) = (vec![0; hosts], vec![None; hosts]);
        let per_aggregation = (pods.cores / pods.aggregations).max(1);
        for (pod, edges) in pods.hosts.iter().enumerate() {
            for (edge, of_edge) in edges.iter().enumerate() {
                for (position, host) in of_edge.iter().enumerate() {
                    places[*host] = Some([pod, edge]);
                    cores[*host] = (position * per_aggregation + edge) % pods.cores;
                }
            }
        }
        Self { pods, places, cores }
    }

    /// The path of a flow: that over the core of its destination, or within a pod over the core's aggregation switch.
    fn path_of(&self, flow: &Demand) -> usize {
        self.cores[flow.destination] * flow.paths.len() / self.pods.cores
    }

    /// Searches for the state with the least energy: the sum of the excesses of the demands over the links' capacities, in
    /// units of `nic`, the rate of a host's link. Keeps the best that was found.
    pub(super) fn place(
        &mut self,
        flows: &[Demand],
        capacities: &[f64],
        nic: f64,
        random: &mut Stream,
    ) -> Vec<Option<usize>> {
        let mut loads = vec![0.0; capacities.len()];
        let mut energy = |state: &Self| {
            loads.fill(0.0);
            for flow in flows {
                flow.paths[state.path_of(flow)].iter().for_each(|link| loads[link.index()] += flow.rate);
            }
            let excess = loads.iter().zip(capacities).map(|(load, capacity)| (load - capacity).max(0.0));
            excess.sum::<f64>() / nic
        };
        let mut receivers: Vec<usize> = flows.iter().map(|flow| flow.destination).collect();
        receivers.sort_unstable();
        receivers.dedup();
        let c = C[usize::from(self.cores.len() > TESTBED)] * f64::from(ITERATIONS);
        let mut now = energy(self);
        let (mut best, mut least) = (self.cores.clone(), now);
        for temperature in (1..=ITERATIONS).rev() {
            if least <= TOLERANCE {
                break;
            }
            let host = receivers[pick(random.next_u64(), receivers.len())];
            let before = self.change(&self.neighbour(host, random));
            let next = energy(self);
            let drawn = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            // The platform's exponential function would differ from machine to machine.
            if next < now || drawn < libm::exp(c * (now - next) / f64::from(temperature)) {
                now = next;
            } else {
                self.change(&before);
            }
            if now < least {
                (best, least) = (self.cores.clone(), now);
            }
        }
        self.cores = best;
        flows.iter().map(|flow| Some(self.path_of(flow))).collect()
    }

    /// New cores of hosts of one pod, by one of the paper's three rules: two hosts swap; two edge switches swap with all
    /// their hosts; two hosts swap that receive over the same edge or aggregation switch. `host` is one of them. In a pod
    /// with fewer hosts than cores, it may also take a free core.
    fn neighbour(&self, host: usize, random: &mut Stream) -> Vec<(usize, usize)> {
        let Some([pod, edge]) = self.places[host] else { return Vec::new() };
        let edges = &self.pods.hosts[pod];
        let (rule, drawn) = (pick(random.next_u64(), 6), random.next_u64());
        let one_of = |cores: Vec<usize>| {
            let core = cores.get(pick(drawn, cores.len()))?;
            let holders = edges.iter().flatten().filter(|other| self.cores[**other] == *core);
            let holders: Vec<usize> = holders.copied().collect();
            let holder = holders.get(pick(drawn.rotate_left(32), holders.len()));
            Some([Some((host, *core)), holder.map(|holder| (*holder, self.cores[host]))])
        };
        let others = || (0..self.pods.cores).filter(|core| *core != self.cores[host]);
        let swap = match rule {
            0 | 1 => one_of(others().collect()),
            2 | 3 => {
                let second = (edge + 1 + pick(drawn, edges.len().saturating_sub(1))) % edges.len();
                let swaps = edges[edge].iter().zip(&edges[second]).filter(|_| second != edge);
                return swaps.flat_map(|(a, b)| [(*a, self.cores[*b]), (*b, self.cores[*a])]).collect();
            }
            4 => {
                let of_edge = edges[edge].iter().map(|other| self.cores[*other]);
                one_of(of_edge.filter(|core| *core != self.cores[host]).collect())
            }
            _ => {
                let aggregation = |core: usize| core * self.pods.aggregations / self.pods.cores;
                let own = aggregation(self.cores[host]);
                one_of(others().filter(|core| aggregation(*core) == own).collect())
            }
        };
        swap.into_iter().flatten().flatten().collect()
    }

    /// Gives hosts new cores; returns those that they had.
    fn change(&mut self, cores: &[(usize, usize)]) -> Vec<(usize, usize)> {
        cores.iter().map(|(host, core)| (*host, std::mem::replace(&mut self.cores[*host], *core))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use weft_fabric::{EqualCost, Fabric, LinkSpec, build};
    use weft_units::{Duration, HostId, LinkId, Rate};

    use super::*;
    use crate::hedera::paths::paths;
    use crate::hedera::placement::first_fit;
    use crate::stream;

    fn link() -> LinkSpec {
        LinkSpec::new(Rate::from_gbps(1), Duration::from_us(1))
    }

    /// Each host sends at full rate to another, drawn by `seed`; flows within a rack are left out.
    fn permutation(fabric: &Fabric, seed: u64) -> Vec<Demand> {
        let routes = EqualCost::compute(fabric);
        let mut random = stream(seed, "permutation", 0);
        let mut to: Vec<usize> = (0..fabric.host_count()).collect();
        for last in (1..to.len()).rev() {
            to.swap(last, pick(random.next_u64(), last + 1));
        }
        let demand = |(from, destination): (usize, &usize)| {
            let hosts = [from as u32, *destination as u32].map(HostId);
            let paths = paths(fabric, &routes, hosts);
            Demand { destination: *destination, rate: 1.0, paths, placed: None }
        };
        to.iter().enumerate().map(demand).filter(|demand| !demand.paths.is_empty()).collect()
    }

    /// The mean share of its rate that a flow gets, if each link divides its capacity among its flows; flows without a
    /// place take a path by hash.
    fn share(flows: &[Demand], places: &[Option<usize>]) -> f64 {
        let path = |(number, (flow, place)): (usize, (&Demand, &Option<usize>))| {
            let hash = crate::hash::mix64(number as u64);
            flow.paths[place.unwrap_or_else(|| pick(hash, flow.paths.len()))].clone()
        };
        let paths: Vec<Vec<LinkId>> = flows.iter().zip(places).enumerate().map(path).collect();
        let mut loads: BTreeMap<LinkId, u32> = BTreeMap::new();
        paths.iter().flatten().for_each(|link| *loads.entry(*link).or_default() += 1);
        let shares =
            paths.iter().map(|path| 1.0 / f64::from(path.iter().map(|link| loads[link]).max().unwrap()));
        shares.sum::<f64>() / flows.len() as f64
    }

    #[test]
    fn annealing_in_pods_places_a_permutation_better_than_first_fit_as_in_the_paper() {
        let fabric = build::fat_tree(8, &link(), &link()).unwrap();
        let capacities = vec![1.0; fabric.links().len()];
        for seed in 1..4 {
            let flows = permutation(&fabric, seed);
            let first = share(&flows, &first_fit(&flows, &capacities));
            let pods = Pods::of(&fabric, &EqualCost::compute(&fabric));
            assert_eq!((pods.hosts.len(), pods.cores, pods.aggregations), (8, 16, 4));
            let mut annealing = Annealing::new(pods, 128);
            let mut random = stream(seed, "hedera", 0);
            let mut rounds = || share(&flows, &annealing.place(&flows, &capacities, 1.0, &mut random));
            let found: Vec<f64> = (0..4).map(|_| rounds()).collect();
            assert!(found[0] > 0.75 && found[3] > 0.88 && found[3] > first, "{first} {found:?}");
            for pod in &annealing.pods.hosts {
                let mut cores: Vec<usize> = pod.iter().flatten().map(|host| annealing.cores[*host]).collect();
                cores.sort_unstable();
                assert_eq!(cores, (0..16).collect::<Vec<_>>(), "each host of a pod keeps a core of its own");
            }
        }
    }

    #[test]
    fn annealing_finds_a_placement_without_excess_on_other_fabrics_and_repeats() {
        for fabric in [
            build::spine_leaf(4, 3, 4, &link(), &link()).unwrap(),
            build::fat_tree(4, &link(), &link()).unwrap(),
            build::ring(4, 1, &link(), &link()).unwrap(),
        ] {
            let capacities = vec![1.0; fabric.links().len()];
            // One host of each rack sends to the rack after the next.
            let racks = fabric.switches().filter(|node| fabric.node(*node).tier == 1).count();
            let per_rack = fabric.host_count() / racks;
            let routes = EqualCost::compute(&fabric);
            let demand = |rack: usize| {
                let (from, to) = (rack * per_rack, (rack + 2) % racks * per_rack);
                let paths = paths(&fabric, &routes, [HostId(from as u32), HostId(to as u32)]);
                Demand { destination: to, rate: 1.0, paths, placed: None }
            };
            let flows: Vec<Demand> = (0..racks.min(3)).map(demand).collect();
            let run = |seed| {
                let mut annealing = Annealing::new(Pods::of(&fabric, &routes), fabric.host_count());
                annealing.place(&flows, &capacities, 1.0, &mut stream(seed, "hedera", 0))
            };
            assert!((share(&flows, &run(1)) - 1.0).abs() < 1e-9, "{}", fabric.name());
            assert_eq!(run(2), run(2));
        }
    }
}
