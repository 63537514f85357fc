//! [`PortLimit`]: no port sends up more than its share.

use rustc_hash::FxHashMap;

use crate::clock::{Duration, Time};
use crate::ids::SwitchPort;

/// Ports whose packets are counted; beyond it all are counted anew.
const PORTS: usize = 65_536;

/// The packets that each port has sent up in this second.
#[derive(Debug)]
pub struct PortLimit {
    most: u64,
    second: u64,
    counts: FxHashMap<SwitchPort, u64>,
}

impl PortLimit {
    /// `most` packets a second and port.
    pub fn new(most: u64) -> Self {
        Self { most, second: 0, counts: FxHashMap::default() }
    }

    /// Whether a port may send up another one now, which is counted.
    pub fn may(&mut self, now: Time, at: SwitchPort) -> bool {
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
