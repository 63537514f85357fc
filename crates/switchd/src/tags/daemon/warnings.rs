//! What is taken, and does not do what was meant by it as things are.

use std::collections::{BTreeMap, HashSet};

use weft_fabric::gates::{Gate, SwitchGates};
use weft_switching::tag_forward::{FlowChange, FlowTarget, Way};

/// Most gates that are named.
const MOST: usize = 8;

/// What to say about changes that lead through gates that no port has: rules may be set before gates.
pub fn warnings(gates: &SwitchGates, changes: &[FlowChange]) -> Vec<String> {
    let mut unknown: BTreeMap<Gate, usize> = BTreeMap::new();
    let known: HashSet<Gate> = gates.gates.iter().map(|gate| gate.gate).collect();
    for (at, change) in changes.iter().enumerate() {
        let one;
        let ways: &[Way] = match change {
            FlowChange::Add(rule) | FlowChange::Replace(rule) => match rule.action.to {
                FlowTarget::Way(way) => {
                    one = [way];
                    &one
                }
                FlowTarget::Group(_) => &[],
            },
            FlowChange::SetGroup { ways, .. } => ways,
            FlowChange::Remove { .. } | FlowChange::RemoveGroup(_) => &[],
        };
        for way in ways.iter().filter(|way| !known.contains(&way.gate)) {
            unknown.entry(way.gate).or_insert(at);
        }
    }
    let warning = |(gate, at): (&Gate, &usize)| {
        format!(
            "change {at}: no port of this switch has gate {gate} now, and nothing leaves by it: \
             `weftctl dump-gates` prints those there are, `weftctl set-gate` gives a port one"
        )
    };
    let mut warnings: Vec<String> = unknown.iter().take(MOST).map(warning).collect();
    if unknown.len() > MOST {
        warnings.push(format!("{} more gates that no port of this switch has", unknown.len() - MOST));
    }
    warnings
}
