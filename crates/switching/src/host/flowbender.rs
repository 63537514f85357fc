//! FlowBender: a sender whose packets were marked for a round trip changes the path of its whole flow (Kabbani et al.,
//! "FlowBender: flow-level adaptive routing for improved latency and throughput in datacenter networks", CoNEXT 2014).

use weft_transport::{Flags, Segment};
use weft_units::params;

use super::path_selector::{Host, Opening, PathSelector};
use super::round_trips::RoundTrips;
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::hash::mix64;
use crate::host::over::OverHashing;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "flowbender",
    summary: "FlowBender: a sender moves a flow whose packets were marked for a round trip",
    decides: "hosts",
    observes: "congestion marks of the flow",
    source: "Kabbani et al., CoNEXT 2014",
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
        /// percentage of marked acknowledgements above which a round trip is congested
        marked: u64 = 5, in 1..=99;
        /// congested round trips in a row after which the flow moves
        rounds: u64 = 1, in 1..=1000;
        /// values of the field that switches hash
        choices: u32 = 8, in 2..=256;
    }
}

/// FlowBender's state at one end of a connection.
#[derive(Default)]
pub struct FlowBender {
    round: RoundTrips,
    acks: u64,
    marked: u64,
    /// Congested round trips in a row.
    congested: u64,
    /// The field that switches hash: the paper's V.
    value: u32,
}

impl FlowBender {
    fn moves(&mut self, scheme: &Scheme) {
        self.value = (self.value + 1) % scheme.choices;
        self.congested = 0;
    }
}

impl PathSelector for FlowBender {
    type Scheme = Scheme;
    type Shared = ();

    fn open(_scheme: &Scheme, _opening: Opening) -> Self {
        Self::default()
    }

    fn stamp(&mut self, _host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        self.round.sends(segment);
        template.entropy = if self.value == 0 { 0 } else { mix64(self.value.into()) as u32 };
    }

    /// Section 3.2: the fraction of marked acknowledgements, once a round trip.
    fn receive(&mut self, host: &mut Host<'_, Self>, _header: &Header, segment: &Segment) -> bool {
        let acked = self.round.receives(segment);
        if acked.bytes == 0 {
            return false;
        }
        self.acks += 1;
        self.marked += u64::from(segment.flags.has(Flags::ECE));
        if acked.ends_round {
            let is_congested = self.marked * 100 > self.acks * host.scheme.marked;
            self.congested = if is_congested { self.congested + 1 } else { 0 };
            (self.acks, self.marked) = (0, 0);
            if self.congested >= host.scheme.rounds {
                self.moves(host.scheme);
            }
        }
        false
    }

    /// Section 3.3.2: a timeout is taken for a failed link.
    fn timed_out(&mut self, host: &mut Host<'_, Self>) {
        self.moves(host.scheme);
    }
}
