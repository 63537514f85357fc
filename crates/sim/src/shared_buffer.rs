//! [`Buffer`]: the memory that the queues of a switch share, with dynamic thresholds (Choudhury and Hahne, IEEE/ACM
//! Transactions on Networking 6(2), 1998).

use weft_fabric::{Fabric, HYSTERESIS};
use weft_units::NodeId;

/// The bytes at which a queue resumes while a buffer's threshold is this.
pub const fn moving_xon(threshold: u64) -> u64 {
    threshold.saturating_sub(HYSTERESIS)
}

/// The buffer of one switch.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Bytes that queues share.
    shared: u64,
    /// Bytes set aside for packets that arrive after a pause.
    headroom: u64,
    alpha: f64,
    used: u64,
}

impl Buffer {
    /// The buffer of `node`; `None` if its queues share none.
    pub fn new(fabric: &Fabric, node: NodeId) -> Option<Self> {
        let buffer = fabric.buffer().filter(|_| !fabric.node(node).is_host())?;
        let into = fabric.ports(node).iter().map(|link| link.reverse());
        let headroom = into.filter_map(|link| {
            let queue = &fabric.link(link).queue;
            let thresholds = fabric.thresholds(link).filter(|found| found.xoff.is_none())?;
            Some(thresholds.headroom * queue.pfc?.count(queue.classes.len()))
        });
        let shared = buffer.bytes.0.saturating_sub(fabric.reserved(node));
        Some(Self { shared, headroom: headroom.sum(), alpha: buffer.alpha, used: 0 })
    }

    /// An empty buffer of this many bytes, without headroom.
    #[cfg(test)]
    pub const fn of(shared: u64, alpha: f64) -> Self {
        Self { shared, headroom: 0, alpha, used: 0 }
    }

    /// How long a queue may grow now.
    pub fn threshold(&self) -> u64 {
        self.threshold_with(self.used)
    }

    /// How long a queue might grow if these bytes were in the buffer and no others.
    pub fn threshold_with(&self, bytes: u64) -> u64 {
        (self.shared.saturating_sub(bytes) as f64 * self.alpha) as u64
    }

    /// Whether a packet fits a queue of this length.
    pub fn fits(&self, queue: u64, wire_bytes: u32) -> bool {
        queue + u64::from(wire_bytes) <= self.threshold()
    }

    /// Whether a packet of a lossless queue fits, which may use the headroom.
    pub fn fits_lossless(&self, wire_bytes: u32) -> bool {
        self.used + u64::from(wire_bytes) <= self.shared + self.headroom
    }

    /// A packet takes space.
    pub fn take(&mut self, wire_bytes: u32) {
        self.used += u64::from(wire_bytes);
    }

    /// A packet returns it.
    pub fn give(&mut self, wire_bytes: u32) {
        self.used -= u64::from(wire_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_that_want_all_get_the_share_of_the_closed_form() {
        for (alpha, queues) in [(0.5, 1_usize), (1.0, 1), (8.0, 1), (1.0, 3), (2.0, 5), (0.125, 4)] {
            let mut buffer = Buffer::of(9_000_000, alpha);
            let mut lengths = vec![0; queues];
            loop {
                let before = buffer.used;
                for length in &mut lengths {
                    if buffer.fits(*length, 100) {
                        buffer.take(100);
                        *length += 100;
                    }
                }
                if buffer.used == before {
                    break;
                }
            }
            // Choudhury and Hahne, equation 2: with n active queues, each gets alpha / (1 + n alpha) of the buffer.
            let expected = alpha / (1.0 + queues as f64 * alpha) * 9e6;
            for length in lengths {
                assert!(
                    (length as f64 - expected).abs() <= 200.0 + 100.0 * alpha,
                    "{alpha}, {queues}: {length}"
                );
            }
        }
    }
}
