//! [`GatePlan`]: the gates of a whole fabric.

use serde::Serialize;
use weft_units::{HostId, NodeId, PortId};
use weft_wire::TagWidth;

use super::numbering::number;
use super::{FatTree, GateError, Numbering, PortGate, SwitchGates};
use crate::{Fabric, LinkSpec, build};

/// The gates of every switch of a fat-tree. They deliver every tag of [`GatePlan::steering`].
#[derive(Clone, Debug)]
pub struct GatePlan {
    pub(super) tree: FatTree,
    pub(super) width: TagWidth,
    /// Switches in order of node ids.
    pub(super) switches: Vec<Planned>,
    /// Index of each node in `switches`.
    pub(super) place: Vec<Option<u32>>,
    /// The gates that lead to each host: indices of switch and gate.
    pub(super) of_host: Vec<Vec<(u32, u32)>>,
}

/// A switch of a plan.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub node: NodeId,
    /// Its pod; `None` for a core.
    pub pod: Option<u32>,
    pub gates: SwitchGates,
    /// The node behind each gate.
    pub peers: Vec<NodeId>,
    /// Indices in `gates` of the gates towards cores, in order of their numbers.
    pub upward: Vec<u32>,
}

/// The JSON form of a plan.
#[derive(Serialize)]
struct File<'a> {
    k: u32,
    width: String,
    switches: Vec<&'a SwitchGates>,
}

impl GatePlan {
    /// The gates of a fabric that is wired as a fat-tree; see [`FatTree::find`]. Hosts on edge switches are
    /// servers, hosts on cores are external.
    ///
    /// # Errors
    /// [`GateError`], except those for given gates.
    pub fn of(fabric: &Fabric, numbering: &Numbering) -> Result<Self, GateError> {
        let tree = FatTree::find(fabric)?;
        let switches = number(fabric, &tree, numbering)?;
        Ok(Self::put_together(fabric, tree, numbering.width, fabric.switches().zip(switches)))
    }

    /// The gates of [`build::fat_tree`] with `k` ports per switch.
    ///
    /// # Errors
    /// [`GateError::Fabric`], [`GateError::Bits`], [`GateError::External`].
    pub fn fat_tree(k: u32, numbering: &Numbering) -> Result<Self, GateError> {
        let link = LinkSpec::default();
        Self::of(&build::fat_tree(k, &link, &link)?, numbering)
    }

    pub(super) fn put_together(
        fabric: &Fabric,
        tree: FatTree,
        width: TagWidth,
        switches: impl Iterator<Item = (NodeId, SwitchGates)>,
    ) -> Self {
        let mut place = vec![None; fabric.nodes().len()];
        let mut pods = vec![None; fabric.nodes().len()];
        for (number, pod) in (0..).zip(tree.pods()) {
            pod.edges.iter().chain(&pod.aggregations).for_each(|node| pods[node.index()] = Some(number));
        }
        let mut of_host = vec![Vec::new(); fabric.host_count()];
        let mut planned = Vec::new();
        for (index, (node, gates)) in (0..).zip(switches) {
            place[node.index()] = Some(index);
            let to = |gate: &PortGate| fabric.link_at(node, gate.port).map(|link| fabric.link(link).to);
            let peers: Vec<NodeId> = gates.gates.iter().filter_map(to).collect();
            for (gate, peer) in (0..).zip(&peers) {
                if let Some(host) = fabric.node(*peer).host {
                    of_host[host.index()].push((index, gate));
                }
            }
            let is_up = |index: &u32| {
                let (gate, peer) = (&gates.gates[*index as usize], peers[*index as usize]);
                gate.direction == super::Direction::Up && !fabric.node(peer).is_host()
            };
            let mut upward: Vec<u32> = (0..gates.gates.len() as u32).filter(is_up).collect();
            upward.sort_by_key(|index| gates.gates[*index as usize].gate);
            planned.push(Planned { node, pod: pods[node.index()], gates, peers, upward });
        }
        Self { tree, width, switches: planned, place, of_host }
    }

    /// The ports of a switch of the fat-tree.
    pub fn k(&self) -> u32 {
        self.tree.k()
    }

    /// The tag width for its numbers.
    pub fn width(&self) -> TagWidth {
        self.width
    }

    /// The fat-tree that has these gates.
    pub fn tree(&self) -> &FatTree {
        &self.tree
    }

    /// The gates of each switch, in order of ids.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = (NodeId, &SwitchGates)> {
        self.switches.iter().map(|planned| (planned.node, &planned.gates))
    }

    /// The gates of a switch; `None` for a host.
    pub fn switch(&self, node: NodeId) -> Option<&SwitchGates> {
        self.planned(node).map(|planned| &planned.gates)
    }

    /// The gates of the switch with this name.
    pub fn switch_named(&self, name: &str) -> Option<&SwitchGates> {
        self.switches.iter().map(|planned| &planned.gates).find(|gates| gates.switch == name)
    }

    /// The gates that lead to a host: one to a server, one per cable to an external host.
    pub fn gates_of(&self, host: HostId) -> impl Iterator<Item = (NodeId, &PortGate)> {
        let gates = self.of_host.get(host.index()).into_iter().flatten();
        gates.map(|&(switch, gate)| {
            let planned = &self.switches[switch as usize];
            (planned.node, &planned.gates.gates[gate as usize])
        })
    }

    /// Number of gates.
    pub fn gate_count(&self) -> usize {
        self.switches.iter().map(|planned| planned.gates.gates.len()).sum()
    }

    /// The neighbour at a port of a switch.
    pub fn peer(&self, node: NodeId, port: PortId) -> Option<NodeId> {
        let planned = self.planned(node)?;
        let index = planned.gates.gates.iter().position(|gate| gate.port == port)?;
        planned.peers.get(index).copied()
    }

    pub(super) fn planned(&self, node: NodeId) -> Option<&Planned> {
        let place = (*self.place.get(node.index())?)?;
        self.switches.get(place as usize)
    }

    /// The plan as JSON: `k`, `width` and `switches`, each as [`SwitchGates`].
    pub fn to_json(&self) -> String {
        let switches = self.switches.iter().map(|planned| &planned.gates).collect();
        let file = File { k: self.k(), width: self.width.to_string(), switches };
        serde_json::to_string(&file).expect("texts, numbers and lists of these always have a JSON form")
    }
}
