//! [`Node`]: a host or a switch.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use weft_units::HostId;

/// The tier of a switch that joins the hosts of a scale-up domain.
pub const SCALE_UP_TIER: u8 = 0;

/// The role of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends and receives flows; never forwards for others.
    Host,
    /// Forwards.
    Switch,
}

/// A host or a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Unique in its fabric, such as `h0` or `e3`.
    pub name: String,
    /// Host or switch.
    pub role: Role,
    /// 0: host or [`scale-up switch`](Self::is_scale_up), 1: switch with hosts (ToR, edge, leaf), 2: aggregation (or the spine of two tiers), 3: core.
    pub tier: u8,
    /// The pod, if the fabric has pods.
    pub pod: Option<u32>,
    /// The host's id among hosts; `None` for a switch.
    pub host: Option<HostId>,
}

impl Node {
    /// Whether the node is a host.
    #[inline]
    pub fn is_host(&self) -> bool {
        self.role == Role::Host
    }

    /// Whether the node joins the hosts of a scale-up domain, as an NVSwitch does: a switch of tier 0.
    #[inline]
    pub fn is_scale_up(&self) -> bool {
        self.role == Role::Switch && self.tier == SCALE_UP_TIER
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::Switch => "switch",
        })
    }
}

impl FromStr for Role {
    type Err = String;

    /// Reads `host` or `switch`; the error is the text itself.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "host" => Ok(Self::Host),
            "switch" => Ok(Self::Switch),
            other => Err(other.to_owned()),
        }
    }
}
