//! Warnings about accepted changes that currently have no effect.

use std::collections::{BTreeMap, HashSet};

use weft_fabric::gates::{Gate, SwitchGates};
use weft_switching::tag_forward::{FlowChange, FlowTarget, Way};

/// Maximum number of gates named.
const MOST: usize = 8;

/// Warnings about changes that use gates that no port has; this is not an error, since rules may be set before gates.
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
            "change {at}: no port of this switch has gate {gate}, so no frame can leave by it: \
             `weftctl dump-gates` lists the gates, `weftctl set-gate` adds one"
        )
    };
    let mut warnings: Vec<String> = unknown.iter().take(MOST).map(warning).collect();
    if unknown.len() > MOST {
        warnings.push(format!("{} more gates that no port of this switch has", unknown.len() - MOST));
    }
    warnings
}
