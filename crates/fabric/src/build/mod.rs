//! Builders: fabrics of a regular shape, one file each.
//!
//! All number hosts `h0..` first, then switches from the lowest tier up, and connect host cables first, in
//! order of hosts, so port numbers agree in every tool that follows this order.

mod dumbbell;
mod fat_tree;
mod mesh;
mod ring;
mod spine_leaf;
mod three_layer;

pub use dumbbell::dumbbell;
pub use fat_tree::{fat_tree, fat_tree_with_routers};
pub use mesh::mesh;
pub use ring::ring;
pub use spine_leaf::{oversubscribed_rate, spine_leaf};
pub use three_layer::{ThreeLayer, three_layer};

use weft_units::NodeId;

use crate::builder::check_size;
use crate::{FabricBuilder, FabricError, LinkSpec};

/// Rejects `given` below `least`.
fn at_least(shape: &'static str, what: &'static str, least: u32, given: u32) -> Result<(), FabricError> {
    if given < least { Err(FabricError::TooFew { shape, what, least, given }) } else { Ok(()) }
}

/// Rejects a fabric with too many nodes or cables; `None` (overflow) is too many.
fn fits(nodes: Option<u64>, cables: Option<u64>) -> Result<(), FabricError> {
    check_size(nodes.unwrap_or(u64::MAX), cables.unwrap_or(u64::MAX))
}

/// Adds `count` hosts named `h0..`; `pod` gives each its pod.
fn add_hosts(
    builder: &mut FabricBuilder,
    count: u32,
    pod: impl Fn(u32) -> Option<u32>,
) -> Result<Vec<NodeId>, FabricError> {
    (0..count).map(|i| builder.add_host(format!("h{i}"), 0, pod(i))).collect()
}

/// Adds `count` switches named `prefix` and a number; `pod` gives each its pod.
fn add_switches(
    builder: &mut FabricBuilder,
    prefix: char,
    count: u32,
    tier: u8,
    pod: impl Fn(u32) -> Option<u32>,
) -> Result<Vec<NodeId>, FabricError> {
    (0..count).map(|i| builder.add_switch(format!("{prefix}{i}"), tier, pod(i))).collect()
}

/// Connects the hosts to the switches, `per_switch` to each, in order.
fn connect_hosts(
    builder: &mut FabricBuilder,
    hosts: &[NodeId],
    switches: &[NodeId],
    per_switch: u32,
    link: &LinkSpec,
) -> Result<(), FabricError> {
    for (hosts, &switch) in hosts.chunks(per_switch as usize).zip(switches) {
        for &host in hosts {
            builder.connect(host, switch, link)?;
        }
    }
    Ok(())
}
