//! Placement of large flows on paths by Global First Fit (Al-Fares et al., "Hedera: dynamic flow scheduling for data center
//! networks", NSDI 2010, section 4.3.1).

use weft_units::LinkId;

/// A large flow.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The number of its destination host.
    pub(super) destination: usize,
    /// Rate in bits per second.
    pub(super) rate: f64,
    /// Its possible paths, at least one, in a fixed order.
    pub(super) paths: Vec<Vec<LinkId>>,
    /// The path that it has.
    pub(super) placed: Option<usize>,
}

/// The excess that rounding can cause, relative to a capacity.
pub(super) const TOLERANCE: f64 = 1e-9;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
