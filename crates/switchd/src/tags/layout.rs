//! Keys and values of the maps, as `bpf/gates.h`, `bpf/flows.h`, `bpf/misses.h` and `bpf/steer.h` have them.

use crate::layout::MAX_PORTS;
use crate::mirror::mirrored;

/// Tables of gates, and of kinds, of which one counts.
pub const TABLES: u32 = 8;
/// The bits of a place in [`Gates::places`].
pub const GATE_BITS: u32 = 10;
/// Most kinds of rules of a family.
pub const MAX_KINDS: usize = 64;
/// Most ways of a group.
pub const MAX_WAYS: usize = 1024;

mirrored! {
    /// `struct gate`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Gate = "gate" {
        /// Its number; 0: there is none in this place.
        pub number: u32,
        /// Its port.
        pub port: u8,
        /// As `enum direction`.
        pub direction: u8,
        /// Zero.
        pub reserved: u16,
    }

    /// `struct gates`: all gates of a switch.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gates = "gates" {
        /// How far those of a direction are apart.
        pub divisors: [u32; 2],
        /// Under which no two numbers have one place.
        pub multiplier: u32,
        /// Where the switch stands.
        pub layer: u32,
        /// By port, as `enum gate_role`.
        pub roles: [u8; MAX_PORTS as usize],
        /// By number.
        pub places: [Gate; 1 << GATE_BITS],
    }

    /// `struct kind_v4`: rules that look at the same bits.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct KindV4 = "kind_v4" {
        /// Which bits of the source count, in network byte order as all addresses.
        pub source: [u8; 4],
        /// Which of the destination.
        pub destination: [u8; 4],
        /// By which its rules are found.
        pub id: u16,
        /// The priority of its rules.
        pub priority: u16,
    }

    /// `struct kind_v6`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct KindV6 = "kind_v6" {
        /// Which bits of the source count.
        pub source: [u8; 16],
        /// Which of the destination.
        pub destination: [u8; 16],
        /// By which its rules are found.
        pub id: u16,
        /// The priority of its rules.
        pub priority: u16,
    }

    /// `struct kinds`: by falling priority.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Kinds = "kinds" {
        /// How many there are of IPv4.
        pub count_v4: u32,
        /// How many of IPv6.
        pub count_v6: u32,
        /// Those of IPv4.
        pub v4: [KindV4; MAX_KINDS],
        /// Those of IPv6.
        pub v6: [KindV6; MAX_KINDS],
    }

    /// `struct key_v4`: by what a rule is found.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct KeyV4 = "key_v4" {
        /// The source, masked.
        pub source: [u8; 4],
        /// The destination, masked.
        pub destination: [u8; 4],
        /// The kind.
        pub kind: u32,
    }

    /// `struct key_v6`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct KeyV6 = "key_v6" {
        /// The source, masked.
        pub source: [u8; 16],
        /// The destination, masked.
        pub destination: [u8; 16],
        /// The kind.
        pub kind: u32,
    }

    /// `struct rule`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Rule = "rule" {
        /// Frames that it was applied to.
        pub packets: u64,
        /// Bytes of their packets, as IP counts them.
        pub bytes: u64,
        /// DOWN of the tag.
        pub down: u32,
        /// The gate that frames leave by, or a group.
        pub to: u32,
        /// UP of the tag, with a gate.
        pub up: u32,
        /// QID.
        pub queue: u8,
        /// Whether `to` is a group.
        pub to_group: u8,
        /// Zero.
        pub reserved: u16,
    }

    /// `struct group_way`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct GroupWay = "group_way" {
        /// The gate that frames leave by.
        pub gate: u32,
        /// UP of the tag.
        pub up: u32,
    }

    /// `struct group`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Group = "group" {
        /// How many ways there are.
        pub count: u32,
        /// Zero.
        pub reserved: u32,
        /// The ways.
        pub ways: [GroupWay; MAX_WAYS],
    }

    /// `struct miss` up to the start of the frame, which follows.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Miss = "miss" {
        /// Where the frame came in.
        pub port: u32,
        /// Its length.
        pub len: u32,
        /// Its source; of IPv4 the first four bytes.
        pub source: [u8; 16],
        /// Its destination, likewise.
        pub destination: [u8; 16],
        /// Whether they are IPv6's.
        pub is_v6: u32,
    } .. bytes

    /// `struct tag_counters` of one CPU.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct TagCounts = "tag_counters" {
        /// As the fields of [`weft_switching::tag_forward::Counters`].
        pub lookups: u64,
        /// Likewise.
        pub misses: u64,
        /// Likewise.
        pub pushed: u64,
        /// Likewise.
        pub popped: u64,
        /// Likewise.
        pub forwarded: u64,
        /// Likewise.
        pub tags_of_hosts: u64,
    }
}
