//! Recognises a fat-tree in a fabric.

use super::fat_tree::FatTree;
use super::labels::Layers;
use super::mistake::WiringMistake;
use super::wiring::mistakes;
use super::{GateError, Named};
use crate::Fabric;

impl FatTree {
    /// With more than one mistake in this many cables, the fabric is not considered a fat-tree.
    const TOLERATED: usize = 4;

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
}
