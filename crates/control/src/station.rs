//! [`Station`]: a known host.

use std::net::IpAddr;

use smallvec::SmallVec;
use weft_wire::Mac;

use crate::clock::Time;
use crate::list::List;

/// A host's interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Station {
    pub mac: Mac,
    /// The port where it is attached.
    pub port: u32,
    /// The switch of that port.
    pub switch: u32,
    /// Its number in labels at that switch.
    pub number: u32,
    /// When it was last seen.
    pub seen: Time,
    /// Until when it keeps its place although it has not been seen and has no address to probe.
    pub unheard_until: Time,
    /// Whether it was taken over from delivery rules found in switches.
    pub is_found: bool,
    /// Its addresses, the last confirmed one last.
    pub addresses: SmallVec<[IpAddr; 1]>,
    /// Whether its delivery rule was requested.
    pub asked: bool,
    /// Whether the switch has confirmed that rule.
    pub installed: bool,
    /// Flows that it opened, and other flows it is an end of.
    pub flows: [List; 2],
    /// Routes to it.
    pub routes: List,
    /// Routes that forward its claims to its own addresses.
    pub said: List,
    /// The number of open claims to its addresses.
    pub claims: u16,
}

impl Station {
    /// Whether a claim to its MAC address or one of its IP addresses is being verified.
    pub const fn is_disputed(&self) -> bool {
        self.claims > 0
    }

    /// Whether it is known only from rules and has no address to probe.
    pub fn is_unheard(&self, now: Time) -> bool {
        now < self.unheard_until && self.addresses.is_empty()
    }

    /// Whether flows or routes use it.
    pub fn is_used(&self) -> bool {
        !self.routes.is_empty() || !self.said.is_empty() || self.flows.iter().any(|list| !list.is_empty())
    }
}
