//! Keys and values of the maps, as `bpf/*.h` has them, field by field.

use aya::Pod;
use weft_switching::Mac;
use weft_switching::exploration::{Exploration, FloodOrder, Scope};
use weft_units::{Duration, Time};

/// Most ports of a switch.
pub const MAX_PORTS: u16 = 64;

/// A time that does not come.
pub const NEVER: u64 = i64::MAX as u64;

/// `struct settings`: fixed once a program is loaded. Times are in ns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Life of a station that a request has locked.
    pub lock: u64,
    /// Life of a station that is known.
    pub learnt: u64,
    /// Life of a station on a host port of this switch.
    pub attached: u64,
    /// How long a source's broadcasts are locked to a port.
    pub broadcast_lock: u64,
    /// How long a repair goes on before the next is started.
    pub repair: u64,
    /// Life of a flow that a reply has confirmed.
    pub confirmed: u64,
    /// Life of a flow once FIN or RST was seen.
    pub closing: u64,
    /// Between explorations that a host port may start in the long run.
    pub rate_gap: u64,
    /// What a burst of them may run ahead.
    pub rate_slack: u64,
    /// Least time between two sweeps of a full table of floods.
    pub sweep_gap: u64,
    /// EtherType of Hello.
    pub hello_type: u16,
    /// EtherType of Path frames.
    pub path_type: u16,
    /// How often a flooded frame may be sent on.
    pub hops: u8,
    /// Whether what came down a tier only goes down.
    pub valley_free: u8,
    /// Whether copies of a flood leave in order of ports.
    pub fixed_order: u8,
    /// Whether frames are written down instead of sent, and time and randomness are handed in.
    pub testing: u8,
    /// The longest frame that a fabric port sends, in bytes.
    pub longest: u32,
    /// Zero.
    pub reserved: u32,
}

/// Nanoseconds of a duration.
pub const fn ns(span: Duration) -> u64 {
    span.ps() / 1000
}

/// Nanoseconds since the origin of time.
pub const fn ns_at(time: Time) -> u64 {
    time.ps() / 1000
}

impl Settings {
    /// What `config` says, with the EtherTypes of docs/wire-format.md.
    pub fn new(config: &Exploration) -> Self {
        let rate_gap = 1_000_000_000_u64.checked_div(config.rate).unwrap_or(NEVER / 4);
        Self {
            lock: ns(config.lock),
            learnt: ns(config.learnt),
            attached: ns(config.attached),
            broadcast_lock: ns(config.broadcast_lock),
            repair: ns(config.repair),
            confirmed: ns(config.confirmed),
            closing: ns(config.closing),
            rate_gap,
            rate_slack: rate_gap.saturating_mul(config.burst.max(1)).min(NEVER / 2),
            sweep_gap: 100_000_000,
            hello_type: 0xff70,
            path_type: 0xffaf,
            hops: config.hops,
            valley_free: (config.scope == Scope::ValleyFree).into(),
            fixed_order: (config.order == FloodOrder::Fixed).into(),
            testing: 0,
            longest: 1514,
            reserved: 0,
        }
    }
}

/// `struct test`: what a test hands in with a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Test {
    /// The time.
    pub now: u64,
    /// The port that the frame comes in on.
    pub port: u32,
    /// What is drawn as the number of an exploration.
    pub id: u32,
}

/// `struct port`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Port {
    /// A switch was heard, and is deemed there until then.
    pub neighbour_until: u64,
    /// A host port from then on.
    pub host_from: u64,
    /// Its interface.
    pub ifindex: u32,
    /// Whether it is up.
    pub up: u8,
    /// To which tier, as [`weft_switching::hello::Way`].
    pub way: u8,
    /// Whether a Hello makes it a fabric port.
    pub may_be_fabric: u8,
    /// Zero.
    pub reserved: u8,
}

/// `struct station`; its key is [`address`].
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Station {
    /// When it expires.
    pub expiry: u64,
    /// Where it is.
    pub port: u16,
    /// As [`weft_switching::arp_path::LOCKED`] and those below it.
    pub class: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// `struct flood_key`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloodKey {
    /// Source of the frame.
    pub from: u64,
    /// Destination of the frame, of one about a path; else broadcast.
    pub to: u64,
    /// The exploration.
    pub id: u32,
    /// TCP port of the source.
    pub sport: u16,
    /// TCP port of the destination.
    pub dport: u16,
    /// As [`weft_switching::Kind`].
    pub kind: u64,
}

/// `struct flood`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// When it is forgotten.
    pub expiry: u64,
    /// Where the first copy came in; 65535: it started here.
    pub port: u16,
    /// Zero.
    pub reserved: u16,
    /// The kernel's lock; reads as zero.
    pub lock: u32,
}

/// `struct flow`: an entry leads to `host`. An end is an address and, in the lower 16 bits, a TCP port.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Flow {
    /// The end that the entry leads to.
    pub host: u64,
    /// The other end.
    pub peer: u64,
}

/// `struct path`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// When it expires.
    pub expiry: u64,
    /// The exploration that made it.
    pub id: u32,
    /// When it was made, in milliseconds modulo 2^32.
    pub made: u32,
    /// Where it leads.
    pub port: u16,
    /// As in [`weft_switching::path_table`].
    pub class: u8,
    /// Whether the end that it leads to started the exploration.
    pub initiator: u8,
    /// Whether the next SYN of the flow goes by the default forwarding.
    pub explored: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// `struct copy`: the start of a frame that a test would have seen leave; its bytes follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Where it would have left.
    pub port: u32,
    /// Its length.
    pub len: u32,
}

/// Bytes of a frame that are written down.
pub const COPY_BYTES: usize = 2048;

// SAFETY: integers without padding in between; any bytes are a value.
unsafe impl Pod for Settings {}
// SAFETY: as above.
unsafe impl Pod for Test {}
// SAFETY: as above.
unsafe impl Pod for Port {}
// SAFETY: as above.
unsafe impl Pod for Station {}
// SAFETY: as above.
unsafe impl Pod for FloodKey {}
// SAFETY: as above.
unsafe impl Pod for Flood {}
// SAFETY: as above.
unsafe impl Pod for Flow {}
// SAFETY: as above.
unsafe impl Pod for Path {}

/// A station's address as the programs keep it: a number of 48 bits.
pub fn address(mac: Mac) -> u64 {
    let [a, b, c, d, e, f] = mac.0;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counts;

    #[test]
    fn values_have_the_sizes_that_the_headers_have() {
        // `bpf/layout.h` and `bpf/tcp_path.c` assert the same numbers of their structures.
        let sizes = [
            size_of::<Settings>(),
            size_of::<Test>(),
            size_of::<Port>(),
            size_of::<Station>(),
            size_of::<FloodKey>(),
            size_of::<Flood>(),
            size_of::<Flow>(),
            size_of::<Path>(),
            size_of::<Copy>() + COPY_BYTES,
            size_of::<Counts>(),
        ];
        assert_eq!(sizes, [96, 16, 24, 16, 32, 16, 16, 24, 2056, 160]);
    }

    #[test]
    fn an_address_is_a_number_in_the_order_of_its_bytes() {
        assert_eq!(address(Mac([1, 2, 3, 4, 5, 6])), 0x0102_0304_0506);
    }
}
