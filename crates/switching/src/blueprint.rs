//! [`Blueprint`]: a scheme ready to build its switches and, if it has one, its central controller.

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, PortId};

use crate::Switch;
use crate::timing::Timing;

/// A scheme's central controller.
pub struct Central {
    /// Its decisions.
    pub controller: Box<dyn weft_control::Controller>,
    /// Its delays.
    pub timing: Timing,
}

/// A scheme ready to build its switches.
pub trait Blueprint {
    /// The state machine of one switch.
    type Switch: Switch + 'static;

    /// The switch at `node`.
    fn switch(&self, fabric: &Fabric, node: NodeId) -> Self::Switch;

    /// The central controller, if any.
    fn central(&self) -> Option<Central> {
        None
    }

    /// Lifetime of ARP entries, if hosts send ARP Requests.
    fn arp_cache(&self) -> Option<Duration> {
        None
    }

    /// The port behind which each node knows `host` after earlier traffic, by node, if switches learn stations. `random`
    /// chooses among equal ones.
    fn learnt(&self, _fabric: &Fabric, _host: NodeId, _random: u64) -> Option<Vec<Option<PortId>>> {
        None
    }
}
