//! [`Delays`]: the one-way delays of the packets of a flow that arrived, summed as ns-3's FlowMonitor does (Carneiro,
//! Fortuna and Ricardo, "FlowMonitor", NSTools 2009): every packet of the flow's direction counts, retransmissions and
//! handshake included, from being handed to the source's interface to its arrival at the destination.

use weft_units::Duration;

/// No packet has arrived yet.
const NONE: u64 = u64::MAX;

/// The delay of the connection's or subflow's packet that arrived last.
#[derive(Clone, Copy, Debug)]
pub struct Last(u64);

impl Default for Last {
    fn default() -> Self {
        Self(NONE)
    }
}

/// Sums over packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delays {
    sum: u64,
    /// The sum of the differences, without sign, between the delays of consecutive packets.
    variation: u64,
    packets: u32,
    differences: u32,
}

impl Delays {
    /// Counts a packet that took `delay`; `last` belongs to its subflow.
    #[inline(always)]
    pub fn count(&mut self, delay: Duration, last: &mut Last) {
        let before = std::mem::replace(last, Last(delay.ps())).0;
        self.sum += delay.ps();
        self.packets += 1;
        if before != NONE {
            self.variation += delay.ps().abs_diff(before);
            self.differences += 1;
        }
    }

    /// The mean delay, to the nearest picosecond, if a packet has arrived.
    pub fn mean(&self) -> Option<Duration> {
        mean(self.sum, self.packets)
    }

    /// The mean difference, without sign, between the delays of consecutive packets of a subflow, if two packets have
    /// arrived.
    pub fn jitter(&self) -> Option<Duration> {
        mean(self.variation, self.differences)
    }
}

fn mean(sum: u64, count: u32) -> Option<Duration> {
    let count = u64::from(count);
    (count > 0).then(|| Duration::from_ps(sum.saturating_add(count / 2) / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean and the jitter of these delays; a subflow per list.
    fn of(subflows: &[&[u64]]) -> (Option<u64>, Option<u64>) {
        let mut delays = Delays::default();
        for subflow in subflows {
            let mut last = Last::default();
            subflow.iter().for_each(|delay| delays.count(Duration::from_ps(*delay), &mut last));
        }
        (delays.mean().map(Duration::ps), delays.jitter().map(Duration::ps))
    }

    #[test]
    fn jitter_is_the_mean_change_from_one_packet_to_the_next_of_the_same_subflow() {
        for (subflows, mean, jitter) in [
            (&[][..], None, None),
            (&[&[7][..]], Some(7), None),
            (&[&[7, 7, 7]], Some(7), Some(0)),
            (&[&[10, 40, 20]], Some(23), Some(25)),
            (&[&[1, 2]], Some(2), Some(1)),
            (&[&[10, 20], &[100, 140]], Some(68), Some(25)),
            (&[&[10], &[100]], Some(55), None),
        ] {
            assert_eq!(of(subflows), (mean, jitter), "{subflows:?}");
        }
    }
}
