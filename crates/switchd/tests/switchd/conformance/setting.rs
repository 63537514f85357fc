//! Random settings of a switch.

use rand_core::RngCore;
use weft_switchd::Mode;
use weft_switching::exploration::{
    Announce, Exploration, FloodOrder, OnMiss, OnUnknown, Safeguards, Scope, Snoop, WhileBroken,
};
use weft_switching::hello::Way;
use weft_switching::tfe::Classifier;
use weft_switching::{pick, stream};
use weft_units::{Bytes, Duration, Rate};

/// The directions of ports, including unknown.
const WAYS: [Way; 5] = [Way::Up, Way::Down, Way::Level, Way::Host, Way::Unknown];

/// The same for a switch between two tiers.
const BETWEEN: [Way; 3] = [Way::Up, Way::Down, Way::Up];

/// A switch and its settings.
#[derive(Clone, Debug)]
pub struct Setting {
    pub mode: Mode,
    pub config: Exploration,
    pub ways: Vec<Way>,
    /// Whether a Hello can turn each port into a fabric port.
    pub may_be_fabric: Vec<bool>,
    /// The elephant classifier, mode `tfe`.
    pub classifier: Classifier,
    /// Whether most frames belong to orderly connections.
    pub calm: bool,
    /// The next hops of the stations from 02:00:00:00:00:00 on, modes `ecmp` and `spray`.
    pub routes: Vec<Vec<u16>>,
}

impl Setting {
    /// The setting of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = stream(seed, "setting", 0);
        let mut flip = || random.next_u64() & 1 == 1;
        let mode = match seed % 8 {
            0 => Mode::ArpPath,
            1..=3 => Mode::TcpPath,
            4..=6 => Mode::Tfe,
            _ if flip() => Mode::Ecmp,
            _ => Mode::Spray,
        };
        let config = Exploration {
            stations: 1024,
            flows: 4096,
            // A token bucket that a sequence can empty.
            rate: if flip() { 10 } else { 10_000 },
            burst: if flip() { 5 } else { 1_000 },
            // At 1 kbit/s, a sequence can use up the share.
            safeguards: Safeguards {
                floods: 4096,
                // Shorter than the longest wait.
                membership: Duration::from_secs(4),
                snooping: if flip() || flip() { Snoop::On } else { Snoop::Off },
                ..Safeguards::default()
            },
            line_rate: if flip() {
                Some(Rate::from_bps(if flip() { 100_000 } else { 1_000_000_000 }))
            } else {
                None
            },
            scope: if flip() { Scope::Full } else { Scope::ValleyFree },
            order: if flip() { FloodOrder::Fixed } else { FloodOrder::Random },
            on_miss: if flip() { OnMiss::Recover } else { OnMiss::DefaultForwarding },
            while_broken: if flip() { WhileBroken::Detour } else { WhileBroken::Drop },
            refresh_after: if flip() { Duration::from_ms(50) } else { Duration::ZERO },
            on_unknown: if flip() && flip() { OnUnknown::Repair } else { OnUnknown::Flood },
            announce: if flip() || flip() { Announce::On } else { Announce::Off },
            flood_rate: if flip() { 10 } else { 10_000 },
            flood_burst: if flip() { 5 } else { 1_000 },
            station_rate: if flip() { 1 } else { 10_000 },
            station_burst: if flip() { 3 } else { 1_000 },
            ..Exploration::default()
        };
        let ports = 2 + pick(random.next_u64(), 7);
        let mut ways: Vec<Way> = (0..ports).map(|_| WAYS[pick(random.next_u64(), WAYS.len())]).collect();
        ways[0] = Way::Host;
        match random.next_u64() % 4 {
            0 | 1 => ways[1] = Way::Level,
            // A switch between two tiers.
            2 => ways[1..].iter_mut().enumerate().for_each(|(at, way)| *way = BETWEEN[at % BETWEEN.len()]),
            _ => {}
        }
        let calm = random.next_u64() & 1 == 1;
        let distrust = if calm { 40 } else { 5 };
        let may_be_fabric = (0..ports).map(|_| pick(random.next_u64(), distrust) > 0).collect();
        let classifier = match random.next_u64() % 3 {
            0 => Classifier::Ports(80, 90),
            1 => Classifier::Dscp(10),
            _ => Classifier::Auto(Bytes(1000)),
        };
        // Hosts with higher numbers have no route.
        let routed = 1 + pick(random.next_u64(), 7);
        let mut route = || {
            let hops = 1 + pick(random.next_u64(), 4);
            let mut route: Vec<u16> = (0..hops).map(|_| pick(random.next_u64(), ports) as u16).collect();
            route.sort_unstable();
            route.dedup();
            route
        };
        let routes = (0..routed).map(|_| route()).collect();
        Self { mode, config, ways, may_be_fabric, classifier, calm, routes }
    }
}
