//! A fabric for drawings: its nodes with their positions, and its links.

use serde::Serialize;
use serde_json::{Value, json};
use weft_fabric::layout::layout;
use weft_fabric::{Fabric, Role};
use weft_units::LinkId;

/// A node on a drawing, from 0 to 1: x to the right, y downwards. Its keys are in alphabetical order.
#[derive(Serialize)]
pub struct NodeEntry<'a> {
    name: &'a str,
    pod: Option<u32>,
    role: Role,
    tier: u8,
    x: f64,
    y: f64,
}

/// The nodes with their positions on a drawing, for `summary.json` and `weft fabric`.
pub fn nodes(fabric: &Fabric) -> Vec<NodeEntry<'_>> {
    let nodes = fabric.nodes().iter().zip(layout(fabric).points);
    nodes
        .map(|(node, (x, y))| NodeEntry {
            name: &node.name,
            pod: node.pod,
            role: node.role,
            tier: node.tier,
            x,
            y,
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
