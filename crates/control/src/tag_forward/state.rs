//! [`State`]: the table entries that switches of a full fat-tree need with Tag-and-Forward and with OpenFlow.

use serde::Serialize;
use weft_fabric::gates::Layer;

/// The entries per switch of one layer, averaged over the layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LayerState {
    /// The layer.
    pub layer: Layer,
    /// Its switches.
    pub switches: u64,
    /// Gates per switch, independent of the number of flows.
    pub gates: u64,
    /// Rules per switch with Tag-and-Forward.
    pub tagged: u64,
    /// Rules per switch with OpenFlow.
    pub openflow: u64,
}

/// The entries of a fat-tree in which every server has one flow to every other, spread evenly over all paths, with one
/// rule per flow at each switch that needs one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct State {
    /// Ports per switch.
    pub k: u32,
    /// Servers.
    pub servers: u64,
    /// Flows: ordered pairs of servers.
    pub flows: u64,
    /// Layers from the bottom up.
    pub layers: [LayerState; 3],
    /// Rules in all switches with Tag-and-Forward.
    pub tagged: u64,
    /// Rules in all switches with OpenFlow.
    pub openflow: u64,
}

/// The entries of a full fat-tree of `k`-port switches with `external` external links per core; `None` if k is odd,
/// below 2, or above 1024.
///
/// Tag-and-Forward needs a rule only at the source's switch, OpenFlow at each switch on the path: one
/// within a switch, three within a pod, otherwise five.
pub fn state(k: u32, external: u32) -> Option<State> {
    if k % 2 == 1 || !(2..=1024).contains(&k) {
        return None;
    }
    let (k64, half) = (u64::from(k), u64::from(k) / 2);
    let servers = k64 * half * half;
    let (in_pod, from_edge) = (half * half, half * (servers - 1));
    let layer =
        |layer, switches, gates, tagged, openflow| LayerState { layer, switches, gates, tagged, openflow };
    let layers = [
        // Flows from its servers, and flows from other switches.
        layer(Layer::Edge, k64 * half, k64, from_edge, from_edge + half * (servers - half)),
        // Flows out of and into the pod, and flows within it between two edges: over k/2 switches.
        layer(Layer::Aggregation, k64 * half, k64, 0, half * (2 * (servers - in_pod) + in_pod - half)),
        layer(Layer::Core, half * half, k64 + u64::from(external), 0, k64 * (servers - in_pod)),
    ];
    let total = |of: fn(&LayerState) -> u64| layers.iter().map(|layer| layer.switches * of(layer)).sum();
    Some(State {
        k,
        servers,
        flows: servers * (servers - 1),
        tagged: total(|layer| layer.tagged),
        openflow: total(|layer| layer.openflow),
        layers,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use weft_fabric::gates::{GatePlan, Numbering, TagWidth};
    use weft_units::{HostId, NodeId};

    use super::*;

    /// Rules by switch, counted one by one: at the source alone, and at all switches on the path. Flows of an edge use
    /// the paths to another edge in rotation.
    fn counted(plan: &GatePlan, servers: u32) -> [HashMap<NodeId, u64>; 2] {
        let mut rules = [HashMap::new(), HashMap::new()];
        for source in (0..servers).map(HostId) {
            for (turn, destination) in (0..servers).map(HostId).filter(|to| *to != source).enumerate() {
                let choices = plan.choices(source, destination);
                let (at, steering) = plan.steering(source, destination, turn % choices).unwrap();
                *rules[0].entry(at).or_default() += 1;
                for hop in plan.route(at, steering).unwrap() {
                    *rules[1].entry(hop.switch).or_default() += 1;
                }
            }
        }
        rules
    }

    #[test]
    fn the_counts_are_those_of_rules_laid_one_by_one() {
        for k in [2, 4, 6, 8] {
            let plan = GatePlan::fat_tree(k, &Numbering::default()).unwrap();
            let state = state(k, 0).unwrap();
            let [tagged, openflow] = counted(&plan, state.servers as u32);
            for layer in &state.layers {
                let of_layer = plan.switches().filter(|(_, gates)| gates.layer == layer.layer);
                let nodes: Vec<NodeId> = of_layer.map(|(node, _)| node).collect();
                assert_eq!(nodes.len() as u64, layer.switches, "k = {k}, {}", layer.layer);
                let sum = |rules: &HashMap<NodeId, u64>| {
                    nodes.iter().map(|node| rules.get(node).copied().unwrap_or(0)).sum::<u64>()
                };
                assert_eq!(sum(&tagged), layer.tagged * layer.switches, "k = {k}, {}, tags", layer.layer);
                assert_eq!(sum(&openflow), layer.openflow * layer.switches, "k = {k}, {}", layer.layer);
            }
            assert_eq!(
                plan.gate_count() as u64,
                state.layers.iter().map(|l| l.switches * l.gates).sum::<u64>()
            );
        }
    }

    #[test]
    fn claim_g4_state_is_at_the_source_alone_for_every_size_of_the_paper() {
        for k in (4..=24).step_by(2) {
            let state = state(k, k / 2).unwrap();
            let [edge, aggregation, core] = state.layers;
            assert_eq!((aggregation.tagged, core.tagged), (0, 0), "k = {k}");
            assert_eq!(state.tagged, state.flows, "k = {k}: one rule per flow");
            assert!(edge.tagged < edge.openflow && aggregation.openflow > 0 && core.openflow > 0, "k = {k}");
        }
        let totals = |k| state(k, k / 2).map(|state| (state.tagged, state.openflow));
        assert_eq!(totals(4), Some((240, 1_072)));
        assert_eq!(totals(24), Some((11_940_480, 58_637_952)));
        let gates: u64 = state(4, 2).unwrap().layers.iter().map(|layer| layer.switches * layer.gates).sum();
        assert_eq!(gates, 88, "the paper's 104 interfaces without those of its 16 servers");
        assert!(TagWidth::Narrow.max_down() >= 24 * 24 * 24 / 2, "the paper's tag is wide enough");
    }

    #[test]
    fn there_is_no_fat_tree_of_an_odd_k() {
        for k in [0, 1, 3, 1026] {
            assert_eq!(state(k, 0), None);
        }
    }
}
