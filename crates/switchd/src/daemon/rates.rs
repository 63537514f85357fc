//! Rates of ports, of which flooded frames may take a share.

use weft_units::{PortId, Rate};

use super::ethtool;
use super::shared::Shared;

/// The rate of a port whose driver reports none. TAP devices may report 10 Mbit/s, whatever they carry.
const UNKNOWN: Rate = Rate::from_gbps(10);
const LEAST_MBPS: u32 = 100;

/// The rate of an interface, by its driver's answer in Mbit/s.
fn rate(mbps: Option<u32>) -> Rate {
    mbps.filter(|mbps| *mbps >= LEAST_MBPS)
        .map_or(UNKNOWN, |mbps| Rate::from_bps(u64::from(mbps) * 1_000_000))
}

/// Tells the program the rates that have changed since `known`, by port. Drivers are asked without the switch's lock.
pub fn renew(shared: &Shared, known: &mut Vec<Option<Rate>>) {
    let (names, percent) = {
        let switch = shared.lock();
        let name =
            |port: &super::ports::Port| port.interface.as_ref().map(|interface| interface.name.clone());
        (switch.ports.iter().map(name).collect::<Vec<_>>(), switch.config.exploration.safeguards.flood_share)
    };
    known.resize(names.len(), None);
    for ((number, name), known) in (0..).map(PortId).zip(names).zip(known) {
        let now = name.map(|name| rate(ethtool::mbps(&name)));
        if let Some(rate) = now.filter(|now| Some(*now) != *known)
            && let Err(error) = shared.lock().plane.set_share(number, rate, percent)
        {
            tracing::error!(port = number.0, %error, "updating a port's rate in the data plane failed");
        }
        *known = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_no_driver_reports_does_not_limit_what_a_port_may_flood() {
        assert_eq!(rate(Some(1_000)), Rate::from_gbps(1));
        assert_eq!(rate(Some(400_000)), Rate::from_gbps(400));
        for odd in [None, Some(0), Some(10)] {
            assert_eq!(rate(odd), UNKNOWN);
        }
    }
}
