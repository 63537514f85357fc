//! A fabric for drawings: its nodes with their positions, and its links.

use serde_json::{Value, json};
use weft_fabric::Fabric;
use weft_fabric::layout::layout;
use weft_units::LinkId;

/// The nodes with their positions on a drawing, for `summary.json` and `weft fabric`.
pub fn nodes_json(fabric: &Fabric) -> Vec<Value> {
    let points = layout(fabric).points;
    let nodes = fabric.nodes().iter().zip(points);
    nodes
        .map(|(node, (x, y))| {
            json!({
                "name": node.name,
                "role": if node.is_host() { "host" } else { "switch" },
                "tier": node.tier,
                "pod": node.pod,
                "x": x,
                "y": y,
            })
        })
        .collect()
}

/// The links of a fabric for `weft fabric`, one entry per direction.
pub fn links_json(fabric: &Fabric) -> Vec<Value> {
    let ids = (0..fabric.links().len() as u32).map(LinkId);
    ids.map(|id| {
        let link = fabric.link(id);
        json!({
            "from": fabric.node(link.from).name,
            "to": fabric.node(link.to).name,
            "rate_bps": link.rate.bps(),
            "delay_ps": link.delay.ps(),
            "queue": link.queue,
            "overhead": link.overhead,
            "up": link.up,
        })
    })
    .collect()
}
