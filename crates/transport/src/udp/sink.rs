//! [`Sink`]: counts the datagrams of a flow that arrive.

use crate::arrivals::Arrivals;
use crate::endpoint::Stats;

use super::source::Datagram;

/// The receiving side of a flow.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    arrivals: Arrivals,
    /// One more than the highest number that has arrived.
    end: u32,
    bytes: u64,
    stats: Stats,
}

impl Sink {
    /// A datagram arrives. Copies do not count.
    pub fn receive(&mut self, datagram: Datagram, is_marked: bool) {
        if !self.arrivals.insert(datagram.number) {
            return;
        }
        self.bytes += u64::from(datagram.payload);
        self.stats.first_transmissions_received += 1;
        self.stats.out_of_order += u32::from(datagram.number < self.end);
        self.stats.ecn_marks += u32::from(is_marked);
        self.end = self.end.max(datagram.number + 1);
    }

    /// Bytes of payload that have arrived.
    pub fn delivered(&self) -> u64 {
        self.bytes
    }

    /// Its counts.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.arrivals.heap_bytes()
    }
}
