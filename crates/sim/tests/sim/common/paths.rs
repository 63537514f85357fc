//! Paths computed independently of the schemes, and the max-min fair shares on them.

use weft_fabric::{EqualCost, Fabric};
use weft_units::{HostId, LinkId};

/// The path of single-path routing: at every hop, the next hop with the lowest node number.
pub fn single_path(fabric: &Fabric, src: u32, dst: u32) -> Vec<LinkId> {
    let routes = EqualCost::compute(fabric);
    let (mut at, end) = (fabric.host_node(HostId(src)), fabric.host_node(HostId(dst)));
    let mut path = Vec::new();
    while at != end {
        let hops = routes.next_hops(at, HostId(dst)).iter();
        let links = hops.map(|port| fabric.ports(at)[port.index()]);
        let link = links.min_by_key(|&link| fabric.link(link).to).expect("a path");
        path.push(link);
        at = fabric.link(link).to;
    }
    path
}

/// The max-min fair rates of flows on `paths` (Bertsekas and Gallager, Data Networks, 6.5.2: raise all
/// rates equally, fix those whose link is full, continue with the rest), in bits per second on the wire.
pub fn max_min(fabric: &Fabric, paths: &[Vec<LinkId>]) -> Vec<f64> {
    let mut left: Vec<f64> = fabric.links().iter().map(|link| link.rate.bps() as f64).collect();
    let mut rates = vec![None; paths.len()];
    while rates.iter().any(Option::is_none) {
        let rising = |link: usize, rates: &[Option<f64>]| {
            let on_link = |path: &[LinkId]| path.iter().any(|id| id.index() == link);
            rates.iter().zip(paths).filter(|(rate, path)| rate.is_none() && on_link(path)).count()
        };
        let counts: Vec<usize> = (0..left.len()).map(|link| rising(link, &rates)).collect();
        let full = (0..left.len()).filter(|&link| counts[link] > 0);
        let full =
            full.min_by(|&a, &b| (left[a] / counts[a] as f64).total_cmp(&(left[b] / counts[b] as f64)));
        let full = full.expect("every flow has a path");
        let share = left[full] / counts[full] as f64;
        for (rate, path) in rates.iter_mut().zip(paths) {
            if rate.is_none() && path.iter().any(|id| id.index() == full) {
                *rate = Some(share);
                path.iter().for_each(|id| left[id.index()] -= share);
            }
        }
    }
    rates.into_iter().flatten().collect()
}
