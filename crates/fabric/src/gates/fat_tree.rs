//! [`FatTree`]: the positions of a fabric's switches in a fat-tree.

use weft_units::NodeId;

/// The switches of a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pod {
    /// Its edge switches, k/2.
    pub edges: Vec<NodeId>,
    /// Its aggregation switches, k/2: number i is connected to the cores of group i.
    pub aggregations: Vec<NodeId>,
}

/// A k-ary fat-tree: k pods, and k/2 groups of k/2 cores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FatTree {
    k: u32,
    pods: Vec<Pod>,
    groups: Vec<Vec<NodeId>>,
}

impl FatTree {
    pub(super) fn new(k: u32, pods: Vec<Pod>, groups: Vec<Vec<NodeId>>) -> Self {
        Self { k, pods, groups }
    }

    /// The ports of a switch.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Its pods, k.
    pub fn pods(&self) -> &[Pod] {
        &self.pods
    }

    /// Its cores in k/2 groups of k/2: those of group i are connected to aggregation switch i of every pod.
    pub fn groups(&self) -> &[Vec<NodeId>] {
        &self.groups
    }
}
