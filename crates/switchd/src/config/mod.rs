//! The configuration of a switch: a TOML file, with flags of the command line before it. Keys, defaults and
//! units are in docs/switchd.md.

pub mod diagnostic;
mod exploration;
mod read;
mod routes;
pub(crate) mod table;

use std::net::SocketAddr;
use std::path::PathBuf;

use weft_switching::SchemeSpec;
use weft_switching::exploration::Exploration;
use weft_units::Duration;

use crate::Mode;
use crate::names::SwitchName;
use crate::tags::Tagging;

pub use read::{ConfigError, Flags};
pub use routes::Route;

/// Shortest key of Hello, in bytes (docs/wire-format.md).
pub const SHORTEST_KEY: usize = 16;
/// Most keys of Hello at a time: the one in use, and the one before or after it.
pub const MOST_KEYS: usize = 2;

/// What a switch is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of the switch on this machine: of its socket, pins and lock.
    pub name: SwitchName,
    /// How it forwards.
    pub mode: Mode,
    /// The names of its interfaces; the place in the list is the port's number.
    pub ports: Vec<String>,
    /// Its tier, 1 where hosts are attached; 0: not known.
    pub tier: u8,
    /// The ports that a Hello may make fabric ports; all where there is no list.
    pub fabric_ports: Option<Vec<String>>,
    /// What names the switch in Hellos; made of the first port's address where it is not given.
    pub switch_id: Option<u64>,
    /// The secrets of Hello, at most [`MOST_KEYS`]: ours are signed with the first, others' are believed by any. Without
    /// one nothing is signed and everything believed.
    pub hello_keys: Vec<Vec<u8>>,
    /// Between two Hellos.
    pub hello_interval: Duration,
    /// For how long a Hello of ours holds.
    pub hello_hold: Duration,
    /// Who may talk to the control socket.
    pub control: Access,
    /// Where metrics are served over TCP.
    pub metrics: Option<SocketAddr>,
    /// Longest packet of hosts, in bytes without the Ethernet header.
    pub mtu: u32,
    /// The scheme and its parameters, as the simulator has them.
    pub scheme: SchemeSpec,
    /// The same for what explores.
    pub exploration: Exploration,
    /// Next hops, of modes that are told them.
    pub routes: Vec<Route>,
    /// Where more of them are.
    pub routes_file: Option<PathBuf>,
    /// Of modes that have gates.
    pub tagging: Tagging,
}

/// Who may talk to the control socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The group that the socket belongs to; the daemon's where none is given.
    pub group: Option<String>,
    /// Its permissions.
    pub mode: u32,
}

impl Config {
    /// Whether a Hello makes the port `name` a fabric port.
    pub fn may_be_fabric(&self, name: &str) -> bool {
        self.fabric_ports.as_ref().is_none_or(|ports| ports.iter().any(|port| port == name))
    }

    /// Whether frames with tags are to go over the port `name`: it is said to lead to a switch.
    pub fn carries_tags(&self, name: &str) -> bool {
        self.mode.tags() && self.fabric_ports.is_some() && self.may_be_fabric(name)
    }
}
