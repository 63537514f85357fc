//! [`Journal`]: the events in a partition that others have to know: the flows' records, and messages of switches
//! to the central controller.
//!
//! The engine joins the journals of all partitions in the order of (time, node). That order, and with it every
//! record, is the same for any division into partitions.

use weft_control::Packet as ShownPacket;
use weft_switching::DropReason;
use weft_units::{Duration, HostId, NodeId, PortId, Time};

use crate::delays::Delays;
use crate::packet::{DetachedPacket, Way};
use crate::ring_path::PartTimes;

/// Number of a flow in [`crate::setup::Setup::flows`].
pub type FlowNumber = u32;

/// A connection's place in the flow's record: the flow, and the subflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SubflowId {
    /// The flow.
    pub flow: FlowNumber,
    /// The subflow; 0 for a TCP connection.
    pub subflow: u8,
}

impl SubflowId {
    /// The flow and subflow in a packet's owner, which has `bits` bits below the flow's number: the subflow, then the side.
    #[inline(always)]
    pub const fn of_owner(owner: u32, bits: u32) -> Self {
        Self { flow: owner >> bits, subflow: (owner >> 1 & ((1 << (bits - 1)) - 1)) as u8 }
    }
}

/// The two ends of a TCP or UDP tuple, source first.
pub type Tuple = [(HostId, u16); 2];

/// One entry.
#[derive(Debug)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// The node.
    pub node: NodeId,
    /// The event.
    pub news: News,
}

/// An event at a node.
#[derive(Debug)]
pub enum News {
    /// A source opened a connection with this tuple.
    Opened(SubflowId, Tuple),
    /// The destination got the last byte.
    Received(FlowNumber),
    /// The source has received the acknowledgement of the last byte; reported only if a flow waits for it.
    Acknowledged(FlowNumber),
    /// One side (0: the source) has closed the connection.
    Closed(FlowNumber, usize),
    /// One side gave up.
    Aborted(FlowNumber),
    /// A side's counts, when it has left.
    Left(FlowNumber, Box<SideReport>),
    /// A frame of a connection was dropped.
    Dropped(SubflowId, Loss),
    /// A followed packet reached its host.
    Arrived(SubflowId, Box<Way>),
    /// A switch explores for a connection whose frame it holds.
    Explores(SubflowId),
    /// The reply to an exploration has reached the frame's switch.
    Explored(SubflowId),
    /// A switch explores for an active flow.
    Asked(Tuple),
    /// The reply to this has arrived: its flow has a path.
    Answered(Tuple),
    /// A switch reports a frame to the controller.
    Reported(Box<Reported>),
    /// A rule reached its idle timeout.
    RuleRemoved {
        /// The rule's cookie.
        cookie: u64,
        /// Frames that matched it.
        packets: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// A dropped frame of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Why.
    pub reason: DropReason,
    /// Whether it carried data.
    pub has_data: bool,
    /// Whether it was followed.
    pub followed: bool,
    /// Whether switches made it.
    pub is_control: bool,
    /// For silent loss on a link: the number (from 1) of the event that made the link lose packets.
    pub gray_event: Option<u32>,
}

impl Loss {
    /// Whether the source follows another segment: the followed one was lost, or its path may be gone.
    pub const fn makes_follow(&self) -> bool {
        self.followed || self.has_data && self.for_want_of_a_path()
    }

    /// Whether the frame was lost for want of a path, with no other copy of it.
    pub const fn for_want_of_a_path(&self) -> bool {
        !matches!(
            self.reason,
            DropReason::QueueFull
                | DropReason::LateCopy
                | DropReason::NotForMe
                | DropReason::Untrusted
                | DropReason::LinkLoss
                | DropReason::Blackhole
        )
    }
}

/// A frame reported to the controller.
#[derive(Debug)]
pub struct Reported {
    /// The port it arrived on.
    pub ingress: PortId,
    /// The cookie of the rule that reports it.
    pub cookie: u64,
    /// The controller's view of it.
    pub shown: ShownPacket,
    /// The frame, if it waits at the controller.
    pub held: Option<DetachedPacket>,
}

/// The counts of one side of a connection.
#[derive(Clone, Debug, Default)]
pub struct SideReport {
    /// 0: the source; 1: the destination.
    pub side: usize,
    /// TCP's counts, summed over subflows.
    pub tcp: weft_transport::Stats,
    /// Multipath TCP's.
    pub multipath: Option<weft_transport::mptcp::Stats>,
    /// Delays of the packets that it received.
    pub delays: Delays,
    /// At the source, how long the flow waited for its destination's address.
    pub resolution: Duration,
    /// At the source, when the flow started.
    pub start: Time,
    /// At the source, the ideal completion time, of a flow in parts of a part.
    pub ideal: PartTimes,
    /// At the source, the number of hops.
    pub hops: u32,
}

/// The entries of one partition.
#[derive(Default)]
pub struct Journal {
    /// Entries in order of time.
    pub entries: Vec<Entry>,
    /// Whether one of them makes the engine act within the lookahead.
    pub is_urgent: bool,
}

impl Journal {
    /// Adds an entry.
    #[cold]
    pub fn add(&mut self, at: Time, node: NodeId, news: News) {
        self.is_urgent |= match &news {
            News::Dropped(_, loss) => loss.makes_follow(),
            News::Opened(..)
            | News::Received(_)
            | News::Acknowledged(_)
            | News::Arrived(..)
            | News::Left(..) => false,
            News::Asked(_) | News::Explores(_) | News::Explored(_) => false,
            News::Closed(..) | News::Aborted(_) | News::Answered(_) => true,
            News::Reported(_) | News::RuleRemoved { .. } => true,
        };
        self.entries.push(Entry { at, node, news });
    }
}
