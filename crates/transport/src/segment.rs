//! [`Segment`]: a decoded TCP header, as exchanged between endpoints.
//!
//! Payload is only a length. The [`Config`](crate::Config) shared by both ends determines the options,
//! so a segment carries only their values and their size.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// Bytes of an IPv4 header without options.
pub const IP_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;

/// The control bits of a segment, at their positions in a TCP header; the unused urgent bit indicates
/// whether the timestamps are valid.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
#[repr(transparent)]
pub struct Flags(pub u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// The sender has no more data.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(1 << 1);
    /// Reset.
    pub const RST: Self = Self(1 << 2);
    /// Push; carried, never acted upon.
    pub const PSH: Self = Self(1 << 3);
    /// The acknowledgment number is valid.
    pub const ACK: Self = Self(1 << 4);
    /// The timestamps are valid (RFC 7323).
    pub const TS: Self = Self(1 << 5);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(1 << 6);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(1 << 7);

    /// Whether all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    #[inline]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["FIN", "SYN", "RST", "PSH", "ACK", "TS", "ECE", "CWR"];
        let set: Vec<&str> = (0..8).filter(|bit| self.0 & (1 << bit) != 0).map(|bit| names[bit]).collect();
        f.write_str(&set.join("+"))
    }
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport is not ECN-capable.
    #[default]
    NotEct = 0,
    /// The transport is ECN-capable.
    Ect0 = 2,
    /// A queue marked the packet.
    Ce = 3,
}

/// Largest receive window that a header can announce (RFC 7323, section 2.3): 65 535 units of 2^14 bytes.
pub const LARGEST_WINDOW: u32 = 65_535 << 14;

/// A window of `bytes`, or the largest one.
pub(crate) fn window(bytes: u64) -> u32 {
    bytes.min(u64::from(LARGEST_WINDOW)) as u32
}

/// One TCP segment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// First sequence number.
    pub seq: u32,
    /// Next sequence number expected from the other side; valid if `flags` has ACK.
    pub ack: u32,
    /// The sender's timestamp, in ticks of `Config::timestamp_clock`; valid if `flags` has TS.
    pub ts_val: u32,
    /// The timestamp echoed.
    pub ts_ecr: u32,
    /// The receive window of the segment's sender, from `ack` on, already scaled.
    pub window: u32,
    /// Bytes of payload.
    pub len: u16,
    /// Control bits.
    pub flags: Flags,
    /// The ECN field of the packet. A queue that marks sets [`Ecn::Ce`].
    pub ecn: Ecn,
    /// How many of `sacks` are valid.
    pub sack_count: u8,
    /// Bytes of TCP options, padded to a multiple of four.
    pub options: u8,
    /// Part of the payload was sent before. For bookkeeping only; not part of a TCP header.
    pub retransmission: bool,
    /// SACK blocks (RFC 2018), each `[left, right)`; newest first, after a DSACK (RFC 2883) if there
    /// is one.
    pub sacks: [(u32, u32); 4],
}

impl Segment {
    /// Bytes of the IP packet: headers, options and payload.
    #[inline]
    pub const fn ip_bytes(&self) -> u32 {
        IP_HEADER + TCP_HEADER + self.options as u32 + self.len as u32
    }

    /// The valid SACK blocks.
    #[inline]
    pub fn sacks(&self) -> &[(u32, u32)] {
        &self.sacks[..usize::from(self.sack_count).min(4)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_fits_a_cache_line_and_knows_its_size_on_the_wire() {
        assert!(size_of::<Segment>() <= 64);
        let segment = Segment { len: 1448, options: 12, ..Segment::default() };
        assert_eq!(segment.ip_bytes(), 1500);
    }
}
