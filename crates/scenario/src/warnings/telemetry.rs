//! Warns of paths that are longer than packets have room for telemetry.

use weft_fabric::Fabric;
use weft_transport::Protocol;
use weft_transport::roce::Telemetry;

use crate::longest_path::most_switches;

/// Warns if packets pass more switches than can add their telemetry.
pub(super) fn short(fabric: &Fabric, protocol: &Protocol) -> Option<String> {
    let hops = u32::from(protocol.config().telemetry_hops()?);
    let switches = most_switches(fabric);
    let most = Telemetry::MOST as u32;
    let fix = if hops < most {
        format!(": set transport.hpcc_hops = {}", switches.min(most))
    } else {
        String::new()
    };
    (switches > hops).then(|| {
        format!(
            "transport.hpcc_hops is {hops}, but the longest path has {switches} switches, and HPCC does not react to queues \
             beyond that{fix}"
        )
    })
}
