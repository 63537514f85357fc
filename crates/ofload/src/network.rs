//! [`Network`]: switches, their ports' peers, and hosts.

use std::net::Ipv4Addr;

use thiserror::Error;
use weft_fabric::{Fabric, FabricError, LinkSpec, build, read};
use weft_units::{NodeId, reason};
use weft_wire::Mac;

use crate::frame::Station;

/// Why a network could not be built.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// Neither a known topology nor a file.
    #[error(
        "`{0}` is not a fabric: expected spine-leaf:SPINESxLEAVESxHOSTS, fat-tree:K, alone:SWITCHES, or a file that ends in \
         .toml, .json or .graphml"
    )]
    Unknown(String),
    /// The file cannot be read.
    #[error("cannot read {path}: {}", reason(error))]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        error: std::io::Error,
    },
    /// The file is invalid.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// The problem in it.
        error: Box<read::ReadError>,
    },
    /// The counts are invalid.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Fewer than two hosts.
    #[error("the fabric has too few hosts ({0}); connections need at least 2")]
    Hosts(usize),
    /// More hosts than addresses.
    #[error("the fabric has {0} hosts; at most 65535 are supported")]
    Addresses(usize),
}

/// The other end of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// A port of a switch.
    Switch {
        /// The switch's index.
        switch: usize,
        /// Its port number.
        port: u32,
    },
    /// A host, by index.
    Host(usize),
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name in the fabric.
    pub name: String,
    /// Its datapath ID: its index, counted from 1.
    pub datapath: u64,
    /// The peer of each port; the first is port 1.
    pub ports: Vec<Peer>,
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name in the fabric.
    pub name: String,
    /// Its switch's index and port.
    pub at: (usize, u32),
    /// Its MAC address.
    pub mac: Mac,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
}

impl Host {
    /// Its addresses.
    pub const fn station(&self) -> Station {
        Station { mac: self.mac, address: self.address }
    }
}

/// Switches and hosts.
#[derive(Clone, Debug)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The hosts.
    pub hosts: Vec<Host>,
}

impl Network {
    /// The network that `text` describes: `spine-leaf:8x56x2` (spines, leaves, hosts per leaf), `fat-tree:8`, `alone:64`
    /// (unconnected switches with two hosts each), or a file.
    ///
    /// # Errors
    /// [`NetworkError`].
    pub fn parse(text: &str) -> Result<Self, NetworkError> {
        let unknown = || NetworkError::Unknown(text.to_owned());
        let number = |text: &str| text.parse::<u32>().map_err(|_| unknown());
        let (link, host) = (LinkSpec::default(), LinkSpec::default());
        let network = match text.split_once(':') {
            Some(("spine-leaf", counts)) => match *counts.split('x').collect::<Vec<_>>() {
                [spines, leaves, hosts] => Self::of(&build::spine_leaf(
                    number(spines)?,
                    number(leaves)?,
                    number(hosts)?,
                    &host,
                    &link,
                )?),
                _ => return Err(unknown()),
            },
            Some(("fat-tree", k)) => Self::of(&build::fat_tree(number(k)?, &host, &link)?),
            Some(("alone", count)) => Self::alone(number(count)? as usize),
            _ if text.contains('.') => Self::file(text)?,
            _ => return Err(unknown()),
        };
        match network.hosts.len() {
            few @ 0..2 => Err(NetworkError::Hosts(few)),
            2..=0xffff => Ok(network),
            many => Err(NetworkError::Addresses(many)),
        }
    }

    fn file(path: &str) -> Result<Self, NetworkError> {
        let bytes =
            std::fs::read(path).map_err(|error| NetworkError::Unreadable { path: path.to_owned(), error })?;
        let fabric = read::file(path, &bytes, &LinkSpec::default())
            .map_err(|error| NetworkError::File { path: path.to_owned(), error: Box::new(error) })?;
        Ok(Self::of(&fabric))
    }

    /// The switches and hosts of a fabric; port numbers are one higher than the fabric's.
    pub fn of(fabric: &Fabric) -> Self {
        let nodes: Vec<NodeId> = fabric.switches().collect();
        let place = |node| nodes.iter().position(|switch| *switch == node).unwrap_or_default();
        let host_of = |node| fabric.hosts().iter().position(|host| *host == node);
        let peer = |link: &weft_fabric::Link| match host_of(link.to) {
            Some(host) => Peer::Host(host),
            None => Peer::Switch { switch: place(link.to), port: u32::from(link.to_port.0) + 1 },
        };
        let switches = (1..).zip(&nodes).map(|(datapath, node)| Switch {
            name: fabric.node(*node).name.clone(),
            datapath,
            ports: fabric.ports(*node).iter().map(|link| peer(fabric.link(*link))).collect(),
        });
        let hosts = fabric.hosts().iter().enumerate().filter_map(|(index, node)| {
            let link = fabric.link(*fabric.ports(*node).first()?);
            Some(host(index, fabric.node(*node).name.clone(), place(link.to), u32::from(link.to_port.0) + 1))
        });
        let (switches, hosts) = (switches.collect(), hosts.collect());
        Self { name: fabric.name().to_owned(), switches, hosts }
    }

    /// Unconnected switches with two hosts each.
    pub fn alone(count: usize) -> Self {
        let switch = |index| Switch {
            name: format!("s{}", index + 1),
            datapath: index as u64 + 1,
            ports: vec![Peer::Host(2 * index), Peer::Host(2 * index + 1)],
        };
        let hosts =
            (0..2 * count).map(|index| host(index, format!("h{index}"), index / 2, index as u32 % 2 + 1));
        Self {
            name: format!("{count} switches alone"),
            switches: (0..count).map(switch).collect(),
            hosts: hosts.collect(),
        }
    }

    /// The peer of a port; `None` if there is no such port.
    pub fn peer(&self, switch: usize, port: u32) -> Option<Peer> {
        let index = usize::try_from(port).ok()?.checked_sub(1)?;
        self.switches.get(switch)?.ports.get(index).copied()
    }

    /// A host that `host` can reach: the next one, on the same switch if switches are unconnected.
    pub fn neighbor(&self, host: usize) -> usize {
        let count = self.hosts.len();
        let others = (1..count).map(|step| (host + step) % count);
        let alone = self.directions() == 0;
        let reached = |other: &usize| !alone || self.hosts[*other].at.0 == self.hosts[host].at.0;
        others.clone().find(reached).unwrap_or(host)
    }

    /// Directed links between switches: two per link.
    pub fn directions(&self) -> usize {
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.filter(|peer| matches!(peer, Peer::Switch { .. })).count()
    }
}

fn host(index: usize, name: String, switch: usize, port: u32) -> Host {
    let [high, low] = (index as u16 + 1).to_be_bytes();
    Host {
        name,
        at: (switch, port),
        mac: Mac([2, 0, 0, 0, high, low]),
        address: Ipv4Addr::new(10, 0, high, low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cable_has_two_ends_that_know_each_other() {
        for (text, switches, hosts, directions) in [
            ("spine-leaf:8x56x2", 64, 112, 2 * 8 * 56),
            ("fat-tree:4", 20, 16, 2 * 32),
            ("alone:64", 64, 128, 0),
        ] {
            let network = Network::parse(text).unwrap();
            let counts = (network.switches.len(), network.hosts.len(), network.directions());
            assert_eq!(counts, (switches, hosts, directions), "{text}");
            for (index, switch) in network.switches.iter().enumerate() {
                for (port, peer) in (1..).zip(&switch.ports) {
                    match *peer {
                        Peer::Switch { switch, port: other } => {
                            assert_eq!(
                                network.peer(switch, other),
                                Some(Peer::Switch { switch: index, port })
                            );
                        }
                        Peer::Host(host) => assert_eq!(network.hosts[host].at, (index, port)),
                    }
                }
                assert_eq!(network.peer(index, 0), None);
                assert_eq!(network.peer(index, switch.ports.len() as u32 + 1), None);
            }
        }
    }

    #[test]
    fn what_is_no_fabric_is_refused_with_what_would_be() {
        for text in ["", "ring:4", "fat-tree:", "spine-leaf:8x56", "alone:-1"] {
            let error = Network::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not a fabric: expected spine-leaf:")), "{error}");
        }
        assert!(Network::parse("fat-tree:3").unwrap_err().to_string().contains('3'));
        let error = Network::parse("/nowhere/at.toml").unwrap_err().to_string();
        assert!(error.starts_with("cannot read /nowhere/at.toml: "), "{error}");
        assert_eq!(
            Network::parse("alone:0").unwrap_err().to_string(),
            "the fabric has too few hosts (0); connections need at least 2"
        );
    }
}
