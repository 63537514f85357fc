//! [`Config`]: the configuration of a switch.

use std::net::SocketAddr;
use std::path::PathBuf;

use weft_switching::SchemeSpec;
use weft_switching::exploration::Exploration;
use weft_switching::leaf_routes::Leaf;
use weft_units::Duration;

use super::routes::Route;
use crate::Mode;
use crate::names::SwitchName;
use crate::tags::Tagging;

/// The configuration of a switch.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of the switch on this machine, used for its socket, pins and lock.
    pub name: SwitchName,
    /// The forwarding mode.
    pub mode: Mode,
    /// The names of its interfaces; the index in the list is the port number.
    pub ports: Vec<String>,
    /// Its tier, 1 if hosts are attached to it; 0: unknown.
    pub tier: u8,
    /// The ports that a Hello may turn into fabric ports; all ports if there is no list.
    pub fabric_ports: Option<Vec<String>>,
    /// The switch id sent in Hellos; derived from the first port's address by default.
    pub switch_id: Option<u64>,
    /// The Hello keys, at most [`MOST_KEYS`](super::MOST_KEYS): the first signs our Hellos, any of them may verify received ones. Without
    /// a key, Hellos are neither signed nor verified.
    pub hello_keys: Vec<Vec<u8>>,
    /// The interval between Hellos.
    pub hello_interval: Duration,
    /// The hold time of our Hellos.
    pub hello_hold: Duration,
    /// Users who may use the control socket.
    pub control: Access,
    /// The TCP address where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Longest packet of hosts, in bytes without the Ethernet header.
    pub mtu: u32,
    /// The scheme and its parameters, as in the simulator.
    pub scheme: SchemeSpec,
    /// The parameters of exploration.
    pub exploration: Exploration,
    /// Next hops, in modes with routes.
    pub routes: Vec<Route>,
    /// Whether next hops to leaves are read from the kernel's routes.
    pub uses_kernel: bool,
    /// Leaves, if so.
    pub leaves: Vec<Leaf>,
    /// Whether Hello messages say what the switch reaches, and those of neighbours withdraw routes.
    pub announces_reach: bool,
    /// A file with more routes and leaves.
    pub routes_file: Option<PathBuf>,
    /// Settings of modes with gates.
    pub tagging: Tagging,
}

/// Users who may use the control socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The group of the socket; the daemon's by default.
    pub group: Option<String>,
    /// Its permissions.
    pub mode: u32,
}

impl Config {
    /// Whether a Hello may turn the port `name` into a fabric port.
    pub fn may_be_fabric(&self, name: &str) -> bool {
        self.fabric_ports.as_ref().is_none_or(|ports| ports.iter().any(|port| port == name))
    }

    /// Whether a routing daemon may have a neighbour on the port `name`.
    pub fn may_have_peer(&self, name: &str) -> bool {
        self.uses_kernel && self.may_be_fabric(name)
    }

    /// Whether a switch is expected on the port `name`: `fabric_ports` lists it.
    pub fn expects_switch(&self, name: &str) -> bool {
        self.fabric_ports.is_some() && self.may_be_fabric(name)
    }

    /// Whether tagged frames are expected on the port `name`.
    pub fn carries_tags(&self, name: &str) -> bool {
        self.mode.tags() && self.expects_switch(name)
    }
}
