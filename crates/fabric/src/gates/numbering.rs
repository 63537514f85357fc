//! The enumerations: bottom-up from the servers, top-down from the external links (section III-B).

use weft_units::NodeId;
use weft_wire::TagWidth;

use super::{Direction, FatTree, Gate, GateError, GateFlag, Layer, PortGate, SwitchGates};
use crate::Fabric;

/// Options for numbering gates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Numbering {
    /// The tag width for the numbers.
    pub width: TagWidth,
    /// Number of external links per core with numbers. Default: k/2 as in the paper, or the most on any core if
    /// that is more.
    pub external_places: Option<u32>,
}

/// Spacing of the numbers of servers and of external links, and first number of each enumeration that starts at 0:
/// the paper's.
const STEP: u64 = 2;

/// The kind of a node, and its number within its layer.
#[derive(Clone, Copy)]
enum Place {
    Host,
    Edge(u64),
    Aggregation { pod: u64, group: u64 },
    Core(u64),
}

/// The steps between gates for each layer and direction, and the start of UP numbers; all fit the tag.
struct Steps {
    down: [u64; 3],
    up: [u64; 3],
    /// The base of UP numbers: the first is one step above.
    base: u64,
}

impl Steps {
    fn new(k: u32, places: u32, width: TagWidth) -> Result<Self, GateError> {
        let (half, places_wide) = (u64::from(k) / 2, u64::from(places));
        let down = [STEP, STEP * half, STEP * half * half];
        let up = [STEP * places_wide * half, STEP * places_wide, STEP];
        let needs = STEP * half * half * u64::from(k);
        if needs > u64::from(width.max_down()) {
            return Err(GateError::Bits { k, needs, width });
        }
        // A block of the largest step stays free between the two, so a DOWN number beyond the last server's never
        // leads to a gate of the other enumeration. With k/2 places, as in the paper's example, UP numbers are as
        // if for a pod two beyond the last.
        let base = (needs.div_ceil(up[0]) + 1) * up[0];
        let needs = base + up[0] * half;
        if needs > u64::from(width.max_up()) {
            return Err(GateError::External { places, needs, width });
        }
        Ok(Self { down, up, base })
    }
}

/// The gates of every switch of `fabric`, which is `tree`, in order of the switches' ids.
pub(super) fn number(
    fabric: &Fabric,
    tree: &FatTree,
    numbering: &Numbering,
) -> Result<Vec<SwitchGates>, GateError> {
    let half = tree.k() / 2;
    let external = external_places(fabric, tree, numbering.external_places)?;
    let steps = Steps::new(tree.k(), external, numbering.width)?;
    let places = places(fabric, tree);
    let (half, external) = (u64::from(half), u64::from(external));
    let gates = |switch: NodeId| {
        let place = places[switch.index()];
        let (layer, row) = match place {
            Place::Edge(_) | Place::Host => (Layer::Edge, 0),
            Place::Aggregation { .. } => (Layer::Aggregation, 1),
            Place::Core(_) => (Layer::Core, 2),
        };
        let (down, up) = (steps.down[row], steps.up[row]);
        let (lower, upper) =
            (|count| (Direction::Down, down * count), |count| (Direction::Up, steps.base + up * count));
        // Hosts so far on this switch: each gets its next place.
        let mut hosts = 0;
        let gate = |&link| {
            let link = fabric.link(link);
            let peer = fabric.node(link.to).name.clone();
            let ((direction, number), flag) = match (place, places[link.to.index()]) {
                (Place::Edge(edge), Place::Host) => {
                    check_server(fabric, switch, link.to, hosts, half)?;
                    hosts += 1;
                    (lower(edge * half + hosts), Some(GateFlag::Srv))
                }
                (Place::Core(core), Place::Host) => {
                    hosts += 1;
                    (upper(core * external + hosts), Some(GateFlag::Ext))
                }
                (_, Place::Host) => {
                    let switch = fabric.node(switch).name.clone();
                    return Err(GateError::Misplaced { host: peer, switch });
                }
                (_, Place::Edge(edge)) => (lower(edge + 1), Some(GateFlag::Ass)),
                (Place::Core(_), Place::Aggregation { pod, .. }) => (lower(pod + 1), None),
                (_, Place::Aggregation { group, .. }) => (upper(group + 1), None),
                (_, Place::Core(core)) => (upper(core + 1), None),
            };
            Ok(PortGate { port: link.from_port, gate: Gate(number as u32), direction, flag, peer })
        };
        let gates = fabric.ports(switch).iter().map(gate).collect::<Result<_, _>>()?;
        let switch = fabric.node(switch).name.clone();
        Ok(SwitchGates { switch, layer, down_divisor: down as u32, up_divisor: up as u32, gates })
    };
    fabric.switches().map(gates).collect()
}

/// Rejects more servers than fit on an edge switch, and servers with several cables.
fn check_server(
    fabric: &Fabric,
    edge: NodeId,
    server: NodeId,
    others: u64,
    most: u64,
) -> Result<(), GateError> {
    let cables = fabric.ports(server).len();
    if cables > 1 {
        return Err(GateError::Cabled { host: fabric.node(server).name.clone(), cables });
    }
    if others == most {
        let servers =
            fabric.ports(edge).iter().filter(|link| fabric.node(fabric.link(**link).to).is_host()).count();
        let switch = fabric.node(edge).name.clone();
        return Err(GateError::Servers { switch, servers, most: most as usize });
    }
    Ok(())
}

/// Number of external links per core with numbers.
fn external_places(fabric: &Fabric, tree: &FatTree, asked: Option<u32>) -> Result<u32, GateError> {
    let links = |core: NodeId| {
        fabric.ports(core).iter().filter(|link| fabric.node(fabric.link(**link).to).is_host()).count()
    };
    let most =
        tree.groups().iter().flatten().map(|&core| (links(core), core)).max_by_key(|(links, _)| *links);
    let (links, core) = most.unwrap_or_default();
    match asked.map(|places| places.max(1)) {
        Some(places) if links > places as usize => {
            Err(GateError::Places { switch: fabric.node(core).name.clone(), links, places })
        }
        Some(places) => Ok(places),
        // A port number has 16 bits.
        None => Ok((tree.k() / 2).max(links as u32)),
    }
}

/// The kind of each node.
fn places(fabric: &Fabric, tree: &FatTree) -> Vec<Place> {
    let mut places = vec![Place::Host; fabric.nodes().len()];
    let mut edges = 0..;
    for (pod, members) in (0..).zip(tree.pods()) {
        for (edge, number) in members.edges.iter().zip(&mut edges) {
            places[edge.index()] = Place::Edge(number);
        }
        for (group, aggregation) in (0..).zip(&members.aggregations) {
            places[aggregation.index()] = Place::Aggregation { pod, group };
        }
    }
    for (number, core) in (0..).zip(tree.groups().iter().flatten()) {
        places[core.index()] = Place::Core(number);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_width_holds_the_size_that_is_said_and_no_more() {
        for (width, largest) in [(TagWidth::Narrow, 24), (TagWidth::Wide, 202)] {
            assert!(Steps::new(largest, largest / 2, width).is_ok());
            let (k, needs) = (largest + 2, u64::from(largest + 2).pow(3) / 2);
            assert_eq!(Steps::new(k, k / 2, width).err(), Some(GateError::Bits { k, needs, width }));
        }
    }
}
