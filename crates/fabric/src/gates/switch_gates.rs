//! [`SwitchGates`]: what one switch is told, and how it forwards by that.

use std::fmt;

use serde::{Deserialize, Serialize};
use weft_units::PortId;

use super::{Gate, forward};

/// Where a switch stands in a fat-tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Servers hang on it.
    Edge,
    /// Between the edges of a pod and the cores.
    Aggregation,
    /// Joins all pods; external links hang on it.
    Core,
}

impl Layer {
    /// From the bottom up.
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

/// Which of the two enumerations a gate is from, and so which number of a tag leads through it.
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
    /// A server hangs on it: the tag is taken off.
    #[serde(rename = "G_SRV")]
    Srv,
    /// An external link hangs on it: the tag is taken off.
    #[serde(rename = "G_EXT")]
    Ext,
    /// An edge switch hangs on it: what comes in with both numbers goes up.
    #[serde(rename = "G_ASS")]
    Ass,
}

impl GateFlag {
    /// Whether the tag is taken off a frame that leaves through the gate. Nothing is believed that comes in with
    /// one there.
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
    /// The port, as the fabric counts.
    #[serde(with = "port")]
    pub port: PortId,
    /// Its number.
    pub gate: Gate,
    /// Whether UP or DOWN leads there.
    pub direction: Direction,
    /// What happens there beside forwarding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<GateFlag>,
    /// The name of the node at the other end of the cable; empty where it is not said.
    #[serde(default)]
    pub peer: String,
}

/// A port in serde's terms.
mod port {
    use super::{Deserialize, PortId};

    pub fn serialize<S: serde::Serializer>(port: &PortId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(port.0)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<PortId, D::Error> {
        u16::deserialize(deserializer).map(PortId)
    }
}

/// What a switch is told: all it needs to forward tagged frames.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchGates {
    /// Its name.
    pub switch: String,
    /// Where it stands.
    pub layer: Layer,
    /// How far its DOWN gates are apart.
    pub down_divisor: u32,
    /// How far its UP gates are apart.
    pub up_divisor: u32,
    /// Its gates, in order of ports.
    pub gates: Vec<PortGate>,
}

impl SwitchGates {
    /// How far its gates of a direction are apart.
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

    /// The gate through which a tag leaves that came in at a gate with the flag `from`; `None` where no gate has
    /// the number.
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

/// Which number of a tag a switch takes: the one that is set; of both, UP where the gate that the frame came in
/// through is flagged [`GateFlag::Ass`], else DOWN (section III-D).
pub const fn chosen(from: Option<GateFlag>, up: u32, down: u32) -> Direction {
    match (up, down) {
        (_, 0) => Direction::Up,
        (0, _) => Direction::Down,
        _ if matches!(from, Some(GateFlag::Ass)) => Direction::Up,
        _ => Direction::Down,
    }
}
