//! Settings shared by ARP-Path, TCP-Path and TFE.

use weft_units::{Duration, Rate, params, words};

use crate::spec::{Contradiction, SchemeSpec};

words! {
    /// How far a flood extends.
    pub enum Scope {
        /// Every fabric port except the ingress.
        Full = "full",
        /// Every fabric port except the ingress, but a copy that came down a tier only goes further down.
        ValleyFree = "valley-free",
    }
}

words! {
    /// The order in which the copies of a flood leave.
    pub enum FloodOrder {
        /// Random for every flood.
        Random = "random",
        /// By port number.
        Fixed = "fixed",
    }
}

words! {
    /// The treatment of frames to an unknown station.
    pub enum OnUnknown {
        /// Flooded, and so delivered, during the search for a path.
        Flood = "flood",
        /// Dropped during the search for a path: the rule of the ARP-Path paper.
        Repair = "repair",
    }
}

words! {
    /// Whether a switch announces stations.
    pub enum Announce {
        /// It does.
        On = "on",
        /// It does not.
        Off = "off",
    }
}

words! {
    /// Whether a switch reads IGMP and MLD.
    pub enum Snoop {
        /// Known groups leave host ports with members or routers only.
        On = "on",
        /// All groups leave all host ports.
        Off = "off",
    }
}

words! {
    /// The treatment of data frames of a flow without an entry.
    pub enum OnMiss {
        /// Default forwarding.
        DefaultForwarding = "default-forwarding",
        /// Default forwarding, while the source edge searches for a path.
        Recover = "recover",
    }
}

words! {
    /// The treatment of data frames whose egress port is dead.
    pub enum WhileBroken {
        /// Dropped.
        Drop = "drop",
        /// Default forwarding.
        Detour = "detour",
    }
}

params! {
    /// The settings of an exploring switch.
    #[derive(Clone, Debug)]
    pub struct Exploration {
        /// lifetime of an unconfirmed lock of a station or a flow to a port
        lock: Duration = Duration::from_secs(3);
        /// lifetime of an unused station entry
        learnt: Duration = Duration::from_secs(300);
        /// lifetime of a silent host's entry at its own switch
        attached: Duration = Duration::from_secs(3600);
        /// lifetime of an unused flow entry
        confirmed: Duration = Duration::from_secs(10);
        /// lifetime of a flow entry after a FIN or RST
        closing: Duration = Duration::from_secs(1);
        /// extent of a flood: all other switches, or, once it has come down a tier, only lower ones
        scope: Scope as "exploration" = Scope::Full;
        /// order in which the copies of a flood leave: random for each flood, or by port
        order: FloodOrder as "flood_order" = FloodOrder::Random;
        /// frames to an unknown station: flooded while a path is searched for, or dropped
        on_unknown: OnUnknown = OnUnknown::Flood;
        /// announcements of stations that are new at one of a switch's host ports or have moved there
        announce: Announce = Announce::On;
        /// floods per second that frames from one port may start, on average; the flood of a known station, or of a pair of
        /// stations, goes on without a limit
        flood_rate: u64 = 1_000;
        /// floods that frames from one port may start at once: a quarter of the flood table
        flood_burst: u64 = 16_384;
        /// stations per second that may appear at or move to a host port, on average
        station_rate: u64 = 100;
        /// stations that may appear at or move to a host port at once, and after it was down: a quarter of the station table
        station_burst: u64 = 16_384;
        /// data of a flow without an entry: default forwarding only, or also a search for its own path
        on_miss: OnMiss = OnMiss::DefaultForwarding;
        /// frames that meet a dead port: dropped, or sent by default forwarding
        while_broken: WhileBroken as "recover" = WhileBroken::Drop;
        /// time after which a flow searches for a better path; 0 s: never
        refresh_after: Duration = Duration::ZERO;
        /// interval of Hello messages
        hello: Duration = Duration::from_secs(5);
        /// maximum number of flow entries per switch; a flow needs two
        flows: usize as "flow_table" = 1 << 20;
        /// maximum number of stations per switch
        stations: usize as "station_table" = 65_536;
        /// explorations per second that the hosts of a port may start, on average
        rate: u64 as "exploration_rate" = 10_000;
        /// explorations that the hosts of a port may start at once
        burst: u64 as "exploration_burst" = 1_000;
        /// lifetime of a host's ARP entry; 0 s: every flow sends an ARP Request
        arp_cache: Duration = Duration::from_secs(60);
    }
    fixed {
        /// Simulations use the defaults.
        safeguards: Safeguards = Safeguards::default();
        /// Hold time of a neighbour after its last Hello.
        hold: Duration = Duration::from_secs(15);
        /// Rate of host ports, of which flooded frames may take a share; `None`: unknown, and without a limit.
        line_rate: Option<Rate> = None;
        /// Delay from a port going down until its flows are broken; an arriving frame does not wait.
        sweep: Duration = Duration::ZERO;
    }
}

params! {
    /// Limits on loops and repeated searches. A loop would carry broadcasts forever without their lock, and every
    /// frame to an unknown station would start a repair without an interval.
    #[derive(Clone, Copy, Debug)]
    pub struct Safeguards {
        /// time for which a source's broadcasts stay locked to a port
        broadcast_lock: Duration = Duration::from_secs(1), in Duration::PICOSECOND..=Duration::MAX;
        /// minimum time between two repairs
        repair: Duration = Duration::from_secs(1), in Duration::PICOSECOND..=Duration::MAX;
        /// maximum number of remembered floods
        floods: usize as "flood_table" = 65_536;
        /// maximum hops of a flooded frame
        hops: u8 = 64, in 1..=u8::MAX;
        /// share of a host port's rate, in percent, that its flooded frames may take
        flood_share: u8 = 20, in 1..=100;
        /// IGMP and MLD snooping (on, off): known groups leave only host ports with members or routers
        snooping: Snoop = Snoop::On;
        /// time for which a member of a group, a router and a querier are known without another message
        membership: Duration = Duration::from_secs(260), in Duration::PICOSECOND..=Duration::MAX;
        /// maximum number of known groups
        groups: usize as "group_table" = 4_096;
    }
}

/// The first contradiction among the timers.
pub(crate) fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let config = Exploration::from_spec(spec);
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
    (config.arp_cache > config.attached)
        .then(|| longer("arp_cache", config.arp_cache, "attached", config.attached, why))
}

impl Exploration {
    /// The settings of `spec`; a neighbour is held for three intervals of Hello messages.
    pub fn from_spec(spec: &SchemeSpec) -> Self {
        let config = Self::of(&spec.params);
        Self { hold: config.hello * 3, ..config }
    }
}
