//! Placement of large flows on paths (Al-Fares et al., "Hedera: dynamic flow scheduling for data center networks", NSDI
//! 2010, section 4.3).

use rand_core::RngCore;
use weft_units::LinkId;

use crate::hash::pick;
use crate::streams::Stream;

/// A large flow.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The number of its destination host.
    pub(super) destination: usize,
    /// In bits per second.
    pub(super) rate: f64,
    /// Its possible paths, at least one, in a fixed order.
    pub(super) paths: Vec<Vec<LinkId>>,
    /// The path that it has.
    pub(super) placed: Option<usize>,
}

/// The excess that rounding can cause, relative to a capacity.
const TOLERANCE: f64 = 1e-9;
/// Iterations of simulated annealing, and its first temperature.
const ITERATIONS: u32 = 1_000;
/// The paper's constant c for its testbed, per degree of the first temperature.
const C: f64 = 0.5;

/// Global First Fit: each flow gets the first path on which all links have room for it, and that room is reserved. Flows
/// with a path keep it while it has room, and come first. `capacities` are in bits per second, by link.
pub(super) fn first_fit(flows: &[Demand], capacities: &[f64]) -> Vec<Option<usize>> {
    let mut reserved = vec![0.0; capacities.len()];
    let mut take = |path: &[LinkId], rate: f64| {
        let has_room = |link: &LinkId| {
            let capacity = capacities[link.index()];
            reserved[link.index()] + rate <= capacity * (1.0 + TOLERANCE)
        };
        let fits = path.iter().all(has_room);
        if fits {
            path.iter().for_each(|link| reserved[link.index()] += rate);
        }
        fits
    };
    let mut keep = |flow: &Demand| {
        flow.placed.filter(|place| flow.paths.get(*place).is_some_and(|path| take(path, flow.rate)))
    };
    let mut found: Vec<Option<usize>> = flows.iter().map(&mut keep).collect();
    for (flow, place) in flows.iter().zip(&mut found) {
        if place.is_none() {
            *place = flow.paths.iter().position(|path| take(path, flow.rate));
        }
    }
    found
}

/// Simulated annealing: all flows to one host take paths of one number, in a fat-tree one core, which `numbers` has by
/// host. Two hosts, of which one receives, swap their numbers; the energy is the excess of the demands over the links'
/// capacities in units of `nic`, the rate of a host's link. Changes `numbers` to the best that were found.
pub(super) fn anneal(
    flows: &[Demand],
    capacities: &[f64],
    nic: f64,
    numbers: &mut Vec<u32>,
    random: &mut Stream,
) -> Vec<Option<usize>> {
    let path_of = |flow: &Demand, numbers: &[u32]| numbers[flow.destination] as usize % flow.paths.len();
    let mut loads = vec![0.0; capacities.len()];
    let mut energy = |numbers: &[u32]| {
        loads.fill(0.0);
        for flow in flows {
            flow.paths[path_of(flow, numbers)].iter().for_each(|link| loads[link.index()] += flow.rate);
        }
        let excess = loads.iter().zip(capacities).map(|(load, capacity)| (load - capacity).max(0.0));
        excess.sum::<f64>() / nic
    };
    let mut receivers: Vec<usize> = flows.iter().map(|flow| flow.destination).collect();
    receivers.sort_unstable();
    receivers.dedup();
    let mut now = energy(numbers);
    let (mut best, mut least) = (numbers.clone(), now);
    for temperature in (1..=ITERATIONS).rev() {
        if least <= TOLERANCE {
            break;
        }
        let (a, b) =
            (receivers[pick(random.next_u64(), receivers.len())], pick(random.next_u64(), numbers.len()));
        numbers.swap(a, b);
        let next = energy(numbers);
        let exponent = C * f64::from(ITERATIONS) * (now - next) / f64::from(temperature);
        let drawn = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        // The platform's exponential function would differ from machine to machine.
        if next < now || drawn < libm::exp(exponent) {
            now = next;
        } else {
            numbers.swap(a, b);
        }
        if now < least {
            (best, least) = (numbers.clone(), now);
        }
    }
    numbers.clone_from(&best);
    flows.iter().map(|flow| Some(path_of(flow, &best))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    /// A flow over one of `links`, each a path.
    fn over(destination: usize, rate: f64, links: &[u32], placed: Option<usize>) -> Demand {
        let paths = links.iter().map(|link| vec![LinkId(*link)]).collect();
        Demand { destination, rate, paths, placed }
    }

    #[test]
    fn first_fit_takes_the_first_path_with_room_and_leaves_out_flows_without_one() {
        let flows = [over(0, 0.6, &[0, 1], None), over(1, 0.6, &[0, 1], None), over(2, 0.6, &[0, 1], None)];
        assert_eq!(first_fit(&flows, &[1.0, 1.0]), [Some(0), Some(1), None]);
        let flows =
            [over(0, 0.4, &[0, 1], None), over(1, 0.6, &[0, 1], Some(0)), over(2, 0.6, &[0, 1], Some(7))];
        assert_eq!(first_fit(&flows, &[1.0, 1.0]), [Some(0), Some(0), Some(1)], "a path is kept");
    }

    #[test]
    fn annealing_finds_a_placement_without_excess_and_repeats() {
        let links: Vec<u32> = (0..4).collect();
        let flows: Vec<Demand> = (0..4).map(|host| over(host, 1.0, &links, None)).collect();
        let run = |seed| {
            let mut numbers = vec![0, 0, 0, 0, 0, 1, 2, 3];
            anneal(&flows, &[1.0; 4], 1.0, &mut numbers, &mut stream(seed, "hedera", 0))
        };
        let mut found: Vec<usize> = run(1).into_iter().flatten().collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
        assert_eq!(run(2), run(2));
    }
}
