//! Which schemes a scenario runs.

use weft_switching::{Descriptor, Schemes};

use crate::baseline::chooses_scheme;
use crate::sweep::Axis;
use crate::tree::{Node, Table, Value};
use crate::variant::Variant;

/// The schemes that a scenario runs: its own, those of its variants, or those of its sweep.
pub(crate) fn schemes_of(
    table: &Table,
    axes: &[Axis],
    variants: &[Variant],
    available: &Schemes,
) -> Vec<&'static Descriptor> {
    let name = |node: &Node| match &node.value {
        Value::Text(name) => available.get(name),
        Value::Table(table) => match table.get("name").map(|node| &node.value) {
            Some(Value::Text(name)) => available.get(name),
            _ => None,
        },
        _ => None,
    };
    if let Some(axis) = axes.iter().find(|axis| chooses_scheme(&axis.key)) {
        return axis.values.iter().filter_map(name).collect();
    }
    let own = table.get("scheme").and_then(name);
    let of = |variant: &Variant| {
        let set = variant.values.iter().find(|(key, _, _)| chooses_scheme(key));
        set.map_or(own, |(_, _, node)| name(node))
    };
    let mut found: Vec<&'static Descriptor> = Vec::new();
    let each = if variants.is_empty() { vec![own] } else { variants.iter().map(of).collect() };
    for scheme in each.into_iter().flatten() {
        if !found.iter().any(|other| other.name == scheme.name) {
            found.push(scheme);
        }
    }
    found
}
