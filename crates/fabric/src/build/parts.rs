//! Parts that all shapes have in common: hosts, switches and the links between them.

use weft_units::NodeId;

use crate::builder::check_size;
use crate::{FabricBuilder, FabricError, LinkSpec};

/// Rejects `given` below `least`.
pub(super) fn at_least(
    shape: &'static str,
    what: &'static str,
    least: u32,
    given: u32,
) -> Result<(), FabricError> {
    if given < least { Err(FabricError::TooFew { shape, what, least, given }) } else { Ok(()) }
}

/// Rejects a fabric with too many nodes or cables; `None` (overflow) is too many.
pub(super) fn fits(nodes: Option<u64>, cables: Option<u64>) -> Result<(), FabricError> {
    check_size(nodes.unwrap_or(u64::MAX), cables.unwrap_or(u64::MAX))
}

/// Adds `count` hosts named `h0..`; `pod` gives each its pod.
pub(super) fn add_hosts(
    builder: &mut FabricBuilder,
    count: u32,
    pod: impl Fn(u32) -> Option<u32>,
) -> Result<Vec<NodeId>, FabricError> {
    (0..count).map(|i| builder.add_host(format!("h{i}"), 0, pod(i))).collect()
}

/// Adds `count` switches named `prefix` and a number; `pod` gives each its pod.
pub(super) fn add_switches(
    builder: &mut FabricBuilder,
    prefix: char,
    count: u32,
    tier: u8,
    pod: impl Fn(u32) -> Option<u32>,
) -> Result<Vec<NodeId>, FabricError> {
    (0..count).map(|i| builder.add_switch(format!("{prefix}{i}"), tier, pod(i))).collect()
}

/// Connects the hosts to the switches, `per_switch` to each, in order.
pub(super) fn connect_hosts(
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
