//! The TCP ports of flows. Source ports are a random order of Linux's ephemeral range, which is used
//! up before the destination port is incremented, so no two flows of a run share both ports.

use rand_core::RngCore;

use crate::random::shuffle;

/// The source ports of flows: the ephemeral ports of Linux (net.ipv4.ip_local_port_range): 32768 to 60999.
pub const EPHEMERAL: std::ops::Range<u16> = 32_768..61_000;
/// The first destination port of flows, iperf's.
pub const FIRST_LISTENING: u16 = 5_001;

#[derive(Debug)]
pub(crate) struct Ports {
    order: Vec<u16>,
}

impl Ports {
    pub(crate) fn new(rng: &mut impl RngCore) -> Self {
        let mut order: Vec<u16> = EPHEMERAL.collect();
        shuffle(rng, &mut order);
        Self { order }
    }

    /// Source and destination port of the `index`-th flow with source ports `first` to `last`: source ports
    /// are used in order, all before the destination port is incremented.
    pub(crate) fn within((first, last): (u16, u16), index: usize) -> (u16, u16) {
        let count = usize::from(last.saturating_sub(first)) + 1;
        (first + (index % count) as u16, FIRST_LISTENING.wrapping_add((index / count) as u16))
    }

    /// Source and destination port of the `index`-th flow.
    pub(crate) fn of(&self, index: usize) -> (u16, u16) {
        let round = (index / self.order.len()) as u16;
        (self.order[index % self.order.len()], FIRST_LISTENING.wrapping_add(round))
    }
}
