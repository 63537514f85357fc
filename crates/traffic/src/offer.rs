//! Offered load compared with link capacities: warnings before a run, and the load that was actually
//! offered after the draw.

use weft_units::{Duration, HostId, Rate};

use crate::demand::Demand;
use crate::flow::{LoadOf, Traffic};
use crate::places::Places;

/// The offered load of one group.
pub(crate) struct Offer {
    /// Payload bits per second over all flows.
    pub(crate) bps: f64,
    /// The distribution over hosts and racks.
    pub(crate) demand: Demand,
}

/// A link with an offered load above this fraction of its rate is reported.
const FULL: f64 = 1.0 + 1e-9;

/// A warning for each kind of overloaded link, naming the worst.
pub(crate) fn overloads(offers: &[Offer], places: &Places) -> Vec<String> {
    let total = |shares: fn(&Demand) -> &[f64], at: usize| -> f64 {
        offers.iter().map(|offer| offer.bps * shares(&offer.demand)[at]).sum()
    };
    let worst = |count: usize, capacity: &dyn Fn(usize) -> Rate, ways: [fn(&Demand) -> &[f64]; 2]| {
        (0..count)
            .map(|at| {
                let asked = f64::max(total(ways[0], at), total(ways[1], at));
                let carries = capacity(at).bps() as f64;
                (if asked > 0.0 { asked / carries } else { 0.0 }, at)
            })
            .filter(|(share, _)| *share > FULL)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    };
    let of = |share: f64, what: &str, capacity: Rate| match share {
        share if share.is_finite() => {
            format!("is {} % of {what} ({capacity})", (share * 1000.0).round() / 10.0)
        }
        _ => format!("is more than {what} ({capacity})"),
    };
    let uplinks = |rack: usize| places.racks()[rack].uplinks_up;
    let host = |host: usize| places.rate(HostId(host as u32));
    let over_uplinks = worst(places.racks().len(), &uplinks, [|d| &d.leaving, |d| &d.entering]);
    let over_hosts = worst(places.len(), &host, [|d| &d.sent, |d| &d.received]);
    let end = "overloaded for as long as flows arrive, so results depend on run.duration";
    let uplinks = over_uplinks.map(|(share, rack)| {
        let rack = &places.racks()[rack];
        let share = of(share, "their capacity", rack.uplinks_up);
        format!("offered load on the uplinks of `{}` {share}: {end}", rack.name)
    });
    let hosts = over_hosts.map(|(share, at)| {
        let host = HostId(at as u32);
        let share = of(share, "the capacity of its links", places.rate(host));
        format!("offered load on `{}` {share}: {end}", places.name(host))
    });
    uplinks.into_iter().chain(hosts).collect()
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
