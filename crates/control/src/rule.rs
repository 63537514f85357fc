//! [`Rule`], one flow table entry, and the priorities of entries.
//!
//! Everything except [`RuleChange::Flow`] is OpenFlow 1.3 without extensions, in one table.

use std::net::IpAddr;

use smallvec::SmallVec;
use weft_wire::{Mac, NeighborOperation};

use crate::cookie::Cookie;
use crate::ids::PortNo;
use crate::tag_forward::FlowChange;

/// The frames a rule applies to: those that agree in every field that is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Match {
    /// The ingress port.
    pub in_port: Option<PortNo>,
    /// The source address.
    pub eth_src: Option<Mac>,
    /// Value and mask of the destination address.
    pub eth_dst: Option<(Mac, Mac)>,
    /// The EtherType after any VLAN tags, which are ignored.
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
    /// The IP-to-MAC binding claimed by ARP or neighbour discovery: the sender's in ARP and Neighbour Solicitations,
    /// the target's in Neighbour Advertisements. The MAC address is zero if the message has none.
    pub says: Option<(IpAddr, Mac)>,
    /// The target address of ARP and of a Neighbour Solicitation.
    pub about: Option<IpAddr>,
}

/// The ICMPv6 type of a Neighbour Solicitation.
pub(crate) const SOLICITATION: u8 = NeighborOperation::Solicitation as u8;
/// The ICMPv6 type of a Neighbour Advertisement.
pub(crate) const ADVERTISEMENT: u8 = NeighborOperation::Advertisement as u8;

/// A mask that compares every bit.
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

    /// Frames to one destination address.
    pub const fn to(mac: Mac) -> Self {
        Self { eth_dst: Some((mac, EXACT)), ..Self::ALL }
    }
}

/// One action on a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RuleAction {
    /// Set the destination address.
    SetDestination(Mac),
    /// Send out of a port; OpenFlow never sends a frame out of its ingress port this way.
    Output(PortNo),
    /// Send the frame, as modified so far, to the controller.
    Controller {
        /// Maximum number of bytes to send.
        max_len: u16,
    },
}

/// A rule's actions in order; none drops the frame.
pub type Actions = SmallVec<[RuleAction; 3]>;

/// One flow table entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The controller's identifier, unique in its switch.
    pub cookie: u64,
    /// The matching rule with the highest priority applies.
    pub priority: u16,
    /// The frames it applies to.
    pub matches: Match,
    /// The actions on them.
    pub actions: Actions,
    /// Idle timeout in seconds, 0 for none.
    pub idle_timeout_s: u16,
    /// Whether the switch reports the removal.
    pub notify_removed: bool,
}

impl Rule {
    /// A rule without a timeout.
    pub(crate) const fn lasting(cookie: Cookie, priority: u16, matches: Match, actions: Actions) -> Self {
        Self { cookie: cookie.bits(), priority, matches, actions, idle_timeout_s: 0, notify_removed: false }
    }

    /// The change that removes it.
    pub(crate) const fn removal(&self) -> RuleChange {
        RuleChange::Remove { cookie: self.cookie, matches: self.matches }
    }
}

/// A change of a switch's flow table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleChange {
    /// Adds the rule, replacing one with the same match and priority.
    Add(Rule),
    /// Sets the actions of the rule with this match, priority and cookie, if it still exists.
    Modify(Rule),
    /// Removes every rule with this cookie.
    Remove {
        /// The cookie.
        cookie: u64,
        /// Their match; [`Match::ALL`] if unknown.
        matches: Match,
    },
    /// A change of a Tag-and-Forward switch, whose table is not an OpenFlow table.
    Flow(FlowChange),
}

impl RuleChange {
    /// The cookie of the changed rule; 0 for a Tag-and-Forward switch.
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
    /// Labelled frames from hosts are dropped.
    pub const GUARD: u16 = 55_000;
    /// Labelled frames follow their paths to their stations.
    pub const LABEL: u16 = 50_000;
    /// Frames with unknown labels are dropped.
    pub const NO_LABEL: u16 = 45_000;
    /// Link-local frames are dropped.
    pub const LINK_LOCAL: u16 = 40_000;
    /// TCP flows follow their paths.
    pub const FLOW: u16 = 30_000;
    /// TCP between two stations takes the shortest path if their port has too many flows.
    pub const CROWD: u16 = 25_000;
    /// A station's claims to its own addresses are forwarded to the station it talks to.
    pub const CLAIM: u16 = 22_000;
    /// Other TCP, and address requests, go to the controller.
    pub const ASK: u16 = 20_000;
    /// Everything else to a station takes the shortest path.
    pub const STATION: u16 = 10_000;
    /// Frames from the tree are flooded along it.
    pub const FLOOD: u16 = 5_000;
    /// Frames that match no other rule go to the controller.
    pub const MISS: u16 = 0;
}
