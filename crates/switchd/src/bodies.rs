//! Bodies of requests and answers about gates and flows (README.md of this crate), shared by the daemon and `weftctl`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, PortGate, SwitchGates};
use weft_switching::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, GroupId, Way};
use weft_units::PortId;

/// The flag of a gate by its short name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flag {
    /// [`GateFlag::Srv`].
    #[serde(alias = "G_SRV")]
    Srv,
    /// [`GateFlag::Ext`].
    #[serde(alias = "G_EXT")]
    Ext,
    /// [`GateFlag::Ass`].
    #[serde(alias = "G_ASS")]
    Ass,
}

impl From<GateFlag> for Flag {
    fn from(flag: GateFlag) -> Self {
        match flag {
            GateFlag::Srv => Self::Srv,
            GateFlag::Ext => Self::Ext,
            GateFlag::Ass => Self::Ass,
        }
    }
}

impl From<Flag> for GateFlag {
    fn from(flag: Flag) -> Self {
        match flag {
            Flag::Srv => Self::Srv,
            Flag::Ext => Self::Ext,
            Flag::Ass => Self::Ass,
        }
    }
}

/// A port of the switch: its number, or its interface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PortName {
    /// The number.
    Number(u16),
    /// The interface, or the number as a text.
    Text(String),
}

/// The gates of a switch: the answer to `GET /v1/gates`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Gates {
    /// The name by which it was given its gates; empty where it was given one at a time.
    pub switch: String,
    /// Where it stands.
    pub layer: Layer,
    /// Of its tags: `narrow` or `wide`.
    pub width: String,
    /// Of its tags, in hexadecimal.
    pub ethertype: String,
    /// How far its DOWN gates are apart; 0: there is none yet.
    pub down_divisor: u32,
    /// How far its UP gates are apart; 0: there is none yet.
    pub up_divisor: u32,
    /// In order of ports.
    pub gates: Vec<ShownGate>,
}

/// The gate of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShownGate {
    /// The port's number.
    pub port: u16,
    /// The port's interface.
    pub interface: String,
    /// The gate's number.
    pub gate: Gate,
    /// Which number of a tag leads through it.
    pub direction: Direction,
    /// What happens there beside forwarding.
    pub flag: Option<Flag>,
    /// The name of what is at the other end; empty where it was not said.
    pub peer: String,
}

/// All gates of a switch: `PUT /v1/gates`. [`SwitchGates`] with the width of the plan's tags, or [`Gates`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGates {
    /// See [`SwitchGates`].
    pub switch: String,
    /// See [`SwitchGates`].
    pub layer: Layer,
    /// See [`SwitchGates`].
    pub down_divisor: u32,
    /// See [`SwitchGates`].
    pub up_divisor: u32,
    /// See [`SwitchGates`].
    pub gates: Vec<NewGate>,
    /// `narrow` or `wide`, as the daemon's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<String>,
    /// As the daemon's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethertype: Option<String>,
}

/// A gate as a plan has it ([`PortGate`]), or as a switch shows it ([`ShownGate`]).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGate {
    /// The port's number.
    pub port: u16,
    /// The interface that the port is to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The gate's number.
    pub gate: Gate,
    /// Which number of a tag leads through it.
    pub direction: Direction,
    /// What happens there beside forwarding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
    /// The name of what is at the other end; empty where it is not said.
    #[serde(default)]
    pub peer: String,
}

impl From<NewGate> for PortGate {
    fn from(new: NewGate) -> Self {
        let NewGate { port, interface: _, gate, direction, flag, peer } = new;
        Self { port: PortId(port), gate, direction, flag: flag.map(Into::into), peer }
    }
}

impl From<NewGates> for SwitchGates {
    fn from(new: NewGates) -> Self {
        let NewGates { switch, layer, down_divisor, up_divisor, gates, width: _, ethertype: _ } = new;
        let gates = gates.into_iter().map(PortGate::from).collect();
        Self { switch, layer, down_divisor, up_divisor, gates }
    }
}

/// One gate, or the divisors: `PATCH /v1/gates`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateChange {
    /// The port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<PortName>,
    /// Its gate from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// Which number of a tag leads through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What happens there beside forwarding; nothing where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
    /// How far DOWN gates are apart from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_divisor: Option<u32>,
    /// How far UP gates are apart from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_divisor: Option<u32>,
}

/// A group of ways.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its number.
    pub id: GroupId,
    /// Its ways.
    pub ways: Arc<[Way]>,
}

/// A rule, and what it was applied to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CountedRule {
    /// See [`FlowRule`].
    pub priority: u16,
    /// See [`FlowRule`].
    pub matches: FlowMatch,
    /// See [`FlowRule`].
    pub action: FlowAction,
    /// Frames.
    pub packets: u64,
    /// The bytes of their IP packets.
    pub bytes: u64,
}

impl CountedRule {
    /// The rule.
    pub const fn rule(&self) -> FlowRule {
        FlowRule { priority: self.priority, matches: self.matches, action: self.action }
    }
}

/// The rules and groups of a switch: the answer to `GET /v1/flows`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flows {
    /// Rules, also those that are not in the list.
    pub total: usize,
    /// By falling priority, then by match.
    pub rules: Vec<CountedRule>,
    /// By number.
    pub groups: Vec<Group>,
}

/// Changes, in order, all or none: `POST /v1/flows`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowChanges {
    /// The changes.
    pub changes: Vec<FlowChange>,
}

/// All rules of a priority, and all groups: `PUT /v1/flows`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedFlows {
    /// The priority.
    pub priority: u16,
    /// Its rules.
    pub rules: Vec<FlowRule>,
    /// The groups.
    #[serde(default)]
    pub groups: Vec<Group>,
}
