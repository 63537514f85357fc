//! [`Sink`]: counts the datagrams of a flow that arrive.

use std::convert::Infallible;

use weft_units::Time;

use super::config::Config;
use super::source::Datagram;
use crate::arrivals::Arrivals;
use crate::machine::Arrival;
use crate::one_way::Receiving;
use crate::stats::Stats;

/// The receiving side of a flow.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    arrivals: Arrivals,
    /// One more than the highest number that has arrived.
    end: u32,
    bytes: u64,
    stats: Stats,
}

impl Receiving for Sink {
    type Config = Config;
    type Data = Datagram;
    type Answer = Infallible;

    /// A datagram arrives. Copies do not count.
    fn receive(&mut self, _: &Config, _: Time, datagram: &Datagram, arrival: Arrival) -> Option<Infallible> {
        if self.arrivals.insert(datagram.number) {
            self.bytes += u64::from(datagram.payload);
            self.stats.first_transmissions_received += 1;
            self.stats.out_of_order += u32::from(datagram.number < self.end);
            self.stats.ecn_marks += u32::from(arrival.is_marked);
            self.end = self.end.max(datagram.number + 1);
        }
        None
    }

    /// Bytes of payload that have arrived.
    fn delivered(&self) -> u64 {
        self.bytes
    }

    fn received_bytes(&self, _config: &Config) -> u64 {
        self.bytes
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn heap_bytes(&self) -> usize {
        self.arrivals.heap_bytes()
    }
}
