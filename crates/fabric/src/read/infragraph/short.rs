//! [`Short`]: a `one2one` edge with fewer endpoints at one end, which leaves others without a link.

use std::collections::BTreeSet;

use super::document::{Edge, Scheme};
use super::domains::Groups;
use super::endpoint::Spot;
use super::table::Fault;
use crate::{Role, visible};

/// A `one2one` edge with more endpoints at one end.
pub(super) struct Short<'y> {
    pub edge: &'y Edge<'y>,
    /// The keys of the longer and the shorter end.
    keys: [&'static str; 2],
    /// The endpoints of the longer end.
    pub all: Vec<Spot>,
    /// How many of them it joins.
    pub joined: usize,
}

impl<'y> Short<'y> {
    /// The edge, unless both ends have as many endpoints or each is joined with each.
    pub fn of(edge: &'y Edge<'y>, a: &[Spot], b: &[Spot]) -> Option<Self> {
        let (keys, all, joined) = match a.len() > b.len() {
            true => (["ep1", "ep2"], a, b.len()),
            false => (["ep2", "ep1"], b, a.len()),
        };
        let is_short = edge.scheme == Scheme::OneToOne && joined < all.len();
        is_short.then(|| Self { edge, keys, all: all.to_vec(), joined })
    }

    /// The nodes that it joins to nothing.
    fn left(&self, node_of: &impl Fn(Spot) -> Option<u32>) -> BTreeSet<u32> {
        let nodes = |spots: &[Spot]| spots.iter().filter_map(|spot| node_of(*spot)).collect();
        let (joined, left) = self.all.split_at(self.joined);
        let (joined, left): (BTreeSet<u32>, BTreeSet<u32>) = (nodes(joined), nodes(left));
        &left - &joined
    }

    fn fault(&self, node: &str, why: &str) -> Fault {
        let ([long, short], all, joined) = (self.keys, self.all.len(), self.joined);
        let why = format!(
            "`one2one` joins {joined} of the {all} endpoints of `{long}`, as `{short}` has no more: `{}` gets no link \
             of this edge, and {why}: select {all} endpoints in `{short}`, or fewer in `{long}`",
            visible(node)
        );
        Fault::said(self.edge.byte, &self.edge.element, why)
    }
}

/// Rejects edges of `list` that leave a host without a link of the network, or hosts without a path between them. `all` are the
/// names and roles of all nodes, `network` the nodes of each of its links, `domains` the members of each scale-up domain.
pub(super) fn check(
    list: &[Short<'_>],
    node_of: impl Fn(Spot) -> Option<u32>,
    all: &[(&str, Role)],
    network: &[[u32; 2]],
    domains: &[Vec<u32>],
) -> Result<(), Fault> {
    if list.is_empty() {
        return Ok(());
    }
    let is_host = |node: u32| all[node as usize].1 == Role::Host;
    let name = |node: u32| all[node as usize].0;
    let linked: BTreeSet<u32> = network.iter().flatten().copied().collect();
    let mut groups = Groups::new(all.len());
    network.iter().for_each(|ends| groups.join(*ends));
    for pair in domains.iter().flat_map(|members| members.windows(2)) {
        groups.join([pair[0], pair[1]]);
    }
    let mut hosts = (0..all.len() as u32).filter(|node| is_host(*node));
    let first = hosts.next();
    let apart = first.and_then(|first| {
        let of = groups.of(first);
        hosts.find(|host| groups.of(*host) != of).map(|other| [first, other])
    });
    for short in list {
        let left = short.left(&node_of);
        if let Some(host) = left.iter().find(|node| is_host(**node) && !linked.contains(node)) {
            return Err(short.fault(name(*host), "has none of another"));
        }
        if let (Some(node), Some([a, b])) = (left.first(), apart) {
            let why =
                format!("there is no path between hosts `{}` and `{}`", visible(name(a)), visible(name(b)));
            return Err(short.fault(name(*node), &why));
        }
    }
    Ok(())
}
