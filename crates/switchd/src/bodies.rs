//! Request and response bodies about gates and flows (README.md of this crate), shared by the daemon and `weftctl`.

use std::sync::Arc;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, PortGate, SwitchGates};
use weft_switching::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, GroupId, Way};
use weft_units::PortId;

/// The flag of a gate ([`GateFlag`]) by its short name. The lines on the variants are weftctl's help.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Flag {
    /// A server: tags are removed (G_SRV)
    #[serde(alias = "G_SRV")]
    Srv,
    /// An external network: tags are removed (G_EXT)
    #[serde(alias = "G_EXT")]
    Ext,
    /// An edge switch: frames from there go up (G_ASS)
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
    /// The interface, or the number as a string.
    Text(String),
}

/// All gates of a switch: the answer to `GET /v1/gates`, and the body of `PUT /v1/gates`, which may also be
/// [`SwitchGates`] with the width of the plan's tags.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    /// The switch's name in the plan; empty if gates were set one at a time.
    pub switch: String,
    /// Its layer in the fabric.
    pub layer: Layer,
    /// The width of its tags: `narrow` or `wide`; in a request it must match the daemon's.
    pub width: Option<String>,
    /// The EtherType of its tags, in hexadecimal; in a request it must match the daemon's.
    pub ethertype: Option<String>,
    /// The distance between its DOWN gates; 0: not set.
    pub down_divisor: u32,
    /// The distance between its UP gates; 0: not set.
    pub up_divisor: u32,
    /// Its gates; in an answer, in order of ports.
    pub gates: Vec<GateOfPort>,
}

/// The gate of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateOfPort {
    /// The port's number.
    pub port: u16,
    /// The port's interface; in a request, the expected one.
    pub interface: Option<String>,
    /// The gate's number.
    pub gate: Gate,
    /// The number of a tag that addresses it.
    pub direction: Direction,
    /// Its flag.
    pub flag: Option<Flag>,
    /// The name of the node at the other end; empty if unknown.
    #[serde(default)]
    pub peer: String,
}

impl From<GateOfPort> for PortGate {
    fn from(new: GateOfPort) -> Self {
        let GateOfPort { port, interface: _, gate, direction, flag, peer } = new;
        Self { port: PortId(port), gate, direction, flag: flag.map(Into::into), peer }
    }
}

impl From<Gates> for SwitchGates {
    fn from(new: Gates) -> Self {
        let Gates { switch, layer, down_divisor, up_divisor, gates, width: _, ethertype: _ } = new;
        let gates = gates.into_iter().map(PortGate::from).collect();
        Self { switch, layer, down_divisor, up_divisor, gates }
    }
}

/// One gate, or the divisors: `PATCH /v1/gates`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateChange {
    /// The port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<PortName>,
    /// Its new gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The number of a tag that addresses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Its flag; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
    /// The new distance between DOWN gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down_divisor: Option<u32>,
    /// The new distance between UP gates.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// A rule and its counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CountedRule {
    /// See [`FlowRule`].
    pub priority: u16,
    /// See [`FlowRule`].
    pub matches: FlowMatch,
    /// See [`FlowRule`].
    pub action: FlowAction,
    /// The frames it was applied to.
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
    /// The number of rules, including those beyond the limit.
    pub total: usize,
    /// Rules by descending priority, then by match.
    pub rules: Vec<CountedRule>,
    /// Groups by number.
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
