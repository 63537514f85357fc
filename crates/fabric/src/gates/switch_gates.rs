//! [`SwitchGates`]: the gates of one switch, and how it forwards by them.

use std::fmt;

use serde::{Deserialize, Serialize};
use weft_units::PortId;

use super::{Gate, forward};

/// The layer of a switch in a fat-tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Has servers.
    Edge,
    /// Between the edges of a pod and the cores.
    Aggregation,
    /// Connects all pods; has external links.
    Core,
}

impl Layer {
    /// All layers from the bottom up.
    pub const ALL: [Self; 3] = [Self::Edge, Self::Aggregation, Self::Core];
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Edge => "edge",
            Self::Aggregation => "aggregation",
            Self::Core => "core",
        })
    }
}

/// The enumeration of a gate, and so the number of a tag that leads through it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Bottom-up: towards servers, by DOWN.
    Down,
    /// Top-down: towards cores and external links, by UP.
    Up,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Down, Self::Up];
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Down => "down",
            Self::Up => "up",
        })
    }
}

/// The flag of a gate (section III-D).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum GateFlag {
    /// Leads to a server: the tag is popped.
    #[serde(rename = "G_SRV")]
    Srv,
    /// Leads to an external link: the tag is popped.
    #[serde(rename = "G_EXT")]
    Ext,
    /// Leads to an edge switch: frames received there with both numbers go up.
    #[serde(rename = "G_ASS")]
    Ass,
}

impl GateFlag {
    /// Whether the tag is popped from a frame that leaves through the gate. Tags received there are not trusted.
    pub const fn pops(self) -> bool {
        matches!(self, Self::Srv | Self::Ext)
    }
}

impl fmt::Display for GateFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Srv => "G_SRV",
            Self::Ext => "G_EXT",
            Self::Ass => "G_ASS",
        })
    }
}

/// The gate of a port.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortGate {
    /// The port, as numbered in the fabric.
    #[serde(with = "port")]
    pub port: PortId,
    /// Its number.
    pub gate: Gate,
    /// Whether UP or DOWN leads there.
    pub direction: Direction,
    /// Additional handling at the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<GateFlag>,
    /// The name of the node at the other end of the cable; empty if unknown.
    #[serde(default)]
    pub peer: String,
}

/// Serializes a port as a number.
mod port {
    use super::{Deserialize, PortId};

    pub fn serialize<S: serde::Serializer>(port: &PortId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(port.0)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<PortId, D::Error> {
        u16::deserialize(deserializer).map(PortId)
    }
}

/// All that a switch needs to forward tagged frames.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchGates {
    /// Its name.
    pub switch: String,
    /// Its layer.
    pub layer: Layer,
    /// Spacing of its DOWN gates.
    pub down_divisor: u32,
    /// Spacing of its UP gates.
    pub up_divisor: u32,
    /// Its gates, in order of ports.
    pub gates: Vec<PortGate>,
}

impl SwitchGates {
    /// Spacing of its gates of a direction.
    pub const fn divisor(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Down => self.down_divisor,
            Direction::Up => self.up_divisor,
        }
    }

    /// The gate of a port.
    pub fn at(&self, port: PortId) -> Option<&PortGate> {
        self.gates.iter().find(|gate| gate.port == port)
    }

    /// Its gates of a direction, in order of ports.
    pub fn toward(&self, direction: Direction) -> impl Iterator<Item = &PortGate> {
        self.gates.iter().filter(move |gate| gate.direction == direction)
    }

    /// The output gate of a tag received at a gate with the flag `from`; `None` if no gate has the number.
    pub fn output(&self, from: Option<GateFlag>, up: u32, down: u32) -> Option<&PortGate> {
        let direction = chosen(from, up, down);
        let number = match direction {
            Direction::Down => down,
            Direction::Up => up,
        };
        let gate = forward(Gate(number), self.divisor(direction))?;
        self.toward(direction).find(|candidate| candidate.gate == gate)
    }
}

/// The number of a tag that a switch uses: the one that is set; if both are, UP for frames received at a
/// [`GateFlag::Ass`] gate, else DOWN (section III-D).
pub const fn chosen(from: Option<GateFlag>, up: u32, down: u32) -> Direction {
    match (up, down) {
        (_, 0) => Direction::Up,
        (0, _) => Direction::Down,
        _ if matches!(from, Some(GateFlag::Ass)) => Direction::Up,
        _ => Direction::Down,
    }
}
