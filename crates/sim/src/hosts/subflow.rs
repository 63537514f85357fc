//! [`Subflow`]: one side of a path of packets between two hosts.

use weft_switching::Header;
use weft_transport::roce::Telemetry;
use weft_transport::{Flags, Segment};

use crate::delays::Last;
use crate::network::Network;
use crate::packet::{Content, PacketId, WATCHED, Way};

/// The addresses of a subflow at its source and its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    /// Those of the hosts.
    Hosts,
    /// Those of the links of these numbers, from which packets leave unless no subflow's link works; routes lead to the hosts.
    Links([u8; 2]),
    /// Those of the interfaces of these numbers or, while these do not work, of others.
    Preferred([u8; 2]),
}

impl Addresses {
    /// The number of the link at the destination, 0 without numbers of links.
    pub const fn destination_link(self) -> u8 {
        match self {
            Self::Links([_, destination]) => destination,
            Self::Hosts | Self::Preferred(_) => 0,
        }
    }
}

/// One side of a subflow; most protocols have one for each flow.
pub struct Subflow {
    /// The source's number of it, which its packets carry.
    pub name: u8,
    /// The header of its packets.
    pub template: Header,
    /// The link on which it sends.
    pub nic: u32,
    /// The number of that link's line or pacer.
    pub line: u32,
    /// Its addresses.
    pub addresses: Addresses,
    /// Whether to follow the next data packet, to see its path.
    pub follows: bool,
    /// How many packets have been followed.
    pub followed: u32,
    /// The delay of the packet that it received last.
    pub last: Last,
}

impl Subflow {
    /// The owner of the packet of `segment`, watched if links observe it, and its way if it is followed.
    #[inline(always)]
    pub fn follow(&mut self, segment: &Segment, owner: u32) -> (u32, Option<Box<Way>>) {
        if segment.len > 0 {
            return self.follow_data(owner);
        }
        (if segment.flags.has(Flags::SYN) { owner | WATCHED } else { owner }, None)
    }

    /// The owner of a packet with data, and its way if it is followed.
    #[inline(always)]
    fn follow_data(&mut self, owner: u32) -> (u32, Option<Box<Way>>) {
        if !self.follows {
            return (owner, None);
        }
        self.follows = false;
        self.followed += 1;
        (owner | WATCHED, Some(Box::new(Way { number: self.followed, links: Vec::new() })))
    }

    /// Makes a packet with `header`, `content` and perhaps `telemetry`, of a protocol other than TCP.
    #[inline]
    pub fn packet_with(
        &mut self,
        net: &mut Network<'_>,
        owner: u32,
        header: &Header,
        content: Content,
        telemetry: Option<Box<Telemetry>>,
    ) -> PacketId {
        let (owner, way) = if header.payload > 0 { self.follow_data(owner) } else { (owner, None) };
        net.packets.packet_with(net.now, header, owner, content, way, telemetry)
    }
}
