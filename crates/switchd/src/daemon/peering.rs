//! Tells the program which machines are at the ends of fabric links: it passes messages of a routing daemon
//! (crates/switching/src/routing_message.rs).

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

    /// Warns of ports with one address: the program knows the last of them by it.
    fn warn_of_twins(&self, own: &[Option<Mac>]) {
        for (at, mac) in own.iter().enumerate() {
            let Some(twin) = own[..at].iter().position(|other| mac.is_some() && other == mac) else {
                continue;
            };
            let [one, other] = [twin, at].map(|at| self.ports[at].name.as_str());
            tracing::warn!(
                one, other, mac = %mac.unwrap_or_default(),
                "two ports have one MAC address: messages for the routing daemon pass on the second one only; give each port \
                 its own (ip link set dev {one} address ...)"
            );
        }
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
