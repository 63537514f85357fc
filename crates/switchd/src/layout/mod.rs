//! Keys and values of the maps, field by field as in `bpf/*.h`.

mod settings;

use weft_units::{Duration, Time};

use crate::mirror::mirrored;

/// Maximum number of ports of a switch.
pub const MAX_PORTS: u16 = 64;

/// A time that is never reached.
pub const NEVER: u64 = i64::MAX as u64;

mirrored! {
    /// `struct settings`: fixed once a program is loaded. Times are in ns.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Settings = "settings" {
        /// Lifetime of a station locked by a request.
        pub lock: u64,
        /// Lifetime of a learnt station.
        pub learnt: u64,
        /// Lifetime of a station on a host port of this switch.
        pub attached: u64,
        /// How long a source's broadcasts stay locked to a port.
        pub broadcast_lock: u64,
        /// Minimum time between two repairs.
        pub repair: u64,
        /// Lifetime of a flow confirmed by a reply.
        pub confirmed: u64,
        /// Lifetime of a flow after FIN or RST.
        pub closing: u64,
        /// Age at which a better path is searched for; zero for never.
        pub refresh_after: u64,
        /// Token bucket of explorations started from a host port: time per token.
        pub rate_gap: u64,
        /// Token bucket of explorations started from a host port: its size, as a time.
        pub rate_slack: u64,
        /// Token bucket of floods started from a host port: time per token.
        pub flood_gap: u64,
        /// Token bucket of floods: its size, as a time.
        pub flood_slack: u64,
        /// Token bucket of stations added or moved by a host port: time per token.
        pub station_gap: u64,
        /// Token bucket of stations: its size, as a time.
        pub station_slack: u64,
        /// Key of the flow hash.
        pub hash_key: u64,
        /// Bytes after which a flow is moved, mode `tfe` by bytes.
        pub elephant_bytes: u64,
        /// Lifetime of members and routers of groups.
        pub membership: u64,
        /// EtherType of Hello.
        pub hello_type: u16,
        /// EtherType of Path frames.
        pub path_type: u16,
        /// The first TCP port of elephants, mode `tfe` by ports.
        pub first_port: u16,
        /// The last one.
        pub last_port: u16,
        /// The DSCP of elephants, mode `tfe` by DSCP.
        pub dscp: u8,
        /// A value of `enum classifier`.
        pub classifier: u8,
        /// Hop limit of flooded frames.
        pub hops: u8,
        /// Whether frames received from a higher tier are only forwarded downwards.
        pub valley_free: u8,
        /// Whether copies of a flood leave in order of ports.
        pub fixed_order: u8,
        /// Whether a path is explored for a flow without an entry.
        pub recovers: u8,
        /// Whether a frame whose port is dead uses the default forwarding.
        pub detours: u8,
        /// Whether frames are recorded instead of sent, and time and random numbers come from the test.
        pub testing: u8,
        /// The number of DOWN bits in a tag.
        pub down_bits: u8,
        /// Whether a frame takes a random way of its group instead of its flow's.
        pub sprays: u8,
        /// EtherType of tagged frames.
        pub tag_type: u16,
        /// Major number of the traffic classes selected by QID; zero: none.
        pub queue_major: u16,
        /// Whether a frame to an unknown station is flooded instead of dropped.
        pub floods_unknown: u8,
        /// Whether a new station on a port is announced to the other switches.
        pub announces: u8,
        /// Whether IGMP and MLD are read.
        pub snoops: u8,
        /// Whether messages of a routing daemon are passed to the machine.
        pub has_router: u8,
        /// Zero.
        pub reserved: [u8; 6],
    }

    /// `struct test`: a test's input with a frame.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Test = "test" {
        /// The time.
        pub now: u64,
        /// The ingress port of the frame.
        pub port: u32,
        /// The number of random numbers used.
        pub drawn: u32,
        /// The random numbers, in order.
        pub random: [u32; 4],
    }

    /// `struct port`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Port = "port" {
        /// Until when a neighbouring switch is considered up.
        pub neighbour_until: u64,
        /// A host port from this time on.
        pub host_from: u64,
        /// Its interface.
        pub ifindex: u32,
        /// The maximum frame that its link takes, in bytes without the outer VLAN tag; 0: any.
        pub longest: u32,
        /// Whether it is up.
        pub up: u8,
        /// Direction of its neighbour's tier, as [`weft_switching::hello::Way`].
        pub way: u8,
        /// Whether a Hello may turn it into a fabric port.
        pub may_be_fabric: u8,
        /// Whether other ports are preferred: the neighbour is not heard or does not hear this switch, the link loses frames, or
        /// Hellos cannot be sent.
        pub last_resort: u8,
        /// Zero.
        pub reserved: [u8; 4],
    }

    /// `struct limits`: when each of a port's token buckets will be full again.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Limits = "limits" {
        /// By `enum limit`.
        pub full_at: [u64; 4],
    }

    /// `struct station`; its key is [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Station = "station" {
        /// When it expires.
        pub expiry: u64,
        /// Its port.
        pub port: u16,
        /// A class such as [`weft_switching::arp_path::LOCKED`].
        pub class: u8,
        /// Zero.
        pub reserved: [u8; 5],
    }

    /// `struct flood_key`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct FloodKey = "flood_key" {
        /// Source of the frame.
        pub from: u64,
        /// Destination of the frame if it concerns a path; otherwise broadcast.
        pub to: u64,
        /// The exploration.
        pub id: u32,
        /// TCP port of the source.
        pub sport: u16,
        /// TCP port of the destination.
        pub dport: u16,
        /// A value of [`weft_switching::arp_path::FloodKind`].
        pub kind: u64,
    }

    /// `struct flood`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Flood = "flood" {
        /// When it expires, in ns modulo 2^56; in the lower eight bits whether its source has left, and the ingress
        /// port of the first copy.
        state: u64,
    }

    /// `struct move`: moves of a station, which sent from another port than its known one; its key is
    /// [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Move = "move" {
        /// The number of moves.
        pub count: u64,
        /// The time of the last one, in ns.
        pub last: u64,
        /// Its port since then.
        pub to: u16,
        /// Its port before.
        pub from: u16,
        /// Zero.
        pub reserved: u32,
    }

    /// `struct members`: the ports of members of a group or of routers; its key is [`weft_switching::Mac::bits`], or
    /// [`weft_switching::snooping::Family`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Members = "members" {
        /// Ports heard since `turn_at` less a lifetime, by bits.
        pub fresh: u64,
        /// Ports heard before.
        pub old: u64,
        /// When the fresh ones become old.
        pub turn_at: u64,
        /// When the old ones expire.
        pub old_until: u64,
        /// When all expire.
        pub until: u64,
        /// Of routers: until when one counts as querier.
        pub asked_until: u64,
    }

    /// `struct flow`: an entry leads to `host`. An end is an address and, in the lower 16 bits, a TCP port.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Flow = "flow" {
        /// The end that the entry leads to.
        pub host: u64,
        /// The other end.
        pub peer: u64,
    }

    /// `struct path`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Path = "path" {
        /// When it expires.
        pub expiry: u64,
        /// The exploration that made it.
        pub id: u32,
        /// When it was created, in milliseconds modulo 2^32.
        pub made: u32,
        /// The port that it leads to.
        pub port: u16,
        /// A class of [`weft_switching::path_table`].
        pub class: u8,
        /// Whether the end that it leads to started the exploration.
        pub initiator: u8,
        /// Whether the next SYN of the flow uses the default forwarding.
        pub explored: u8,
        /// Zero.
        pub reserved: [u8; 3],
    }

    /// `struct load`: the bytes carried by a flow until it is moved; its key is [`Flow`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Load = "load" {
        /// When it expires.
        pub expiry: u64,
        /// Payload in bytes.
        pub bytes: u64,
    }

    /// `struct route`: the next hops of a station; its key is [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Route = "route" {
        /// Their count.
        pub count: u32,
        /// Their port numbers, in order.
        pub ports: [u8; MAX_PORTS as usize],
    }

    /// `struct peer`: the machine at the other end of a port's link.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Peer = "peer" {
        /// Its address; 0: none.
        pub address: u64,
        /// When its token buckets will be full again, by `enum message`.
        pub full_at: [u64; 2],
    }

    /// `struct event`: an event of finding stations and flows.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Event = "event" {
        /// Its time, in ns of the kernel's monotonic clock.
        pub time: u64,
        /// The source of the frame or flow, or the station.
        pub src: u64,
        /// The destination.
        pub dst: u64,
        /// The exploration.
        pub id: u32,
        /// TCP port of the source.
        pub sport: u16,
        /// TCP port of the destination.
        pub dport: u16,
        /// The port concerned.
        pub port: u16,
        /// A value of [`crate::event::EventKind`].
        pub what: u8,
        /// The kind of frame that caused it, as [`weft_switching::Kind`].
        pub kind: u8,
        /// Zero.
        pub reserved: u32,
    }

    /// `struct copy`: the start of a frame that would have been sent in a test; its bytes follow.
    #[derive(Clone, Copy, Debug)]
    pub struct Copy = "copy" {
        /// The egress port.
        pub port: u32,
        /// Its length.
        pub len: u32,
    } .. bytes
}

/// Nanoseconds of a duration.
pub const fn ns(span: Duration) -> u64 {
    span.ps() / 1000
}

/// Nanoseconds since the origin of time.
pub const fn ns_at(time: Time) -> u64 {
    time.ps() / 1000
}

impl Port {
    /// The daemon's entry for a port: a fabric port, a host port or neither. It is a decision, not a deadline, and
    /// holds until the next one.
    pub fn decided(fabric: bool, host: bool) -> Self {
        let (neighbour_until, host_from) = (if fabric { NEVER } else { 0 }, if host { 0 } else { NEVER });
        Self { neighbour_until, host_from, ..Self::default() }
    }

    /// Whether a neighbouring switch is up at `now`.
    pub const fn is_fabric(&self, now: u64) -> bool {
        self.neighbour_until > now
    }

    /// Whether it is a host port at `now`.
    pub const fn is_host(&self, now: u64) -> bool {
        self.up != 0 && self.host_from <= now
    }
}

pub(crate) const STATE_BITS: u32 = 8;
/// The port of a flood that started here.
pub(crate) const STARTED_HERE: u64 = 0x7f;

impl Flood {
    /// A flood whose first copy arrived on `port` ([`MAX_PORTS`] or above: it started here), remembered until `expiry`.
    pub fn new(port: u16, expiry: u64) -> Self {
        let port = if port < MAX_PORTS { port.into() } else { STARTED_HERE };
        Self { state: expiry << STATE_BITS | port }
    }

    /// The ingress port of the first copy; 65535: it started here.
    pub fn port(self) -> u16 {
        let port = self.state & STARTED_HERE;
        if port == STARTED_HERE { u16::MAX } else { port as u16 }
    }

    /// Its remaining lifetime at `now`, in ns; 0 or below if it has expired.
    pub fn left(self, now: u64) -> i64 {
        (self.state >> STATE_BITS << STATE_BITS).wrapping_sub(now << STATE_BITS) as i64 >> STATE_BITS
    }
}

impl Flow {
    /// The key of the other direction's entry.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { host: self.peer, peer: self.host }
    }
}

impl Route {
    /// The route over `ports`, sorted and without duplicates; numbers of [`MAX_PORTS`] or above are left out.
    pub fn new(ports: impl IntoIterator<Item = u16>) -> Self {
        let mut ports: Vec<u16> = ports.into_iter().collect();
        ports.sort_unstable();
        ports.dedup();
        Self::weighted(ports)
    }

    /// The route over `ports` in their order; one that is listed more than once gets as many more flows. Numbers of
    /// [`MAX_PORTS`] or above are left out, and so is what does not fit.
    pub fn weighted(ports: impl IntoIterator<Item = u16>) -> Self {
        let mut route = Self { count: 0, ports: [0; MAX_PORTS as usize] };
        let ports = ports.into_iter().filter(|port| *port < MAX_PORTS);
        for (place, port) in route.ports.iter_mut().zip(ports) {
            *place = port as u8;
            route.count += 1;
        }
        route
    }

    /// Its port numbers.
    pub fn ports(&self) -> &[u8] {
        self.ports.get(..self.count as usize).unwrap_or_default()
    }
}

/// Maximum number of bytes recorded of a frame.
pub const COPY_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_remembered_until_its_time_also_where_that_passes_what_56_bits_hold() {
        for now in [0, 5_000_000_000, (1 << 56) - 1] {
            let (flood, here) = (Flood::new(63, now + 3), Flood::new(u16::MAX, now + 3));
            assert_eq!((flood.port(), here.port()), (63, u16::MAX));
            for (later, left) in [(0, 3), (2, 1), (3, 0), (4, -1)] {
                assert_eq!(flood.left(now + later), left, "{later} ns after {now}");
            }
        }
    }
}
