//! Settings shared by ARP-Path, TCP-Path and TFE.

use weft_units::Duration;

use crate::param::ParamInfo;
use crate::spec::{Contradiction, SchemeSpec};

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
    ParamInfo::duration("lock", "3 s", "lifetime of an unconfirmed lock of a station or a flow to a port"),
    ParamInfo::duration("learnt", "300 s", "lifetime of an unused station entry"),
    ParamInfo::duration("attached", "3600 s", "lifetime of a silent host's entry at its own switch"),
    ParamInfo::duration("confirmed", "10 s", "lifetime of an unused flow entry"),
    ParamInfo::duration("closing", "1 s", "lifetime of a flow entry after a FIN or RST"),
    ParamInfo::choice(
        "exploration",
        &["full", "valley-free"],
        "full",
        "where a flood goes: to all other switches, or, once it has come down a tier, only downwards",
    ),
    ParamInfo::choice(
        "flood_order",
        &["random", "fixed"],
        "random",
        "order in which the copies of a flood leave: random for each flood, or by port",
    ),
    ParamInfo::choice(
        "on_unknown",
        &["flood", "repair"],
        "flood",
        "frames to an unknown station: flooded while a path is searched for, or dropped",
    ),
    ParamInfo::choice(
        "announce",
        &["on", "off"],
        "on",
        "whether a switch announces stations that are new at one of its host ports or have moved there",
    ),
    ParamInfo::count(
        "flood_rate",
        "1000",
        "floods per second that frames from one port may start, on average",
    ),
    ParamInfo::count("flood_burst", "1000", "floods that frames from one port may start at once"),
    ParamInfo::count(
        "station_rate",
        "100",
        "stations per second that may appear at or move to a host port, on average",
    ),
    ParamInfo::count("station_burst", "1000", "stations that may appear at or move to a host port at once"),
    ParamInfo::choice(
        "on_miss",
        &["default-forwarding", "recover"],
        "default-forwarding",
        "data of a flow without an entry: default forwarding only, or also a search for its own path",
    ),
    ParamInfo::choice(
        "recover",
        &["drop", "detour"],
        "drop",
        "frames that meet a dead port: dropped, or sent by default forwarding",
    ),
    ParamInfo::duration(
        "refresh_after",
        "0 s",
        "time after which a flow searches for a better path; 0 s: never",
    ),
    ParamInfo::duration("hello", "5 s", "interval of Hello messages"),
    ParamInfo::count("flow_table", "1048576", "maximum number of flow entries per switch; a flow needs two"),
    ParamInfo::count("station_table", "65536", "maximum number of stations per switch"),
    ParamInfo::count(
        "exploration_rate",
        "10000",
        "explorations per second that the hosts of a port may start, on average",
    ),
    ParamInfo::count("exploration_burst", "1000", "explorations that the hosts of a port may start at once"),
    ParamInfo::duration(
        "arp_cache",
        "60 s",
        "lifetime of a host's ARP entry; 0 s: every flow sends an ARP Request",
    ),
];

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

impl Exploration {
    /// The settings of `spec`, and the lifetime of hosts' ARP entries.
    pub fn from_spec(spec: &SchemeSpec) -> (Self, Duration) {
        let default = Self::default();
        let time = |name, default| spec.duration(name).unwrap_or(default);
        let count = |name, default| spec.count(name).unwrap_or(default);
        let is = |name, word| spec.word(name) == Some(word);
        let config = Self {
            lock: time("lock", default.lock),
            learnt: time("learnt", default.learnt),
            attached: time("attached", default.attached),
            confirmed: time("confirmed", default.confirmed),
            closing: time("closing", default.closing),
            stations: count("station_table", default.stations as u64) as usize,
            flows: count("flow_table", default.flows as u64) as usize,
            scope: if is("exploration", "valley-free") { Scope::ValleyFree } else { default.scope },
            order: if is("flood_order", "fixed") { FloodOrder::Fixed } else { default.order },
            hello: time("hello", default.hello),
            hold: time("hello", default.hello) * 3,
            rate: count("exploration_rate", default.rate),
            burst: count("exploration_burst", default.burst),
            on_unknown: if is("on_unknown", "repair") { OnUnknown::Repair } else { default.on_unknown },
            announce: !is("announce", "off"),
            flood_rate: count("flood_rate", default.flood_rate),
            flood_burst: count("flood_burst", default.flood_burst),
            station_rate: count("station_rate", default.station_rate),
            station_burst: count("station_burst", default.station_burst),
            on_miss: if is("on_miss", "recover") { OnMiss::Recover } else { default.on_miss },
            while_broken: if is("recover", "detour") { WhileBroken::Detour } else { default.while_broken },
            refresh_after: time("refresh_after", default.refresh_after),
            ..default
        };
        (config, time("arp_cache", Duration::from_secs(60)))
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
