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
pub(crate) const MOST_FLOWLETS: u64 = 1 << 24;

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
        let leads_on = |port: &PortId| ports.contains(port);
        let known = self.port(flow, now).filter(leads_on);
        let port = known.unwrap_or_else(|| choose(self.last_port(flow).filter(leads_on)));
        self.keep(flow, port, now);
        port
    }

    /// The port of the flowlet that the next packet of `flow` continues; `None` if it starts one.
    #[inline]
    fn port(&self, flow: u32, now: Time) -> Option<PortId> {
        let [last, port] = self.entries[self.place(flow)];
        let is_recent = last > 0 && now.ps().saturating_sub(last - 1) < self.gap.ps();
        is_recent.then_some(PortId(port as u16))
    }

    /// The port of the last packet in the entry of `flow`, however long ago.
    fn last_port(&self, flow: u32) -> Option<PortId> {
        let [last, port] = self.entries[self.place(flow)];
        (last > 0).then_some(PortId(port as u16))
    }

    /// A packet of `flow` leaves by `port`.
    #[inline]
    fn keep(&mut self, flow: u32, port: PortId, now: Time) {
        let place = self.place(flow);
        if self.entries[place][1] & LISTED == 0 {
            self.used.push(place as u32);
        }
        self.entries[place] = [now.ps() + 1, LISTED | u64::from(port.0)];
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

    #[test]
    fn a_flowlet_lasts_until_a_pause_of_the_gap() {
        let mut flowlets = Flowlets::new(64, GAP);
        assert_eq!(flowlets.port(7, at(0)), None);
        flowlets.keep(7, PortId(3), at(0));
        for (us, port) in [(499, Some(PortId(3))), (500, None)] {
            assert_eq!(flowlets.port(7, at(us)), port, "{us} us");
        }
        flowlets.keep(7, PortId(3), at(499));
        assert_eq!(flowlets.port(7, at(998)), Some(PortId(3)));
        assert_eq!((flowlets.len(at(998)), flowlets.len(at(999))), (1, 0));
        flowlets.keep(7, PortId(3), at(2_000));
        flowlets.keep(7, PortId(3), at(2_001));
        assert_eq!(flowlets.len(at(2_001)), 1, "counted once");
    }

    #[test]
    fn flows_with_one_entry_share_a_port_until_both_pause() {
        let mut flowlets = Flowlets::new(1, GAP);
        flowlets.keep(7, PortId(3), at(0));
        assert_eq!(flowlets.port(8, at(400)), Some(PortId(3)));
        flowlets.keep(8, PortId(3), at(400));
        assert_eq!((flowlets.port(7, at(899)), flowlets.port(7, at(900))), (Some(PortId(3)), None));
        assert_eq!(flowlets.last_port(7), Some(PortId(3)));
    }
}
