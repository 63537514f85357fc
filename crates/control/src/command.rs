//! [`Command`], what a controller wants done.

use std::net::{Ipv4Addr, Ipv6Addr};

use weft_wire::Mac;

use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::rule::RuleChange;

/// Something to be done in the network. To one switch, changes of one rule, and transactions, go in their order;
/// frames, and changes that nobody waits for, may overtake transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Changes rules.
    Install(Transaction),
    /// Sends a frame out of ports of a switch, at once.
    PacketOut {
        /// The switch.
        switch: SwitchId,
        /// The port by which the frame counts as having come; `None` for the controller's.
        in_port: Option<PortNo>,
        /// Where it goes; [`PortNo::TABLE`] for where the rules say.
        ports: Vec<PortNo>,
        /// The frame.
        frame: FrameOut,
    },
    /// The frame will not be named any more. Every frame of a packet-in is forgotten once.
    Forget(FrameRef),
}

/// Changes of rules that become valid together, as far as frames that wait for them can tell.
///
/// Rules for the destination's end stand first. When every switch has confirmed its changes, the frames of
/// [`Transaction::release`] are sent and [`crate::Controller::installed`] is called; if one refuses, or is
/// gone, [`crate::Controller::failed`] is called once instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Its number; 0 where nobody waits: then neither call is made and there is nothing to release.
    pub id: u64,
    /// The changes, each with its switch.
    pub rules: Vec<(SwitchId, RuleChange)>,
    /// Frames, with the ports by which they came, to be sent where the rules say then.
    pub release: Vec<(SwitchPort, FrameRef)>,
}

/// A frame to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameOut {
    /// One that came by a packet-in, as it came.
    Held(FrameRef),
    /// One of the controller's own.
    Made(MadeFrame),
}

/// A frame of the controller's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MadeFrame {
    /// An ARP reply on behalf of a host.
    ArpReply {
        /// The host that was asked for.
        sender: (Mac, Ipv4Addr),
        /// Who asked.
        target: (Mac, Ipv4Addr),
    },
    /// A Neighbour Advertisement on behalf of a host, solicited, with its link-layer address.
    Advertisement {
        /// The host that was asked for.
        sender: (Mac, Ipv6Addr),
        /// Who asked.
        target: (Mac, Ipv6Addr),
    },
    /// An ARP probe (RFC 5227) to one station: is it still there?
    ArpProbe {
        /// The station.
        station: Mac,
        /// Its address.
        target: Ipv4Addr,
    },
    /// A Neighbour Solicitation from `::` (RFC 4862, section 5.4) to one station: is it still there?
    SolicitationProbe {
        /// The station.
        station: Mac,
        /// Its address.
        target: Ipv6Addr,
    },
}

impl MadeFrame {
    /// The controller's own address, from which it asks.
    pub const CONTROLLER: Mac = Mac([0x02, 0x57, 0, 0, 0, 1]);
}
