//! Tells the program which machines are at the ends of fabric links: it passes messages of a routing daemon
//! (crates/switching/src/routing_message.rs).

use std::collections::BTreeMap;

use weft_units::PortId;
use weft_wire::Mac;

use super::ports::Port;
use super::switch::Switch;
use crate::config::Config;
use crate::error::PlaneError;

/// The addresses of ports that may have a peer.
fn own(ports: &[Port], config: &Config) -> Vec<Option<Mac>> {
    let mac = |port: &Port| {
        let interface = port.interface.as_ref().filter(|_| config.may_have_peer(&port.name));
        interface.map(|interface| interface.mac)
    };
    ports.iter().map(mac).collect()
}

/// The ports with one address, by that address.
fn twins(own: &[Option<Mac>]) -> BTreeMap<Mac, Vec<usize>> {
    let mut ports: BTreeMap<Mac, Vec<usize>> = BTreeMap::new();
    for (number, mac) in own.iter().enumerate() {
        if let Some(mac) = mac {
            ports.entry(*mac).or_default().push(number);
        }
    }
    ports.retain(|_, ports| ports.len() > 1);
    ports
}

impl Port {
    /// The address of the machine at the other end; `None` while only an earlier daemon knows it.
    fn peer(&self) -> Option<Mac> {
        let is_adopted = self.adopted.is_some() && self.role.is_fabric();
        match self.neighbour.as_ref().filter(|_| self.role.has_neighbour()) {
            Some(neighbour) => Some(neighbour.mac),
            None => (!is_adopted).then_some(Mac::default()),
        }
    }
}

impl Switch {
    /// Writes the addresses at both ends of a port's link for the program, if they have changed.
    pub(super) fn tell_router(&mut self, number: u16) {
        if !self.config.uses_kernel {
            return;
        }
        if let Err(error) = self.write_peer(number) {
            tracing::error!(port = number, %error, "updating the neighbour of the routing daemon failed");
        }
    }

    /// Warns once of each set of ports with one address: the program knows the last of them by it.
    fn warn_of_twins(&mut self, own: &[Option<Mac>]) {
        let all = twins(own);
        for (mac, ports) in &all {
            if self.peers.twins.get(mac) == Some(ports) {
                continue;
            }
            let named: Vec<&str> = ports.iter().map(|number| self.ports[*number].name.as_str()).collect();
            let last = named[named.len() - 1];
            tracing::warn!(
                %mac, ports = named.join(", "),
                "several ports have one MAC address: messages for the routing daemon pass on the last one only, {last}; give \
                 each port its own (ip link set dev {} address ...)",
                named[0]
            );
        }
        self.peers.twins = all;
    }

    fn write_peer(&mut self, number: u16) -> Result<(), PlaneError> {
        let own = own(&self.ports, &self.config);
        if own != self.peers.own {
            self.warn_of_twins(&own);
            self.plane.set_own_addresses(&own)?;
            self.peers.own = own;
        }
        self.peers.known.resize(self.ports.len(), None);
        let at = usize::from(number);
        let peer = self.ports[at]
            .peer()
            .map(|peer| if self.peers.own[at].is_some() { peer } else { Mac::default() });
        if peer.is_some() && peer != self.peers.known[at] {
            self.plane.set_peer(PortId(number), peer.unwrap_or_default())?;
            self.peers.known[at] = peer;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_are_all_ports_with_one_address() {
        let [one, other] = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        assert!(twins(&[None, Some(one), None, Some(other)]).is_empty());
        let found = twins(&[Some(one), None, Some(other), Some(one), Some(one), None]);
        assert_eq!(found, BTreeMap::from([(one, vec![0, 3, 4])]));
    }
}
