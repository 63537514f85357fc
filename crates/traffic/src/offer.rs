//! [`Offer`]: the load that a group offers in expectation; and the load that was actually offered after the draw.

use weft_units::{Duration, Time};

use crate::demand::Demand;
use crate::flow::{LoadOf, Traffic};
use crate::places::Places;

/// The offered load of one group.
#[derive(Clone, PartialEq, Debug)]
pub struct Offer {
    /// Payload bits per second over all flows.
    pub bps: f64,
    /// When the first flow may start, and when the last one is expected to.
    pub span: (Time, Time),
    /// The distribution over hosts and racks.
    pub demand: Demand,
}

/// Fills in the realised mean, and the load if flows arrive over time.
pub(crate) fn measure(traffic: &mut Traffic, places: &Places, duration: Duration, over_time: bool) {
    let bytes: f64 = traffic.flows.iter().map(|flow| flow.bytes as f64).sum();
    traffic.mean_bytes = bytes / traffic.flows.len().max(1) as f64;
    let crosses = |src, dst| places.rack_of(src) != places.rack_of(dst);
    let crossing: f64 =
        traffic.flows.iter().filter(|flow| crosses(flow.src, flow.dst)).map(|flow| flow.bytes as f64).sum();
    let asked = traffic.groups.iter().any(|group| group.asked_load.is_some());
    if !asked && (crossing == 0.0 || places.uplink_capacity() == 0.0) {
        traffic.load_of = LoadOf::HostLinks;
    }
    let (bytes, capacity) = match traffic.load_of {
        LoadOf::FabricUplinks => (crossing, places.uplink_capacity()),
        LoadOf::HostLinks => (bytes, places.host_capacity()),
    };
    let could = capacity * duration.as_secs_f64();
    traffic.offered_load = (over_time && could > 0.0).then(|| 8.0 * bytes / could);
}
