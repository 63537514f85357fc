//! Which TCP ports a flow uses. Source ports are a random order of the ephemeral range of Linux, used
//! up before the destination port moves on, so no two flows of a run share both, whatever their hosts.

use rand_core::RngCore;

use crate::random::shuffle;

/// The ephemeral ports of Linux (net.ipv4.ip_local_port_range): 32768 to 60999.
const EPHEMERAL: std::ops::Range<u16> = 32_768..61_000;
/// The first destination port, iperf's.
const FIRST_LISTENING: u16 = 5_001;

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

    /// Source and destination port of the `index`-th flow.
    pub(crate) fn of(&self, index: usize) -> (u16, u16) {
        let round = (index / self.order.len()) as u16;
        (self.order[index % self.order.len()], FIRST_LISTENING.wrapping_add(round))
    }
}
