//! A [`Connection`] as a [`Machine`].

use weft_units::Time;

use super::config::Config;
use super::connection::Connection;
use super::options::Options;
use super::stats::Stats as MultipathStats;
use crate::machine::{Arrival, Machine, tcp_methods};
use crate::segment::Segment;
use crate::stats::Stats;

/// A segment of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The number of the subflow at this side.
    pub subflow: usize,
    /// The segment.
    pub segment: Segment,
    /// Its option.
    pub options: Options,
}

impl Machine for Connection {
    type Config = Config;
    type Packet = Packet;

    tcp_methods!();

    fn window(&self, config: &Config) -> Option<u64> {
        self.subflows()
            .filter_map(|endpoint| endpoint.window(&config.subflow))
            .reduce(|one, other| one + other)
    }

    fn receive(&mut self, config: &Config, now: Time, packet: &Packet, _arrival: Arrival) {
        self.on_segment(config, packet.subflow, now, &packet.segment, &packet.options);
    }

    fn poll_transmit(&mut self, config: &Config, now: Time, packet: &mut Packet) -> bool {
        packet.options = Options::None;
        let sent = self.poll_transmit(config, now, &mut packet.segment, &mut packet.options);
        packet.subflow = sent.unwrap_or(packet.subflow);
        sent.is_some()
    }

    fn stats(&self) -> Stats {
        self.totals()
    }

    fn multipath_stats(&self) -> Option<MultipathStats> {
        Some(self.stats())
    }
}
