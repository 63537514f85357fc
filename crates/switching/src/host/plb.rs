//! PLB, protective load balancing: a sender changes the path of a flow that has been congested for several round trips, if
//! possible while nothing is in flight (Qureshi et al., "PLB: congestion signals are simple and effective for network load
//! balancing", SIGCOMM 2022). The rules are those of Linux (`tcp_plb.c`), where the path is the IPv6 flow label.

use weft_transport::{Flags, Segment};
use weft_units::{Duration, Time, params};

use super::path_selector::{Host, Opening, PathSelector};
use super::round_trips::RoundTrips;
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::hash::mix64;
use crate::host::over::OverHashing;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "plb",
    summary: "PLB: a sender moves a flow after several congested round trips, best while it is idle",
    decides: "hosts",
    observes: "congestion marks of the flow",
    source: "Qureshi et al., SIGCOMM 2022; Linux, tcp_plb.c",
    params: Scheme::PARAMS,
    needs: &[Need::NewHost],
    knows_interfaces: OverHashing::knows_interfaces,
    ..Descriptor::AT_HOSTS
};

params! {
    /// The parameters.
    pub struct Scheme {
        /// scheme of the switches, with its defaults
        over: OverHashing = OverHashing::Ecmp;
        /// percentage of marked bytes from which a round trip is congested
        marked: u64 = 50, in 1..=100;
        /// congested round trips in a row after which the flow moves
        rounds: u64 = 12, in 1..=255;
        /// the same if nothing is in flight
        idle_rounds: u64 = 3, in 1..=255;
        /// pause after a timeout, extended by a random time up to the same length
        pause: Duration = Duration::from_secs(60);
    }
}

/// PLB's state at one end of a connection.
pub struct Plb {
    round: RoundTrips,
    bytes: u64,
    marked: u64,
    /// Congested round trips in a row.
    congested: u64,
    /// No move before this time.
    paused_until: Time,
    /// The flow label.
    label: u32,
    random: u64,
}

impl Plb {
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.random)
    }

    /// Moves the flow if `enough` round trips in a row were congested.
    fn consider(&mut self, enough: u64, now: Time) {
        if self.congested >= enough && now >= self.paused_until {
            self.label = self.draw() as u32;
            self.congested = 0;
        }
    }
}

impl PathSelector for Plb {
    type Scheme = Scheme;
    type Shared = ();

    fn open(_scheme: &Scheme, opening: Opening) -> Self {
        Self {
            round: RoundTrips::default(),
            bytes: 0,
            marked: 0,
            congested: 0,
            paused_until: Time::ZERO,
            label: 0,
            random: opening.random,
        }
    }

    fn stamp(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        if segment.len > 0 && self.round.is_idle() {
            self.consider(host.scheme.idle_rounds, host.now);
        }
        self.round.sends(segment);
        template.entropy = self.label;
    }

    fn receive(&mut self, host: &mut Host<'_, Self>, _header: &Header, segment: &Segment) -> bool {
        let acked = self.round.receives(segment);
        self.bytes += u64::from(acked.bytes);
        if segment.flags.has(Flags::ECE) {
            self.marked += u64::from(acked.bytes);
        }
        if acked.ends_round {
            let is_congested = self.marked * 100 >= self.bytes * host.scheme.marked;
            self.congested = if is_congested { self.congested + 1 } else { 0 };
            (self.bytes, self.marked) = (0, 0);
            self.consider(host.scheme.rounds, host.now);
        }
        false
    }

    /// Linux changes the flow label at each timeout, and then suspends PLB, because the timeout may be the sign of a
    /// failure from which the flow has just moved away.
    fn timed_out(&mut self, host: &mut Host<'_, Self>) {
        self.label = self.draw() as u32;
        self.congested = 0;
        let share = (self.draw() >> 32) as f64 / f64::from(u32::MAX);
        let pause = host.scheme.pause;
        self.paused_until = host.now + pause + Duration::from_ps((pause.ps() as f64 * share) as u64);
    }
}
