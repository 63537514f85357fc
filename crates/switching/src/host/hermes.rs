//! Hermes: a source senses the paths to each leaf by round-trip times, marks, losses and probes, and moves a flow with
//! caution: away from failures at once, away from congestion only if another path is notably better and the flow gains by
//! it (Zhang et al., "Resilient datacenter load balancing in the wild", SIGCOMM 2017).
//!
//! The paper's hypervisors under one leaf share an agent that probes; here each host senses and probes for itself. The bytes
//! that a flow must have sent before it leaves a congested path are counted from its last move. A path that dropped all
//! packets of a connection is avoided by that connection alone.

use std::sync::Arc;

use weft_transport::{Ecn, Flags, Segment};
use weft_units::{Bytes, Duration, Rate, Time, params};

use super::flow_rate::FlowRate;
use super::path_selector::{Host, Opening, PathSelector};
use super::path_state::Limits;
use super::path_states::PathStates;
use super::probes::{Probed, Probes};
use super::round_trips::{RoundTrips, is_before};
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::host::over::OverHashAlone;
use crate::spec::SchemeSpec;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "hermes",
    summary: "Hermes: a source senses all paths, and moves flows from failures at once, from congestion with caution",
    decides: "hosts",
    observes: "delay, marks, losses and timeouts, by path",
    source: "Zhang et al., SIGCOMM 2017",
    params: Config::PARAMS,
    needs: &[Need::NewHost],
    has_own_frames: true,
    ..Descriptor::AT_HOSTS
};

/// With shorter intervals, hosts would send little but probes.
const LEAST_INTERVAL: Duration = Duration::from_us(1);

params! {
    struct Config {
        /// scheme of the switches, with its defaults
        over: OverHashAlone = OverHashAlone::Ecmp;
        /// percentage of marked packets above which a path is congested
        marked: u64 = 40, in 1..=100, elsewhere "ns3-load-balance 30 (class), 10 (script)";
        /// delay over the shortest round trip below which a path is good
        low: Duration = Duration::from_us(30), elsewhere "ns3-load-balance (script) a round trip of 40 us";
        /// delay over the shortest round trip above which a path is congested
        high: Duration = Duration::from_us(120), elsewhere "ns3-load-balance (script) a round trip of 180 us";
        /// difference of round-trip times that makes a path notably better
        better_by: Duration = Duration::from_us(80);
        /// difference of marked percentages that makes a path notably better
        better_marked: u64 = 5, in 1..=100;
        /// bytes after which a flow may leave a congested path
        sent: Bytes = Bytes(600_000), elsewhere "ns3-load-balance 64 kB";
        /// percentage of the interface's rate above which a flow stays
        rate: u64 = 30, in 1..=100;
        /// interval of probes
        probe: Duration = Duration::from_us(500), in LEAST_INTERVAL..=Duration::MAX,
            elsewhere "ns3-load-balance 100 us (class), 50 us (script)";
    }
}

/// The parameters, as connections need them.
pub struct Scheme {
    limits: Limits,
    config: Config,
}

impl Scheme {
    /// The scheme with the parameters of `spec`.
    pub fn new(spec: &SchemeSpec) -> Self {
        let config = Config::of(&spec.params);
        let share = |percent: u64| percent as f64 / 100.0;
        let limits = Limits {
            marked: share(config.marked),
            low: config.low,
            high: config.high,
            better_by: config.better_by,
            better_marked: share(config.better_marked),
        };
        Self { limits, config }
    }
}

/// Timeouts on a path without an acknowledgement from which a connection avoids it: a switch that drops all packets of some
/// flows (section 3.1.2).
const TIMEOUTS: u8 = 4;

/// A measurement of the round-trip time under way: the end of a segment's data, and when it was sent.
type Timed = Option<(u32, Time)>;

/// Hermes's state at one end of a connection.
pub struct Hermes {
    paths: Arc<[u32]>,
    rate: Rate,
    round: RoundTrips,
    path: Option<usize>,
    /// Choose another one: after a timeout.
    leaves: bool,
    /// The path before, and the end of the data that was sent on it.
    before: Option<(usize, u32)>,
    /// For each path, timeouts since the last acknowledgement on it.
    timeouts: Vec<u8>,
    random: u64,
    timed: Timed,
    sent: u64,
    flow_rate: FlowRate,
    probes: Probes,
    is_open: bool,
}

impl Hermes {
    /// Makes sure that the shared states have an entry for each path.
    fn set_path_count(&self, host: &mut Host<'_, Self>) {
        host.shared.set_count(self.paths.len(), self.random);
    }

    /// Algorithm 2: the path of the next packet.
    fn choose(&mut self, host: &mut Host<'_, Self>) -> usize {
        let (limits, now) = (&host.scheme.limits, host.now);
        let works = |path: usize| self.timeouts.get(path).is_none_or(|count| *count < TIMEOUTS);
        let Some(path) = self.path else {
            return host.shared.choose(works, limits, now).unwrap_or(0);
        };
        if self.leaves || host.shared.has_failed(path, now) {
            // If there is no other, the flow stays.
            return host.shared.choose(|other| other != path && works(other), limits, now).unwrap_or(path);
        }
        let may_leave = self.sent > host.scheme.config.sent.0
            && host.shared.is_congested(path, limits, now)
            && self.flow_rate.bps(now) * 100.0 <= self.rate.bps() as f64 * host.scheme.config.rate as f64;
        let better = if may_leave { host.shared.better_than(path, limits, now) } else { None };
        better.unwrap_or(path)
    }
}

impl PathSelector for Hermes {
    type Scheme = Scheme;
    type Shared = PathStates;

    fn needs_paths(_scheme: &Scheme) -> bool {
        true
    }

    fn shares(_scheme: &Scheme) -> bool {
        true
    }

    fn open(_scheme: &Scheme, opening: Opening) -> Self {
        Self {
            paths: opening.paths,
            rate: opening.rate,
            round: RoundTrips::default(),
            path: None,
            leaves: false,
            before: None,
            timeouts: Vec::new(),
            random: opening.random,
            timed: None,
            sent: 0,
            flow_rate: FlowRate::default(),
            probes: Probes::default(),
            is_open: false,
        }
    }

    fn renew(&mut self, paths: Arc<[u32]>) {
        self.paths = paths;
        (self.path, self.before, self.timed) = (None, None, None);
        self.timeouts.clear();
        self.probes.forget();
    }

    fn stamp(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        template.overlay = [0; 8];
        if self.paths.is_empty() {
            return;
        }
        self.set_path_count(host);
        let path = self.choose(host);
        self.leaves = false;
        if self.path != Some(path) {
            self.before = self.path.zip(self.round.sent());
            (self.path, self.timed, self.sent) = (Some(path), None, 0);
        }
        if segment.len > 0 {
            let bytes = segment.ip_bytes().into();
            self.sent += bytes;
            self.flow_rate.sends(bytes, host.now);
            host.shared.sends(path, bytes, host.now);
            if segment.retransmission {
                // The copy that was lost was perhaps sent on the path before.
                let before = self.before.filter(|(_, end)| is_before(segment.seq, *end));
                host.shared.lost(before.map_or(path, |(path, _)| path));
                // An acknowledgement would not tell which of the copies it answers.
                self.timed = None;
            } else if self.timed.is_none() {
                self.timed = Some((segment.seq.wrapping_add(segment.len.into()), host.now));
            }
        }
        self.round.sends(segment);
        template.entropy = self.paths[path] ^ template.flow_hash;
    }

    fn receive(&mut self, host: &mut Host<'_, Self>, header: &Header, segment: &Segment) -> bool {
        if !segment.flags.has(Flags::SYN)
            && let Some(probed) = self.probes.received(header.overlay, segment.ecn == Ecn::Ce, host.now)
        {
            if let Probed::Answered(path, is_marked, lasted) = probed {
                self.set_path_count(host);
                host.shared.measured(path, lasted);
                host.shared.acked(path, is_marked, &host.scheme.limits, host.now);
            }
            return true;
        }
        self.is_open = true;
        let acked = self.round.receives(segment);
        if let Some(path) = self.path.filter(|_| acked.bytes > 0) {
            host.shared.acked(path, segment.flags.has(Flags::ECE), &host.scheme.limits, host.now);
            self.timeouts.get_mut(path).into_iter().for_each(|count| *count = 0);
            if let Some((_, since)) = self.timed.filter(|(end, _)| !is_before(segment.ack, *end)) {
                self.timed = None;
                host.shared.measured(path, host.now.saturating_since(since));
            }
        }
        false
    }

    fn timed_out(&mut self, _host: &mut Host<'_, Self>) {
        if let Some(path) = self.path {
            self.timeouts.resize(self.paths.len().max(path + 1), 0);
            self.timeouts[path] = self.timeouts[path].saturating_add(1);
        }
        (self.leaves, self.timed) = (true, None);
    }

    /// Section 3.1: probes on two random paths and on the best one, once in an interval for all connections to a leaf.
    fn own(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &mut Segment) -> bool {
        if !self.probes.are_due(host.now) || self.paths.is_empty() || !self.is_open {
            return false;
        }
        self.set_path_count(host);
        if self.round.sent().is_some() {
            self.probes.plan(host.shared, host.scheme.config.probe, host.now);
        }
        let own = self.path.unwrap_or(0);
        let Some((path, overlay)) = self.probes.next(own, self.paths.len(), host.now) else { return false };
        template.overlay = overlay;
        template.entropy = self.paths[path] ^ template.flow_hash;
        *segment = Segment { ecn: Ecn::Ect0, ..Segment::default() };
        true
    }
}
