//! [`Telemetry`]: the state of the ports that a packet has left, which switches add to it and the receiver returns
//! (in-band
//! network telemetry, INT).

use weft_units::{Rate, Time};

/// The state of a switch's port when the line starts to send a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The number of the link.
    pub link: u32,
    /// The rate of the link.
    pub rate: Rate,
    /// The time.
    pub at: Time,
    /// Bytes that the link had sent before, with all that packets take on the wire.
    pub sent: u64,
    /// Bytes in the port's queues, without this packet.
    pub queued: u64,
}

/// The hops of a packet, in the order of its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Telemetry {
    hops: [Hop; Telemetry::MOST],
    count: u8,
    room: u8,
}

impl Telemetry {
    /// The most hops for which a packet can have room.
    pub const MOST: usize = 8;

    /// Without hops, with room for so many.
    pub fn with_room(hops: u8) -> Self {
        let none = Hop { link: 0, rate: Rate::from_bps(1), at: Time::ZERO, sent: 0, queued: 0 };
        Self { hops: [none; Self::MOST], count: 0, room: hops.min(Self::MOST as u8) }
    }

    /// Bytes in a packet with room for so many hops: eight for each, and two for their number, as in HPCC's ns-3 code.
    pub const fn bytes(hops: u8) -> u32 {
        2 + 8 * hops as u32
    }

    /// Adds a hop, if there is room.
    pub fn add(&mut self, hop: Hop) {
        if self.count < self.room {
            self.hops[usize::from(self.count)] = hop;
            self.count += 1;
        }
    }

    /// The hops.
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.count)]
    }

    /// Whether another packet took the same path.
    pub fn is_on_path_of(&self, other: &Self) -> bool {
        let links = |telemetry: &Self| telemetry.hops.map(|hop| hop.link);
        self.count == other.count && links(self) == links(other)
    }
}
