//! [`Tree`], the links that carry traffic (IEEE 802.1D, with links of equal cost).

use std::collections::{BTreeSet, VecDeque};

use crate::slab::NONE;
use crate::topology::Topology;

/// A tree over all switches, connected or not; one for each partition of the network.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tree {
    /// Its links.
    cables: BTreeSet<u32>,
    /// For each switch, the next one toward the root of its partition; a root is its own parent.
    parents: Vec<u32>,
    /// For each switch, the link to its parent.
    up: Vec<u32>,
}

impl Tree {
    /// The tree rooted at the switch with the lowest datapath id, with every switch at minimum distance from the root;
    /// ties go to the neighbour with the lowest datapath id, then to that neighbour's lowest port.
    pub fn of(topology: &Topology) -> Self {
        let count = topology.switches.len();
        let mut tree = Self { cables: BTreeSet::new(), parents: vec![NONE; count], up: vec![NONE; count] };
        let mut steps: Vec<Vec<_>> = vec![Vec::new(); count];
        for (cable, ends) in topology.cables() {
            let [a, b] = ends.ends.map(|port| topology.ports[port as usize].switch);
            if a != b {
                for (from, to, port) in [(a, b, ends.ends[0]), (b, a, ends.ends[1])] {
                    let number = topology.ports[port as usize].number;
                    steps[from as usize].push((topology.switches[to as usize].id, number, to, cable));
                }
            }
        }
        // In datapath id order: the first switch to reach another one is its parent.
        for root in topology.known() {
            if tree.parents[root as usize] != NONE {
                continue;
            }
            tree.parents[root as usize] = root;
            let mut level = VecDeque::from([root]);
            while !level.is_empty() {
                let mut next = Vec::new();
                let mut here: Vec<u32> = level.drain(..).collect();
                here.sort_unstable_by_key(|&switch| topology.switches[switch as usize].id);
                for switch in here {
                    steps[switch as usize].sort_unstable_by_key(|&(_, port, _, _)| port);
                    for &(_, _, to, cable) in &steps[switch as usize] {
                        if tree.parents[to as usize] == NONE {
                            tree.parents[to as usize] = switch;
                            tree.up[to as usize] = cable;
                            tree.cables.insert(cable);
                            next.push(to);
                        }
                    }
                }
                level.extend(next);
            }
        }
        tree
    }

    /// Whether a link carries traffic.
    pub fn has(&self, cable: u32) -> bool {
        self.cables.contains(&cable)
    }

    /// The links from one switch to another, each with the switch it leaves; `None` if they are not connected.
    pub fn way(&self, from: u32, to: u32) -> Option<Vec<(u32, u32)>> {
        let climb = |start: u32| {
            let mut line = vec![start];
            let mut at = start;
            while let Some(&parent) = self.parents.get(at as usize)
                && parent != NONE
                && parent != at
            {
                line.push(parent);
                at = parent;
            }
            line
        };
        let (there, back) = (climb(from), climb(to));
        let (meets, down) = there
            .iter()
            .enumerate()
            .find_map(|(step, switch)| Some((step, back.iter().position(|other| other == switch)?)))?;
        let mut way: Vec<(u32, u32)> =
            there[..meets].iter().map(|&switch| (switch, self.up[switch as usize])).collect();
        way.extend(back[..=down].windows(2).rev().map(|pair| (pair[1], self.up[pair[0] as usize])));
        Some(way)
    }
}
