//! [`Sink`]: counts the datagrams of a flow that arrive.

use std::convert::Infallible;

use weft_units::Time;

use super::config::Config;
use super::source::Datagram;
use crate::arrivals::Arrivals;
use crate::machine::Arrival;
use crate::one_way::Receiving;
use crate::protocol_config::ProtocolConfig as _;
use crate::stats::Stats;

/// The receiving side of a flow.
#[derive(Clone, Debug)]
pub struct Sink {
    /// The number of datagrams of the flow.
    datagrams: u32,
    arrivals: Arrivals,
    /// One more than the highest number that has arrived.
    end: u32,
    bytes: u64,
    stats: Stats,
}

impl Sink {
    /// The receiving side of a flow of `bytes`.
    pub fn new(config: &Config, bytes: u64) -> Self {
        let (datagrams, _) = config.framing().numbered_packets(bytes);
        Self { datagrams, arrivals: Arrivals::default(), end: 0, bytes: 0, stats: Stats::default() }
    }
}

impl Receiving for Sink {
    type Config = Config;
    type Data = Datagram;
    type Answer = Infallible;

    /// A datagram arrives. Copies do not count.
    fn receive(&mut self, _: &Config, _: Time, datagram: &Datagram, arrival: Arrival) -> Option<Infallible> {
        if datagram.number >= self.datagrams {
            self.stats.impossible += 1;
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_that_the_flow_does_not_have_are_dropped_and_counted() {
        let config = Config::default();
        let mut sink = Sink::new(&config, 10 * u64::from(config.payload));
        for number in [0, 9, 10, 1 << 31, u32::MAX] {
            sink.receive(&config, Time::ZERO, &Datagram { number, payload: 100 }, Arrival::default());
        }
        assert_eq!((sink.delivered(), sink.stats().first_transmissions_received), (200, 2));
        assert_eq!((sink.stats().impossible, sink.heap_bytes()), (3, 0));
    }
}
