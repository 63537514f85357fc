//! The TCP ports of flows. Source ports are a random order of Linux's ephemeral range, which is used
//! up before the destination port is incremented, so flows share both ports only after all destination
//! ports are used.

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
    pub(crate) fn within(first: u16, last: u16, index: usize) -> (u16, u16) {
        let count = usize::from(last.saturating_sub(first)) + 1;
        (first + (index % count) as u16, listening(index / count))
    }

    /// Source and destination port of the `index`-th flow.
    pub(crate) fn of(&self, index: usize) -> (u16, u16) {
        (self.order[index % self.order.len()], listening(index / self.order.len()))
    }
}

/// The destination port after `round` increments; after the last port follows the first again, never 0.
fn listening(round: usize) -> u16 {
    FIRST_LISTENING + (round % usize::from(u16::MAX - FIRST_LISTENING + 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destination_ports_start_again_after_the_last() {
        let only = |index| Ports::within(3_500, 3_500, index);
        assert_eq!([0, 60_534, 60_535].map(only), [(3_500, 5_001), (3_500, 65_535), (3_500, 5_001)]);
    }
}
