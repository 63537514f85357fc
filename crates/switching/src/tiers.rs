//! Fabrics of tiers, in which every link leads up or down.

use weft_fabric::Fabric;
use weft_units::NodeId;

use crate::edge_switches::EdgeSwitches;
use crate::spec::{Contradiction, SchemeError};

/// Direction of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Host,
    Down,
    Up,
}

impl Way {
    /// The direction of the link from `node` to `to`.
    pub(crate) fn new(fabric: &Fabric, node: NodeId, to: NodeId) -> Self {
        let (this, other) = (fabric.node(node), fabric.node(to));
        match other.is_host() {
            true => Self::Host,
            false if other.tier < this.tier => Self::Down,
            false => Self::Up,
        }
    }
}

/// The ToR switches of the fabric of scheme `name`.
///
/// # Errors
/// [`SchemeError::Fabric`] if the fabric does not consist of tiers.
pub(crate) fn tor_switches(name: &'static str, fabric: &Fabric) -> Result<EdgeSwitches, SchemeError> {
    below_all(fabric).map_err(|reason| SchemeError::Fabric { name, reason })
}

/// Why scheme `name` does not run on a fabric, if it does not consist of tiers.
pub(crate) fn misfit(name: &'static str, fabric: &Fabric) -> Option<Contradiction> {
    let expected = "tiers of switches, with all hosts below the lowest";
    Some(Contradiction::of_fabric(name, below_all(fabric).err()?, expected))
}

/// The ToR switches; or the reason why probes cannot go up and down.
fn below_all(fabric: &Fabric) -> Result<EdgeSwitches, String> {
    let tors = EdgeSwitches::new(fabric)?;
    for node in fabric.switches() {
        for link in fabric.ports(node).iter().map(|id| fabric.link(*id)) {
            let (this, other) = (fabric.node(node), fabric.node(link.to));
            if !other.is_host() && this.tier == other.tier {
                return Err(format!("`{}` and `{}` of one tier are connected", this.name, other.name));
            }
            if !other.is_host() && this.tier > other.tier && tors.number(node).is_some() {
                return Err(format!("`{}` has hosts and is above `{}`", this.name, other.name));
            }
        }
    }
    Ok(tors)
}
