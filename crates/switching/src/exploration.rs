//! What ARP-Path, TCP-Path and TFE have in common: their settings.

use weft_units::Duration;

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
    /// Data without an entry.
    pub on_miss: OnMiss,
    /// Data before a dead port.
    pub while_broken: WhileBroken,
    /// How long a source edge keeps a flow's path before it looks for a better one; zero for ever.
    pub refresh_after: Duration,
    /// How often a flooded frame may be sent on.
    pub hops: u8,
}

impl Default for Exploration {
    fn default() -> Self {
        Self {
            lock: Duration::from_secs(3),
            learnt: Duration::from_secs(10),
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
            on_miss: OnMiss::DefaultForwarding,
            while_broken: WhileBroken::Drop,
            refresh_after: Duration::ZERO,
            hops: 64,
        }
    }
}
