//! [`PortLimit`]: limits the packet-in rate of each port.

use rustc_hash::FxHashMap;

use crate::clock::{Duration, Time};
use crate::ids::SwitchPort;

/// Maximum number of counted ports; at this number all counts restart.
const PORTS: usize = 65_536;

/// Packet-ins of each port in the current second.
#[derive(Debug)]
pub struct PortLimit {
    most: u64,
    second: u64,
    counts: FxHashMap<SwitchPort, u64>,
}

impl PortLimit {
    /// `most` packets per second and port.
    pub fn new(most: u64) -> Self {
        Self { most, second: 0, counts: FxHashMap::default() }
    }

    /// Counts a packet of a port; returns whether it is within the limit.
    pub fn admit(&mut self, now: Time, at: SwitchPort) -> bool {
        let second = now.ns() / Duration::from_secs(1).ns();
        if second != self.second || self.counts.len() >= PORTS {
            self.second = second;
            self.counts.clear();
        }
        let count = self.counts.entry(at).or_insert(0);
        *count += 1;
        *count <= self.most
    }
}
