//! Keys and values of the maps in `bpf/gates.h`, `bpf/flows.h`, `bpf/misses.h` and `bpf/steer.h`.

use crate::layout::MAX_PORTS;
use crate::mirror::mirrored;

/// Number of tables of gates, and of kinds, one of which is current.
pub const TABLES: u32 = 8;
/// Bits of an index into [`Gates::places`].
pub const GATE_BITS: u32 = 10;
/// Maximum number of kinds of rules per family.
pub const MAX_KINDS: usize = 64;
/// Maximum number of ways of a group.
pub const MAX_WAYS: usize = 1024;

mirrored! {
    /// `struct gate`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Gate = "gate" {
        /// Its number; 0: the place is empty.
        pub number: u32,
        /// Its port.
        pub port: u8,
        /// A value of `enum direction`.
        pub direction: u8,
        /// Zero.
        pub reserved: u16,
    }

    /// `struct gates`: all gates of a switch.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gates = "gates" {
        /// The distance between gates, by direction.
        pub divisors: [u32; 2],
        /// The multiplier of the collision-free hash.
        pub multiplier: u32,
        /// The layer of the switch.
        pub layer: u32,
        /// The role of each port, a value of `enum gate_role`.
        pub roles: [u8; MAX_PORTS as usize],
        /// The gates, by hash of their number.
        pub places: [Gate; 1 << GATE_BITS],
    }

    /// `struct kind_v4`: rules with the same masks.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct KindV4 = "kind_v4" {
        /// The mask of the source, in network byte order like all addresses.
        pub source: [u8; 4],
        /// The mask of the destination.
        pub destination: [u8; 4],
        /// Its id in the keys of rules.
        pub id: u16,
        /// The priority of its rules.
        pub priority: u16,
    }

    /// `struct kind_v6`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct KindV6 = "kind_v6" {
        /// The mask of the source.
        pub source: [u8; 16],
        /// The mask of the destination.
        pub destination: [u8; 16],
        /// Its id in the keys of rules.
        pub id: u16,
        /// The priority of its rules.
        pub priority: u16,
    }

    /// `struct kinds`: by descending priority.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Kinds = "kinds" {
        /// The number of IPv4 kinds.
        pub count_v4: u32,
        /// The number of IPv6 kinds.
        pub count_v6: u32,
        /// IPv4 kinds.
        pub v4: [KindV4; MAX_KINDS],
        /// IPv6 kinds.
        pub v6: [KindV6; MAX_KINDS],
    }

    /// `struct key_v4`: the key of a rule.
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
        /// Frames it was applied to.
        pub packets: u64,
        /// Bytes of their packets, by the length in the IP header.
        pub bytes: u64,
        /// DOWN of the tag.
        pub down: u32,
        /// The egress gate, or a group.
        pub to: u32,
        /// UP of the tag, if `to` is a gate.
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
        /// The egress gate.
        pub gate: u32,
        /// UP of the tag.
        pub up: u32,
    }

    /// `struct group`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Group = "group" {
        /// The number of ways.
        pub count: u32,
        /// Zero.
        pub reserved: u32,
        /// The ways.
        pub ways: [GroupWay; MAX_WAYS],
    }

    /// `struct miss` up to the start of the frame, which follows.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Miss = "miss" {
        /// The ingress port.
        pub port: u32,
        /// The length of the frame.
        pub len: u32,
        /// Its source; for IPv4 the first four bytes.
        pub source: [u8; 16],
        /// Its destination, likewise.
        pub destination: [u8; 16],
        /// Whether these are IPv6 addresses.
        pub is_v6: u32,
    } .. bytes

    /// `struct tag_counters` of one CPU.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct TagCounts = "tag_counters" {
        /// The counters as in [`weft_switching::tag_forward::Counters`].
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
