//! [`Flowlets`]: the port of each flow's last packet, while that packet is recent.
//!
//! A flow's packets that follow a pause longer than the difference in delay between paths can take another path without
//! overtaking the earlier ones; the packets between two pauses are a flowlet (Sinha et al., "Harnessing TCP's
//! burstiness with flowlet switching", HotNets 2004). As in switches, the table has a fixed number of entries at places
//! given by the flow's hash, and an entry does not name its flow: flows with one entry share a port until a pause of both.

use weft_units::{Duration, PortId, Time};

use crate::hash::pick;

/// Packed for zeroed memory that is not touched before its first use: the time of the last packet in picoseconds plus
/// one, and its port with [`LISTED`] if the place is in [`Flowlets::used`].
type Entry = [u64; 2];

/// Beyond the bits of a port.
const LISTED: u64 = 1 << 16;

/// The largest table.
pub(crate) const MOST_FLOWLETS: usize = 1 << 24;

/// The table of one switch.
pub(crate) struct Flowlets {
    entries: Vec<Entry>,
    /// The places of all flowlets that have not ended, and of some that have.
    used: Vec<u32>,
    gap: Duration,
}

impl Flowlets {
    /// A table of `size` entries (at least one) for flowlets that end with a pause of `gap`.
    pub(crate) fn new(size: usize, gap: Duration) -> Self {
        Self { entries: vec![[0; 2]; size.max(1)], used: Vec::new(), gap }
    }

    #[inline]
    fn place(&self, flow: u32) -> usize {
        // A multiplicative hash: the flow's own hash also chooses ports.
        pick(u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15), self.entries.len())
    }

    /// The port for a packet of `flow`, one of `ports`: that of the flowlet which it continues, or the one that `choose`
    /// returns, given the port of the last packet in the entry, however long ago. Routes may have changed since.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        flow: u32,
        ports: &[PortId],
        now: Time,
        choose: impl FnOnce(Option<PortId>) -> PortId,
    ) -> PortId {
        let place = self.place(flow);
        let entry = &mut self.entries[place];
        let [last, kept] = *entry;
        let before = Some(PortId(kept as u16)).filter(|port| last > 0 && ports.contains(port));
        let is_recent = now.ps().saturating_sub(last.saturating_sub(1)) < self.gap.ps();
        let port = match before.filter(|_| is_recent) {
            Some(port) => port,
            None => choose(before),
        };
        *entry = [now.ps() + 1, LISTED | u64::from(port.0)];
        if kept & LISTED == 0 {
            self.used.push(place as u32);
        }
        port
    }

    /// Flowlets that have not ended.
    pub(crate) fn len(&mut self, now: Time) -> usize {
        let (entries, gap) = (&mut self.entries, self.gap);
        self.used.retain(|place| {
            let [last, port] = &mut entries[*place as usize];
            let lasts = now.ps().saturating_sub(*last - 1) < gap.ps();
            *port = if lasts { *port } else { *port & !LISTED };
            lasts
        });
        self.used.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_us(500);

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// The port of a packet of `flow`, and the one that was offered for a choice: `Some` if it starts a flowlet.
    fn sent(flowlets: &mut Flowlets, flow: u32, us: u64, choice: u16) -> (u16, Option<Option<PortId>>) {
        let mut offered = None;
        let ports = [1, 2, 3].map(PortId);
        let port = flowlets.follow(flow, &ports, at(us), |last| {
            offered = Some(last);
            PortId(choice)
        });
        (port.0, offered)
    }

    #[test]
    fn a_flowlet_lasts_until_a_pause_of_the_gap() {
        let mut flowlets = Flowlets::new(64, GAP);
        let last = |port| Some(Some(PortId(port)));
        for (us, choice, expected) in [
            (0, 3, (3, Some(None))),
            (499, 1, (3, None)),
            (998, 1, (3, None)),
            (1_498, 2, (2, last(3))),
            (1_498, 1, (2, None)),
            (9_000, 2, (2, last(2))),
        ] {
            assert_eq!(sent(&mut flowlets, 7, us, choice), expected, "{us} us");
        }
        assert_eq!((flowlets.len(at(9_499)), flowlets.len(at(9_500))), (1, 0));
        sent(&mut flowlets, 7, 10_000, 1);
        sent(&mut flowlets, 7, 10_001, 1);
        assert_eq!(flowlets.len(at(10_001)), 1, "counted once");
    }

    #[test]
    fn a_flowlet_leaves_a_port_that_leads_there_no_longer() {
        let mut flowlets = Flowlets::new(64, GAP);
        sent(&mut flowlets, 7, 0, 3);
        let mut offered = Some(PortId(9));
        let port = flowlets.follow(7, &[PortId(1), PortId(2)], at(1), |last| {
            offered = last;
            PortId(2)
        });
        assert_eq!((port, offered), (PortId(2), None));
    }

    #[test]
    fn flows_with_one_entry_share_a_port_until_both_pause() {
        let mut flowlets = Flowlets::new(1, GAP);
        assert_eq!(sent(&mut flowlets, 7, 0, 3), (3, Some(None)));
        assert_eq!(sent(&mut flowlets, 8, 400, 1), (3, None));
        assert_eq!(sent(&mut flowlets, 7, 899, 1), (3, None));
        assert_eq!(sent(&mut flowlets, 8, 1_399, 1), (1, Some(Some(PortId(3)))));
    }
}
