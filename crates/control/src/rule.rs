//! [`Rule`], one entry of a switch's table, and the order in which entries apply.
//!
//! All of it but [`RuleChange::Flow`] is OpenFlow 1.3 without extensions; one table.

use std::net::IpAddr;

use smallvec::SmallVec;
use weft_wire::{Mac, NeighborOperation};

use crate::ids::PortNo;
use crate::tag_forward::FlowChange;

/// What frames a rule is for: those that agree with every field that is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Match {
    /// The port by which the frame came.
    pub in_port: Option<PortNo>,
    /// The source address.
    pub eth_src: Option<Mac>,
    /// Value and mask of the destination address.
    pub eth_dst: Option<(Mac, Mac)>,
    /// The EtherType; behind VLAN tags, which are not looked at.
    pub eth_type: Option<u16>,
    /// The protocol of the IP packet.
    pub ip_proto: Option<u8>,
    /// The source address of the IP packet.
    pub ip_src: Option<IpAddr>,
    /// The destination address of the IP packet.
    pub ip_dst: Option<IpAddr>,
    /// The source port of the TCP segment.
    pub tcp_src: Option<u16>,
    /// The destination port of the TCP segment.
    pub tcp_dst: Option<u16>,
    /// The type of the ICMPv6 message.
    pub icmpv6_type: Option<u8>,
    /// Which IP address ARP or neighbour discovery says is at which MAC address: the sender's in ARP and Neighbour
    /// Solicitations, the target in Neighbour Advertisements. Zeros for a MAC address that is not told.
    pub says: Option<(IpAddr, Mac)>,
    /// For which IP address ARP asks, or to whose question it answers; for which a Neighbour Solicitation asks.
    pub about: Option<IpAddr>,
}

/// The type of a Neighbour Solicitation in ICMPv6.
pub(crate) const SOLICITATION: u8 = NeighborOperation::Solicitation as u8;
/// The type of a Neighbour Advertisement.
pub(crate) const ADVERTISEMENT: u8 = NeighborOperation::Advertisement as u8;

/// The mask under which every bit counts.
pub const EXACT: Mac = Mac([0xff; 6]);

impl Match {
    /// Every frame.
    pub const ALL: Self = Self {
        in_port: None,
        eth_src: None,
        eth_dst: None,
        eth_type: None,
        ip_proto: None,
        ip_src: None,
        ip_dst: None,
        tcp_src: None,
        tcp_dst: None,
        icmpv6_type: None,
        says: None,
        about: None,
    };

    /// Frames to one address.
    pub const fn to(mac: Mac) -> Self {
        Self { eth_dst: Some((mac, EXACT)), ..Self::ALL }
    }
}

/// One step of what is done with a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RuleAction {
    /// Write the destination address.
    SetDestination(Mac),
    /// Send out of a port; by OpenFlow's rule never out of the one by which the frame came.
    Output(PortNo),
    /// Send up as it is at this step.
    Controller {
        /// How many bytes of it at most.
        max_len: u16,
    },
}

/// The steps of a rule, in their order; none drops the frame.
pub type Actions = SmallVec<[RuleAction; 3]>;

/// One entry of a switch's table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// By what the controller knows it: unique in its switch.
    pub cookie: u64,
    /// Of all rules that match a frame the one of the highest priority applies.
    pub priority: u16,
    /// Which frames.
    pub matches: Match,
    /// What is done with them.
    pub actions: Actions,
    /// Seconds without a frame until the switch removes it, 0 for never.
    pub idle_timeout_s: u16,
    /// Whether the switch tells of that.
    pub notify_removed: bool,
}

/// A change of a switch's table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleChange {
    /// Puts the rule in, in place of one of the same match and priority.
    Add(Rule),
    /// Gives the rule of this match, priority and cookie these actions; nothing if it is not there any more.
    Modify(Rule),
    /// Takes out every rule that has this cookie.
    Remove {
        /// The cookie.
        cookie: u64,
        /// What they match; [`Match::ALL`] where that is not known.
        matches: Match,
    },
    /// The same of a switch of Tag-and-Forward, whose table is no OpenFlow table.
    Flow(FlowChange),
}

impl RuleChange {
    /// The cookie of the rule that is changed; 0 for one of a switch of Tag-and-Forward.
    pub const fn cookie(&self) -> u64 {
        match self {
            Self::Add(rule) | Self::Modify(rule) => rule.cookie,
            Self::Remove { cookie, .. } => *cookie,
            Self::Flow(_) => 0,
        }
    }
}

/// Priorities, the highest first.
pub mod priority {
    /// LLDP goes to the controller.
    pub const LLDP: u16 = 60_000;
    /// Frames with labels that come from hosts are dropped.
    pub const GUARD: u16 = 55_000;
    /// Frames with labels go along their paths, and to their stations.
    pub const LABEL: u16 = 50_000;
    /// Frames with labels that lead nowhere are dropped.
    pub const NO_LABEL: u16 = 45_000;
    /// What is for the neighbour on the cable is dropped.
    pub const LINK_LOCAL: u16 = 40_000;
    /// Flows of TCP go their ways.
    pub const FLOW: u16 = 30_000;
    /// TCP between two stations goes the shortest path where there are too many flows.
    pub const CROWD: u16 = 25_000;
    /// What a station says of an address that is known to be its own goes to the station that it talks to.
    pub const CLAIM: u16 = 22_000;
    /// Other TCP, and questions for addresses, go to the controller.
    pub const ASK: u16 = 20_000;
    /// Everything else to a station goes the shortest path.
    pub const STATION: u16 = 10_000;
    /// What comes on the tree is flooded on.
    pub const FLOOD: u16 = 5_000;
    /// What no rule is for goes to the controller.
    pub const MISS: u16 = 0;
}
