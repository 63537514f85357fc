//! The longest SYN that is explored: wrapped, it must fit every port that may lead to a switch.

use super::interfaces::WRAP;
use super::ports::Port;
use super::switch::Switch;

/// Length of the Ethernet header.
const HEADER: u32 = 14;

/// The smallest MTU of the ports that may send Path frames. Those with less than `mtu`, the longest packet of hosts, are not
/// used.
fn shortest(ports: &[Port], mtu: u32) -> u32 {
    let fabric = ports.iter().filter(|port| port.may_be_fabric);
    let mtus = fabric.filter_map(|port| Some(port.interface.as_ref()?.mtu));
    mtus.filter(|of_port| *of_port >= mtu).min().unwrap_or(mtu)
}

impl Switch {
    /// Writes the longest SYN for the program, if it has changed.
    pub(super) fn tell_longest(&mut self) {
        let mtu = shortest(&self.ports, self.config.mtu);
        if !self.config.mode.keeps_flows() || self.wrapped_mtu == mtu {
            return;
        }
        if let Err(error) = self.plane.set_longest(mtu + HEADER) {
            tracing::error!(%error, "updating the longest explored SYN in the data plane failed");
            return;
        }
        self.wrapped_mtu = mtu;
        let wanted = self.config.mtu + WRAP;
        if mtu < wanted {
            tracing::info!(
                mtu,
                wanted,
                "SYNs that are too long for a Path Request on the ports that may be fabric ports (fabric_ports) are forwarded \
                 without exploring"
            );
        }
    }
}
