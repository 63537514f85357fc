//! Settings shared by ARP-Path, TCP-Path and TFE.

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId};

use crate::hash::mix64;
use crate::hello::Way;
use crate::registry::{Contradiction, ParamInfo, ParamKind, ParamValue, SchemeSpec};

/// How far a flood extends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// Every fabric port except the ingress.
    #[default]
    Full,
    /// The same, but a copy that came down a tier only goes further down.
    ValleyFree,
}

/// The order in which the copies of a flood leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FloodOrder {
    /// Random for every flood.
    #[default]
    Random,
    /// By port number.
    Fixed,
}

/// The treatment of frames to an unknown station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnUnknown {
    /// Flooded, and so delivered, during the search for a path.
    #[default]
    Flood,
    /// Dropped during the search for a path: the rule of the ARP-Path paper.
    Repair,
}

/// The treatment of data frames of a flow without an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnMiss {
    /// Default forwarding.
    #[default]
    DefaultForwarding,
    /// Default forwarding, while the source edge searches for a path.
    Recover,
}

/// The treatment of data frames whose egress port is dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhileBroken {
    /// Dropped.
    #[default]
    Drop,
    /// Default forwarding.
    Detour,
}

/// The settings of an exploring switch.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Lifetime of an unconfirmed lock of a station or a flow to a port.
    pub lock: Duration,
    /// Lifetime of an unused station entry.
    pub learnt: Duration,
    /// Lifetime of a silent host's entry at its own switch (IEEE 802.1Q, 8.8.3: ageing time).
    pub attached: Duration,
    /// Lifetime of an unused confirmed flow entry.
    pub confirmed: Duration,
    /// Lifetime of a flow entry after FIN or RST.
    pub closing: Duration,
    /// Lifetime of the lock of a source's other broadcasts to a port.
    pub broadcast_lock: Duration,
    /// Time until a repair may be repeated.
    pub repair: Duration,
    /// Maximum number of stations.
    pub stations: usize,
    /// Maximum number of flow entries, two per flow.
    pub flows: usize,
    /// Maximum number of remembered floods.
    pub floods: usize,
    /// The extent of floods.
    pub scope: Scope,
    /// The order of their copies.
    pub order: FloodOrder,
    /// Interval of Hello messages.
    pub hello: Duration,
    /// Hold time of a neighbour after its last Hello.
    pub hold: Duration,
    /// Delay from a port going down until its flows are broken; an arriving frame does not wait.
    pub sweep: Duration,
    /// New explorations per second that a host port may start, on average.
    pub rate: u64,
    /// New explorations that a host port may start at once.
    pub burst: u64,
    /// Treatment of frames to an unknown station.
    pub on_unknown: OnUnknown,
    /// Whether a switch announces stations that are new at a host port or moved there.
    pub announce: bool,
    /// Floods per second that frames from one port may start, on average.
    pub flood_rate: u64,
    /// Floods that frames from one port may start at once.
    pub flood_burst: u64,
    /// Stations per second that may appear on or move to a host port, on average.
    pub station_rate: u64,
    /// Stations that may appear there at once.
    pub station_burst: u64,
    /// Treatment of data without a flow entry.
    pub on_miss: OnMiss,
    /// Treatment of data whose egress port is dead.
    pub while_broken: WhileBroken,
    /// Time after which a source edge searches for a better path; zero for never.
    pub refresh_after: Duration,
    /// Maximum number of hops of a flooded frame.
    pub hops: u8,
}

/// The settings as scheme parameters.
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

/// State shared by the builders of all exploring switches.
pub(crate) struct Maker {
    pub(crate) config: Exploration,
    pub(crate) arp_cache: Duration,
    seed: u64,
}

impl Maker {
    /// With the parameters of `spec`; `seed` is that of the run.
    pub(crate) fn new(seed: u64, spec: &SchemeSpec) -> Self {
        let (config, arp_cache) = Exploration::from_spec(spec);
        Self { config, arp_cache, seed }
    }

    /// The hash secret of the tables of switch `node`.
    pub(crate) fn secret(&self, node: NodeId) -> u64 {
        mix64(self.seed ^ mix64(u64::from(node.0) + 1))
    }
}

/// The first contradiction among the timers.
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
        let expected = format!("expected at least {least}: Hello messages take time to arrive");
        return short("hello", config.hello, expected);
    }
    if config.refresh_after > Duration::ZERO && config.refresh_after < least {
        let expected = format!("expected 0 s (never) or at least {least}, the resolution of a path's age");
        return short("refresh_after", config.refresh_after, expected);
    }
    let longer = |param, time: Duration, name: &str, life: Duration, why: &str| Contradiction {
        param,
        message: format!("`scheme.{param}`, {time}, is longer than `scheme.{name}`, {life}"),
        expected: format!("{why}: expected at most {life}"),
    };
    let lives = [("learnt", config.learnt), ("confirmed", config.confirmed)];
    if let Some((name, life)) = lives.into_iter().find(|(_, life)| *life < config.lock) {
        return Some(longer("lock", config.lock, name, life, "a lock must not outlive the confirmed entry"));
    }
    if config.closing > config.confirmed {
        let why = "a closing flow must not outlive an active one";
        return Some(longer("closing", config.closing, "confirmed", config.confirmed, why));
    }
    let why = "a switch must keep its hosts as long as others cache their addresses";
    (arp_cache > config.attached).then(|| longer("arp_cache", arp_cache, "attached", config.attached, why))
}

/// The roles of the ports of `node`.
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
    /// The settings of `spec`, and the lifetime of hosts' ARP entries.
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
