//! What ARP-Path, TCP-Path and TFE have in common: their settings.

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId};

use crate::hash::mix64;
use crate::hello::Way;
use crate::registry::{Contradiction, ParamInfo, ParamKind, ParamValue, SchemeSpec};

/// How far a flood reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// Every fabric port but the one it came in on.
    #[default]
    Full,
    /// The same, but a copy that came down a tier only goes down.
    ValleyFree,
}

/// In what order the copies of a flood leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FloodOrder {
    /// Drawn anew for every flood.
    #[default]
    Random,
    /// By number of the port.
    Fixed,
}

/// What becomes of a frame to a station that a switch does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnUnknown {
    /// It is flooded, and so arrives, while a path to the station is looked for.
    #[default]
    Flood,
    /// It is lost, and a path to the station is looked for: the rule of the ARP-Path paper.
    Repair,
}

/// What becomes of a data frame of a flow without an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnMiss {
    /// The default forwarding takes it.
    #[default]
    DefaultForwarding,
    /// The source edge looks for a path, and the default forwarding takes it meanwhile.
    Recover,
}

/// What becomes of a data frame that meets a dead port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhileBroken {
    /// It is lost.
    #[default]
    Drop,
    /// The default forwarding takes it.
    Detour,
}

/// The settings of a switch that explores.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// How long a station or a flow stays locked to a port without confirmation.
    pub lock: Duration,
    /// How long a station stays known without use.
    pub learnt: Duration,
    /// How long a host stays known at its own switch without sending (IEEE 802.1Q, 8.8.3: ageing time).
    pub attached: Duration,
    /// How long a confirmed flow stays known without use.
    pub confirmed: Duration,
    /// How long a flow stays known once FIN or RST was seen.
    pub closing: Duration,
    /// How long other broadcasts of a source stay locked to a port.
    pub broadcast_lock: Duration,
    /// How long a repair goes on before the next is started.
    pub repair: Duration,
    /// Stations that a switch knows at most.
    pub stations: usize,
    /// Entries of flows that a switch has at most, two a flow.
    pub flows: usize,
    /// Floods that a switch remembers at most.
    pub floods: usize,
    /// How far floods reach.
    pub scope: Scope,
    /// The order of their copies.
    pub order: FloodOrder,
    /// How often a switch says Hello.
    pub hello: Duration,
    /// How long a neighbour is deemed there after its last Hello.
    pub hold: Duration,
    /// How long after a port went down its flows are told; a frame that meets the port does not wait.
    pub sweep: Duration,
    /// New explorations a second that a host port may start, in the long run.
    pub rate: u64,
    /// New explorations that a host port may start at once.
    pub burst: u64,
    /// Frames to a station that is not known.
    pub on_unknown: OnUnknown,
    /// Whether a switch tells the others of a station that is new at a host port, or has moved there.
    pub announce: bool,
    /// Floods a second that the frames from one port may start, in the long run.
    pub flood_rate: u64,
    /// Floods that they may start at once.
    pub flood_burst: u64,
    /// Stations a second that may be new on a host port, or move there, in the long run.
    pub station_rate: u64,
    /// Stations that may be new there at once.
    pub station_burst: u64,
    /// Data without an entry.
    pub on_miss: OnMiss,
    /// Data before a dead port.
    pub while_broken: WhileBroken,
    /// How long a source edge keeps a flow's path before it looks for a better one; zero for ever.
    pub refresh_after: Duration,
    /// How often a flooded frame may be sent on.
    pub hops: u8,
}

/// The settings as parameters of a scheme.
pub const PARAMS: [ParamInfo; 22] = [
    ParamInfo {
        name: "lock",
        kind: ParamKind::Duration,
        default: "3 s",
        doc: "lifetime of an unconfirmed lock of a station or a flow to a port",
    },
    ParamInfo {
        name: "learnt",
        kind: ParamKind::Duration,
        default: "300 s",
        doc: "lifetime of an unused station entry",
    },
    ParamInfo {
        name: "attached",
        kind: ParamKind::Duration,
        default: "3600 s",
        doc: "lifetime of a silent host's entry at its own switch",
    },
    ParamInfo {
        name: "confirmed",
        kind: ParamKind::Duration,
        default: "10 s",
        doc: "lifetime of an unused flow entry",
    },
    ParamInfo {
        name: "closing",
        kind: ParamKind::Duration,
        default: "1 s",
        doc: "lifetime of a flow entry after a FIN or RST",
    },
    ParamInfo {
        name: "exploration",
        kind: ParamKind::Choice(&["full", "valley-free"]),
        default: "full",
        doc: "where a flood goes: to all other switches, or, once it has come down a tier, only downwards",
    },
    ParamInfo {
        name: "flood_order",
        kind: ParamKind::Choice(&["random", "fixed"]),
        default: "random",
        doc: "order in which the copies of a flood leave: random for each flood, or by port",
    },
    ParamInfo {
        name: "on_unknown",
        kind: ParamKind::Choice(&["flood", "repair"]),
        default: "flood",
        doc: "frames to an unknown station: flooded while a path is searched for, or dropped",
    },
    ParamInfo {
        name: "announce",
        kind: ParamKind::Choice(&["on", "off"]),
        default: "on",
        doc: "whether a switch announces stations that are new at one of its host ports or have moved there",
    },
    ParamInfo {
        name: "flood_rate",
        kind: ParamKind::Count,
        default: "1000",
        doc: "floods per second that frames from one port may start, on average",
    },
    ParamInfo {
        name: "flood_burst",
        kind: ParamKind::Count,
        default: "1000",
        doc: "floods that frames from one port may start at once",
    },
    ParamInfo {
        name: "station_rate",
        kind: ParamKind::Count,
        default: "100",
        doc: "stations per second that may appear at or move to a host port, on average",
    },
    ParamInfo {
        name: "station_burst",
        kind: ParamKind::Count,
        default: "1000",
        doc: "stations that may appear at or move to a host port at once",
    },
    ParamInfo {
        name: "on_miss",
        kind: ParamKind::Choice(&["default-forwarding", "recover"]),
        default: "default-forwarding",
        doc: "data of a flow without an entry: default forwarding only, or also a search for its own path",
    },
    ParamInfo {
        name: "recover",
        kind: ParamKind::Choice(&["drop", "detour"]),
        default: "drop",
        doc: "frames that meet a dead port: dropped, or sent by default forwarding",
    },
    ParamInfo {
        name: "refresh_after",
        kind: ParamKind::Duration,
        default: "0 s",
        doc: "time after which a flow searches for a better path; 0 s: never",
    },
    ParamInfo { name: "hello", kind: ParamKind::Duration, default: "5 s", doc: "interval of Hello messages" },
    ParamInfo {
        name: "flow_table",
        kind: ParamKind::Count,
        default: "1048576",
        doc: "maximum number of flow entries per switch; a flow needs two",
    },
    ParamInfo {
        name: "station_table",
        kind: ParamKind::Count,
        default: "65536",
        doc: "maximum number of stations per switch",
    },
    ParamInfo {
        name: "exploration_rate",
        kind: ParamKind::Count,
        default: "10000",
        doc: "explorations per second that the hosts of a port may start, on average",
    },
    ParamInfo {
        name: "exploration_burst",
        kind: ParamKind::Count,
        default: "1000",
        doc: "explorations that the hosts of a port may start at once",
    },
    ParamInfo {
        name: "arp_cache",
        kind: ParamKind::Duration,
        default: "60 s",
        doc: "lifetime of a host's ARP entry; 0 s: every flow sends an ARP Request",
    },
];

/// What the makers of all exploring switches have.
pub(crate) struct Maker {
    pub(crate) config: Exploration,
    pub(crate) arp_cache: Duration,
    seed: u64,
}

impl Maker {
    /// With the parameters of `spec`; `seed` is the run's.
    pub(crate) fn new(seed: u64, spec: &SchemeSpec) -> Self {
        let (config, arp_cache) = Exploration::from_spec(spec);
        Self { config, arp_cache, seed }
    }

    /// What the tables of the switch `node` hash under.
    pub(crate) fn secret(&self, node: NodeId) -> u64 {
        mix64(self.seed ^ mix64(u64::from(node.0) + 1))
    }
}

/// What is wrong with timers that contradict each other.
pub(crate) fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let (config, arp_cache) = Exploration::from_spec(spec);
    let timers = [
        ("lock", config.lock),
        ("learnt", config.learnt),
        ("confirmed", config.confirmed),
        ("attached", config.attached),
        ("hello", config.hello),
    ];
    if let Some((param, _)) = timers.into_iter().find(|(_, time)| *time == Duration::ZERO) {
        let expected = "expected a time above 0".to_owned();
        return Some(Contradiction { param, message: format!("`scheme.{param}` is 0"), expected });
    }
    let least = Duration::from_ms(1);
    let short = |param, time: Duration, expected| {
        Some(Contradiction { param, message: format!("`scheme.{param}` is {time}"), expected })
    };
    if config.hello < least {
        let expected = format!("expected at least {least}: a neighbour's frames take time too");
        return short("hello", config.hello, expected);
    }
    if config.refresh_after > Duration::ZERO && config.refresh_after < least {
        let expected = format!("expected 0 s for never, or at least {least}, in which a path's age is kept");
        return short("refresh_after", config.refresh_after, expected);
    }
    let longer = |param, time: Duration, name: &str, life: Duration, why: &str| Contradiction {
        param,
        message: format!("`scheme.{param}`, {time}, is longer than `scheme.{name}`, {life}"),
        expected: format!("{why}: expected at most {life}"),
    };
    let lives = [("learnt", config.learnt), ("confirmed", config.confirmed)];
    if let Some((name, life)) = lives.into_iter().find(|(_, life)| *life < config.lock) {
        return Some(longer("lock", config.lock, name, life, "a lock ends before what it locks"));
    }
    if config.closing > config.confirmed {
        let why = "a flow that ends is known no longer than one that goes on";
        return Some(longer("closing", config.closing, "confirmed", config.confirmed, why));
    }
    let why = "a host is known at its switch while others remember its address";
    (arp_cache > config.attached).then(|| longer("arp_cache", arp_cache, "attached", config.attached, why))
}

/// Where the ports of `node` lead.
pub fn ways(fabric: &Fabric, node: NodeId) -> Vec<Way> {
    let tier = fabric.node(node).tier;
    let way = |&link| {
        let other = fabric.node(fabric.link(link).to);
        match other.tier.cmp(&tier) {
            _ if other.is_host() => Way::Host,
            std::cmp::Ordering::Less => Way::Down,
            std::cmp::Ordering::Equal => Way::Level,
            std::cmp::Ordering::Greater => Way::Up,
        }
    };
    fabric.ports(node).iter().map(way).collect()
}

impl Exploration {
    /// The settings that `spec` gives, and how long hosts remember addresses.
    pub fn from_spec(spec: &SchemeSpec) -> (Self, Duration) {
        let mut config = Self::default();
        let mut arp_cache = Duration::from_secs(60);
        for (name, value) in &spec.params {
            match (name.as_str(), value) {
                ("lock", ParamValue::Duration(time)) => config.lock = *time,
                ("learnt", ParamValue::Duration(time)) => config.learnt = *time,
                ("attached", ParamValue::Duration(time)) => config.attached = *time,
                ("confirmed", ParamValue::Duration(time)) => config.confirmed = *time,
                ("closing", ParamValue::Duration(time)) => config.closing = *time,
                ("refresh_after", ParamValue::Duration(time)) => config.refresh_after = *time,
                ("arp_cache", ParamValue::Duration(time)) => arp_cache = *time,
                ("hello", ParamValue::Duration(time)) => {
                    config.hello = *time;
                    config.hold = *time * 3;
                }
                ("exploration", ParamValue::Text(text)) if text == "valley-free" => {
                    config.scope = Scope::ValleyFree;
                }
                ("flood_order", ParamValue::Text(text)) if text == "fixed" => {
                    config.order = FloodOrder::Fixed
                }
                ("on_unknown", ParamValue::Text(text)) if text == "repair" => {
                    config.on_unknown = OnUnknown::Repair;
                }
                ("announce", ParamValue::Text(text)) if text == "off" => config.announce = false,
                ("flood_rate", ParamValue::Count(count)) => config.flood_rate = *count,
                ("flood_burst", ParamValue::Count(count)) => config.flood_burst = *count,
                ("station_rate", ParamValue::Count(count)) => config.station_rate = *count,
                ("station_burst", ParamValue::Count(count)) => config.station_burst = *count,
                ("on_miss", ParamValue::Text(text)) if text == "recover" => config.on_miss = OnMiss::Recover,
                ("recover", ParamValue::Text(text)) if text == "detour" => {
                    config.while_broken = WhileBroken::Detour;
                }
                ("flow_table", ParamValue::Count(count)) => config.flows = *count as usize,
                ("station_table", ParamValue::Count(count)) => config.stations = *count as usize,
                ("exploration_rate", ParamValue::Count(count)) => config.rate = *count,
                ("exploration_burst", ParamValue::Count(count)) => config.burst = *count,
                _ => {}
            }
        }
        (config, arp_cache)
    }
}

impl Default for Exploration {
    fn default() -> Self {
        Self {
            lock: Duration::from_secs(3),
            learnt: Duration::from_secs(300),
            attached: Duration::from_secs(3600),
            confirmed: Duration::from_secs(10),
            closing: Duration::from_secs(1),
            broadcast_lock: Duration::from_secs(1),
            repair: Duration::from_secs(1),
            stations: 65_536,
            flows: 1 << 20,
            floods: 65_536,
            scope: Scope::Full,
            order: FloodOrder::Random,
            hello: Duration::from_secs(5),
            hold: Duration::from_secs(15),
            sweep: Duration::ZERO,
            rate: 10_000,
            burst: 1_000,
            on_unknown: OnUnknown::Flood,
            announce: true,
            flood_rate: 1_000,
            flood_burst: 1_000,
            station_rate: 100,
            station_burst: 1_000,
            on_miss: OnMiss::DefaultForwarding,
            while_broken: WhileBroken::Drop,
            refresh_after: Duration::ZERO,
            hops: 64,
        }
    }
}
