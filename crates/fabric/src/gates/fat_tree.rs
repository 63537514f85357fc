//! [`FatTree`]: the positions of a fabric's switches in a fat-tree.

use weft_units::NodeId;

use super::labels::Layers;
use super::wiring::{WiringMistake, mistakes};
use super::{GateError, Named};
use crate::Fabric;

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
    /// With more than one mistake in this many cables, the fabric is not considered a fat-tree.
    const TOLERATED: usize = 4;

    pub(super) fn new(k: u32, pods: Vec<Pod>, groups: Vec<Vec<NodeId>>) -> Self {
        Self { k, pods, groups }
    }

    /// Recognises a fat-tree in a fabric by its cables, whatever the names and order of switches and cables; tiers
    /// are used if they are those of a fat-tree. Cables that are down are included. With misplaced cables, pods,
    /// names (in natural order) and order determine the intended wiring.
    ///
    /// # Errors
    /// [`GateError::Switches`], [`GateError::Wiring`], [`GateError::Cables`].
    pub fn find(fabric: &Fabric) -> Result<Self, GateError> {
        let switches = fabric.switch_count();
        let k = (2..).step_by(2).take_while(|k| 5 * k * k / 4 <= switches).last().unwrap_or(0);
        if k == 0 || 5 * k * k / 4 != switches {
            return Err(GateError::Switches { switches, below: k.max(2) });
        }
        let layers = Layers::find(fabric, k);
        let (cables, k) = (k * k * k / 2, k as u32);
        let tree = layers.by_order(k);
        let found = mistakes(fabric, &tree);
        if found.is_empty() {
            return Ok(tree);
        }
        let other = layers.by_cables(fabric, k);
        let others = mistakes(fabric, &other);
        if others.is_empty() {
            return Ok(other);
        }
        let mistakes: Vec<WiringMistake> = if others.len() < found.len() { others } else { found };
        Err(if mistakes.len() * Self::TOLERATED > cables {
            GateError::Cables { k, cables, mistakes: Named(mistakes) }
        } else {
            GateError::Wiring { k, mistakes: Named(mistakes) }
        })
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
