//! Keys and values of the maps, as `bpf/*.h` has them, field by field.

use weft_switching::exploration::{Exploration, FloodOrder, OnMiss, OnUnknown, Scope, WhileBroken};
use weft_switching::tfe::Classifier;
use weft_units::{Duration, Time};
use weft_wire::TagWidth;

use crate::mirror::mirrored;

/// Most ports of a switch.
pub const MAX_PORTS: u16 = 64;

/// A time that does not come.
pub const NEVER: u64 = i64::MAX as u64;

mirrored! {
    /// `struct settings`: fixed once a program is loaded. Times are in ns.
    #[derive(Clone, Copy, Debug)]
    pub struct Settings = "settings" {
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
        /// Age of a path at which a better one is looked for; zero for never.
        pub refresh_after: u64,
        /// Between explorations that a host port may start in the long run.
        pub rate_gap: u64,
        /// What a burst of them may run ahead.
        pub rate_slack: u64,
        /// The same two of floods that the frames from a host port start.
        pub flood_gap: u64,
        /// See [`Settings::flood_gap`].
        pub flood_slack: u64,
        /// The same two of stations that they add or move.
        pub station_gap: u64,
        /// See [`Settings::station_gap`].
        pub station_slack: u64,
        /// Under which flows are hashed.
        pub hash_key: u64,
        /// What a flow has carried when it is moved, mode `tfe` by bytes.
        pub elephant_bytes: u64,
        /// The longest frame that a fabric port sends, in bytes without the outer VLAN tag.
        pub longest: u32,
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
        /// As `enum classifier`.
        pub classifier: u8,
        /// How often a flooded frame may be sent on.
        pub hops: u8,
        /// Whether what came down a tier only goes down.
        pub valley_free: u8,
        /// Whether copies of a flood leave in order of ports.
        pub fixed_order: u8,
        /// Whether a flow without an entry gets a path of its own.
        pub recovers: u8,
        /// Whether a frame that meets a dead port goes by the default forwarding.
        pub detours: u8,
        /// Whether frames are written down instead of sent, and time and randomness are handed in.
        pub testing: u8,
        /// The bits of DOWN in a tag.
        pub down_bits: u8,
        /// Whether a frame takes any way of its group, else that of its flow.
        pub sprays: u8,
        /// EtherType of tagged frames.
        pub tag_type: u16,
        /// The major number of the classes that frames queue in by QID; zero: by none.
        pub queue_major: u16,
        /// Whether a frame to a station that is not known is flooded, else dropped.
        pub floods_unknown: u8,
        /// Whether a station that is new at a port is announced to the other switches.
        pub announces: u8,
        /// Zero.
        pub reserved: [u8; 4],
    }

    /// `struct test`: what a test hands in with a frame.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Test = "test" {
        /// The time.
        pub now: u64,
        /// The port that the frame comes in on.
        pub port: u32,
        /// How many were drawn.
        pub drawn: u32,
        /// What is drawn, in order.
        pub random: [u32; 4],
    }

    /// `struct port`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Port = "port" {
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
        /// Whether other ports come first: its neighbour is not heard any more.
        pub last_resort: u8,
    }

    /// `struct station`; its key is [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Station = "station" {
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
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct FloodKey = "flood_key" {
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
        /// As [`weft_switching::arp_path::FloodKind`].
        pub kind: u64,
    }

    /// `struct flood`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Flood = "flood" {
        /// When it is forgotten, in ns modulo 2^56; in the lower eight bits whether its source has left, and where the
        /// first copy came in.
        state: u64,
    }

    /// `struct move`: how often a station sent from another port than the one where it was known; its key is
    /// [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Move = "move" {
        /// How often.
        pub count: u64,
        /// When it did last, in ns.
        pub last: u64,
        /// Where it is since then.
        pub to: u16,
        /// Where it was before.
        pub from: u16,
        /// Zero.
        pub reserved: u32,
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
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Path = "path" {
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

    /// `struct load`: what a flow has carried, until it is moved; its key is [`Flow`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Load = "load" {
        /// When it is forgotten.
        pub expiry: u64,
        /// Payload in bytes.
        pub bytes: u64,
    }

    /// `struct route`: the next hops of a station; its key is [`weft_switching::Mac::bits`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Route = "route" {
        /// How many there are.
        pub count: u32,
        /// Their numbers, in order.
        pub ports: [u8; MAX_PORTS as usize],
    }

    /// `struct event`: something about how stations and flows are found.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Event = "event" {
        /// When, in ns of the kernel's monotonic clock.
        pub time: u64,
        /// Where the frame or flow comes from, or the station.
        pub src: u64,
        /// Where it goes.
        pub dst: u64,
        /// The exploration.
        pub id: u32,
        /// TCP port of the source.
        pub sport: u16,
        /// TCP port of the destination.
        pub dport: u16,
        /// The port of the switch that it is about.
        pub port: u16,
        /// As [`What`].
        pub what: u8,
        /// Of the frame that caused it, as [`weft_switching::Kind`].
        pub kind: u8,
        /// Zero.
        pub reserved: u32,
    }

    /// `struct copy`: the start of a frame that a test would have seen leave; its bytes follow.
    #[derive(Clone, Copy, Debug)]
    pub struct Copy = "copy" {
        /// Where it would have left.
        pub port: u32,
        /// Its length.
        pub len: u32,
    } .. bytes
}

/// A token bucket of `burst` tokens that gains `rate` a second, in ns: between two tokens, and what a full bucket
/// may run ahead.
fn bucket(rate: u64, burst: u64) -> [u64; 2] {
    let never = NEVER / 4 / burst.max(1);
    let gap = 1_000_000_000_u64.checked_div(rate).unwrap_or(never);
    [gap, gap.saturating_mul(burst.max(1)).min(NEVER / 2)]
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
        let [rate_gap, rate_slack] = bucket(config.rate, config.burst);
        let [flood_gap, flood_slack] = bucket(config.flood_rate, config.flood_burst);
        let [station_gap, station_slack] = bucket(config.station_rate, config.station_burst);
        Self {
            lock: ns(config.lock),
            learnt: ns(config.learnt),
            attached: ns(config.attached),
            broadcast_lock: ns(config.broadcast_lock),
            repair: ns(config.repair),
            confirmed: ns(config.confirmed),
            closing: ns(config.closing),
            refresh_after: ns(config.refresh_after),
            rate_gap,
            rate_slack,
            flood_gap,
            flood_slack,
            station_gap,
            station_slack,
            hash_key: 0,
            elephant_bytes: 0,
            longest: 1514,
            hello_type: 0xff70,
            path_type: 0xffaf,
            first_port: 0,
            last_port: 0,
            dscp: 0,
            classifier: 0,
            hops: config.hops,
            valley_free: (config.scope == Scope::ValleyFree).into(),
            fixed_order: (config.order == FloodOrder::Fixed).into(),
            recovers: (config.on_miss == OnMiss::Recover).into(),
            detours: (config.while_broken == WhileBroken::Detour).into(),
            testing: 0,
            down_bits: TagWidth::Narrow.down_bits() as u8,
            sprays: 0,
            tag_type: TagWidth::Narrow.ethertype().0,
            queue_major: 0,
            floods_unknown: (config.on_unknown == OnUnknown::Flood).into(),
            announces: config.announce.into(),
            reserved: [0; 4],
        }
    }

    /// The same with what tells elephants, mode `tfe`.
    #[must_use]
    pub fn classifying(self, classifier: &Classifier) -> Self {
        match *classifier {
            Classifier::Ports(first_port, last_port) => Self { classifier: 0, first_port, last_port, ..self },
            Classifier::Dscp(dscp) => Self { classifier: 1, dscp, ..self },
            Classifier::Auto(bytes) => Self { classifier: 2, elephant_bytes: bytes.0, ..self },
        }
    }
}

impl Port {
    /// A port as the daemon tells the program of it: that it leads to a switch, to a host or nobody knows
    /// where, by decisions and not by deadlines. Each holds until the next.
    pub fn decided(fabric: bool, host: bool) -> Self {
        let (neighbour_until, host_from) = (if fabric { NEVER } else { 0 }, if host { 0 } else { NEVER });
        Self { neighbour_until, host_from, ..Self::default() }
    }
}

pub(crate) const STATE_BITS: u32 = 8;
/// The port of a flood that started here.
pub(crate) const STARTED_HERE: u64 = 0x7f;

impl Flood {
    /// The first copy came in on `port` (beyond [`MAX_PORTS`]: the flood started here), and is remembered until
    /// `expiry`.
    pub fn new(port: u16, expiry: u64) -> Self {
        let port = if port < MAX_PORTS { port.into() } else { STARTED_HERE };
        Self { state: expiry << STATE_BITS | port }
    }

    /// Where the first copy came in; 65535: it started here.
    pub fn port(self) -> u16 {
        let port = self.state & STARTED_HERE;
        if port == STARTED_HERE { u16::MAX } else { port as u16 }
    }

    /// For how long from `now` it is remembered, in ns; 0 or below where it is forgotten.
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
    /// The route over `ports`, each once and in order of their numbers; those beyond a switch's most are
    /// left out.
    pub fn new(ports: impl IntoIterator<Item = u16>) -> Self {
        let mut ports: Vec<u8> =
            ports.into_iter().filter(|port| *port < MAX_PORTS).map(|port| port as u8).collect();
        ports.sort_unstable();
        ports.dedup();
        let mut route = Self { count: ports.len() as u32, ports: [0; MAX_PORTS as usize] };
        route.ports[..ports.len()].copy_from_slice(&ports);
        route
    }
}

/// What an [`Event`] tells, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum What {
    /// A segment was wrapped and flooded from its source's edge.
    Explored,
    /// A flow is locked to the port of a request's first copy.
    FlowLocked,
    /// A copy of a flood goes no further.
    Late,
    /// What was wrapped leaves for its destination.
    Delivered,
    /// A flow's path, which leads to its initiator by this port, has been confirmed.
    Confirmed,
    /// The edge looks for a path for a flow.
    Recovering,
    /// The other end's edge is told that a path is no more.
    Failed,
    /// A request has locked a station to a port.
    StationLocked,
    /// A station is known.
    StationLearnt,
}

impl What {
    /// Everything that is told, in order of its number.
    pub const ALL: [Self; 9] = [
        Self::Explored,
        Self::FlowLocked,
        Self::Late,
        Self::Delivered,
        Self::Confirmed,
        Self::Recovering,
        Self::Failed,
        Self::StationLocked,
        Self::StationLearnt,
    ];

    /// The name by which it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explored => "explored",
            Self::FlowLocked => "flow locked",
            Self::Late => "late",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Recovering => "recovering",
            Self::Failed => "failed",
            Self::StationLocked => "station locked",
            Self::StationLearnt => "station learnt",
        }
    }
}

impl Event {
    /// The event in an item of the ring buffer `trace`.
    pub fn read(item: &[u8]) -> Option<Self> {
        // SAFETY: integers without padding in between; any bytes are a value.
        (item.len() == size_of::<Self>()).then(|| unsafe { item.as_ptr().cast::<Self>().read_unaligned() })
    }

    /// What it tells.
    pub fn what(&self) -> Option<What> {
        What::ALL.get(usize::from(self.what)).copied()
    }
}

/// Bytes of a frame that are written down.
pub const COPY_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_that_gains_nothing_holds_its_whole_burst() {
        for burst in [1, 5, 1_000] {
            let [gap, slack] = bucket(0, burst);
            assert_eq!(slack / gap, burst);
            assert!(gap > 3_600 * 1_000_000_000);
        }
    }

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
