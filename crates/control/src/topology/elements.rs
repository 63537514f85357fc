//! The elements of a [`Topology`](super::Topology): switches, ports and links.

use std::collections::BTreeMap;

use crate::clock::Time;
use crate::ids::{PortNo, SwitchId};

/// A switch that is or was connected.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    pub id: SwitchId,
    /// Its number in labels.
    pub label: u32,
    /// Whether it is connected.
    pub up: bool,
    /// Its ports, including those that are down.
    pub ports: BTreeMap<PortNo, u32>,
}

/// A port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub switch: u32,
    pub number: PortNo,
    pub up: bool,
    /// When it last came up or went down.
    pub(super) since: Time,
    /// The port where LLDP from here was received.
    pub(super) reaches: u32,
    /// The port whose LLDP was received here.
    pub(super) hears: u32,
    /// Whether it has led to a switch since it came up.
    pub(super) led_to_switch: bool,
    /// Whether rules found in switches send labels out of it, so that it must have led to a switch.
    pub(super) kept: bool,
    /// The link, if seen in both directions.
    pub cable: u32,
}

/// A link between two switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cable {
    /// Its ports, that of the lower datapath id first.
    pub ends: [u32; 2],
}
