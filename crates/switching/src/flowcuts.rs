//! [`Flowcuts`]: the flowcut of each flow at the switch of its source, and [`Arrivals`], the last packet of each flow that
//! reached the switch of its destination.
//!
//! Packets on one path do not overtake each other: once the last packet of a flow has arrived, none is in flight, whether
//! or not earlier ones were lost. A table has a fixed number of entries at places given by the flow's hash.

use weft_units::{Duration, PortId, Time};

use crate::hash::pick;

/// The largest table.
pub(crate) const MOST_FLOWS: usize = 1 << 24;
/// Numbers of packets are from 1 to this, in turn.
const LAST_NUMBER: u32 = (1 << 24) - 1;

/// The place of a flow in a table with this many entries.
#[inline]
fn place(flow: u32, entries: usize) -> usize {
    // A multiplicative hash: the flow's own hash also chooses ports.
    pick(u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15), entries)
}

/// The path of a flowcut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FlowcutPath {
    /// The port of the first switch.
    pub(crate) port: PortId,
    /// Changes the hash by which later switches choose; 0: does not.
    pub(crate) cut: u16,
}

/// The entry of a flow.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// When its last packet left, in picoseconds plus one; 0: the entry was never used.
    last: u64,
    flow: u32,
    /// The number of the last packet. It keeps counting when another flow takes over the entry, so that an old
    /// acknowledgement fits no new packet.
    number: u32,
    course: FlowcutPath,
    /// The last packet is not acknowledged.
    is_open: bool,
    /// The place is in [`Flowcuts::used`].
    is_listed: bool,
}

/// Packed for zeroed memory that is not touched before its first use.
type Packed = [u64; 3];

impl Entry {
    #[inline]
    fn unpack([last, numbers, rest]: Packed) -> Self {
        Self {
            last,
            flow: (numbers >> 32) as u32,
            number: numbers as u32,
            course: FlowcutPath { port: PortId(rest as u16), cut: (rest >> 16) as u16 },
            is_open: rest >> 32 & 1 == 1,
            is_listed: rest >> 33 & 1 == 1,
        }
    }

    #[inline]
    fn pack(self) -> Packed {
        let flags = u64::from(self.is_open) << 32 | u64::from(self.is_listed) << 33;
        let rest = flags | u64::from(self.course.cut) << 16 | u64::from(self.course.port.0);
        [self.last, u64::from(self.flow) << 32 | u64::from(self.number), rest]
    }

    /// Whether packets may be in flight.
    #[inline]
    fn is_in_flight(&self, timeout: Duration, now: Time) -> bool {
        self.is_open && now.ps().saturating_sub(self.last - 1) < timeout.ps()
    }
}

/// The flowcuts that start at one switch.
pub(crate) struct Flowcuts {
    entries: Vec<Packed>,
    /// The places of all flowcuts in flight, and of some that have ended.
    used: Vec<u32>,
    timeout: Duration,
}

impl Flowcuts {
    /// A table of `size` entries (at least one). A packet that is not acknowledged for `timeout` is considered lost.
    pub(crate) fn new(size: usize, timeout: Duration) -> Self {
        Self { entries: vec![[0; 3]; size.max(1)], used: Vec::new(), timeout }
    }

    /// The course of a packet of `flow`, and its number; `None` if another flow in flight occupies the entry. The course
    /// leads over one of `ports`: that of the flow's packets in flight, `by_hash` if the flow had no entry and this is
    /// not its first packet, and otherwise the one that `choose` returns.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        flow: u32,
        is_first: bool,
        ports: &[PortId],
        now: Time,
        by_hash: FlowcutPath,
        choose: impl FnOnce() -> FlowcutPath,
    ) -> Option<(FlowcutPath, u32)> {
        let place = place(flow, self.entries.len());
        let mut entry = Entry::unpack(self.entries[place]);
        let is_in_flight = entry.is_in_flight(self.timeout, now);
        let is_known = entry.last > 0 && entry.flow == flow;
        if is_in_flight && !is_known {
            return None;
        }
        if !is_known && !is_first {
            // Its earlier packets may be in flight on the path that flows without an entry take.
            entry.course = by_hash;
        } else if !is_in_flight || !ports.contains(&entry.course.port) {
            entry.course = choose();
        }
        (entry.flow, entry.last, entry.is_open) = (flow, now.ps() + 1, true);
        entry.number = entry.number % LAST_NUMBER + 1;
        if !entry.is_listed {
            entry.is_listed = true;
            self.used.push(place as u32);
        }
        self.entries[place] = entry.pack();
        Some((entry.course, entry.number))
    }

    /// Whether no flow has used the entry of `flow`.
    #[inline]
    pub(crate) fn is_unused(&self, flow: u32) -> bool {
        Entry::unpack(self.entries[place(flow, self.entries.len())]).last == 0
    }

    /// The packet of `flow` with this number has arrived: if it is the last, the flowcut ends.
    #[inline]
    pub(crate) fn acknowledged(&mut self, flow: u32, number: u32) {
        let place = place(flow, self.entries.len());
        let mut entry = Entry::unpack(self.entries[place]);
        if entry.is_open && entry.flow == flow && entry.number == number {
            entry.is_open = false;
            self.entries[place] = entry.pack();
        }
    }

    /// Flows with packets in flight.
    pub(crate) fn len(&mut self, now: Time) -> usize {
        let (entries, timeout) = (&mut self.entries, self.timeout);
        self.used.retain(|place| {
            let mut entry = Entry::unpack(entries[*place as usize]);
            entry.is_listed = entry.is_in_flight(timeout, now);
            entries[*place as usize] = entry.pack();
            entry.is_listed
        });
        self.used.len()
    }
}

/// The packets that arrived last at one switch; a flow whose entry another one took is not acknowledged.
pub(crate) struct Arrivals {
    /// Flow and number.
    entries: Vec<u64>,
}

impl Arrivals {
    /// A table of `size` entries (at least one).
    pub(crate) fn new(size: usize) -> Self {
        Self { entries: vec![0; size.max(1)] }
    }

    /// A packet of `flow` with this number arrives.
    #[inline]
    pub(crate) fn arrived(&mut self, flow: u32, number: u32) {
        let place = place(flow, self.entries.len());
        self.entries[place] = u64::from(flow) << 32 | u64::from(number);
    }

    /// The number of the last packet of `flow`; 0 if unknown.
    #[inline]
    pub(crate) fn last(&self, flow: u32) -> u32 {
        let entry = self.entries[place(flow, self.entries.len())];
        if (entry >> 32) as u32 == flow { entry as u32 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_ms(100);
    const BY_HASH: FlowcutPath = FlowcutPath { port: PortId(0), cut: 0 };

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// The port of a packet, which is the first of its flow if `is_first`, and its number. A new flowcut takes `free`.
    fn sent(flowcuts: &mut Flowcuts, flow: u32, is_first: bool, ms: u64, free: u16) -> Option<(u16, u32)> {
        let ports = [0, 1, 2].map(PortId);
        let new = FlowcutPath { port: PortId(free), cut: 7 };
        let found = flowcuts.follow(flow, is_first, &ports, at(ms), BY_HASH, || new);
        found.map(|(course, number)| (course.port.0, number))
    }

    #[test]
    fn a_flow_changes_its_port_only_when_its_last_packet_has_arrived_or_timed_out() {
        let mut flowcuts = Flowcuts::new(16, TIMEOUT);
        assert_eq!(sent(&mut flowcuts, 7, true, 0, 1), Some((1, 1)));
        assert_eq!(sent(&mut flowcuts, 7, false, 1, 2), Some((1, 2)));
        flowcuts.acknowledged(7, 1);
        assert_eq!(sent(&mut flowcuts, 7, false, 2, 2), Some((1, 3)), "packet 2 is in flight");
        flowcuts.acknowledged(7, 3);
        assert_eq!(flowcuts.len(at(2)), 0);
        assert_eq!(sent(&mut flowcuts, 7, false, 3, 2), Some((2, 4)), "whether packet 2 was lost or not");
        assert_eq!((flowcuts.len(at(102)), flowcuts.len(at(103))), (1, 0));
        assert_eq!(sent(&mut flowcuts, 7, false, 102, 1), Some((2, 5)));
        assert_eq!(sent(&mut flowcuts, 7, false, 202, 1), Some((1, 6)), "considered lost");
    }

    #[test]
    fn a_flow_that_gets_an_entry_late_stays_on_its_path_by_hash_until_nothing_is_in_flight() {
        let mut flowcuts = Flowcuts::new(1, TIMEOUT);
        assert_eq!(sent(&mut flowcuts, 7, true, 0, 1), Some((1, 1)));
        assert_eq!(sent(&mut flowcuts, 8, true, 0, 2), None, "occupied");
        flowcuts.acknowledged(7, 1);
        assert_eq!(sent(&mut flowcuts, 8, false, 1, 2), Some((0, 2)));
        flowcuts.acknowledged(7, 2);
        flowcuts.acknowledged(8, 1);
        assert_eq!(sent(&mut flowcuts, 8, false, 2, 2), Some((0, 3)), "neither was its last packet");
        flowcuts.acknowledged(8, 3);
        assert_eq!(sent(&mut flowcuts, 8, false, 3, 2), Some((2, 4)));
    }

    #[test]
    fn the_last_arrival_of_a_flow_is_known_until_another_flow_takes_its_entry() {
        let mut arrivals = Arrivals::new(1);
        assert_eq!(arrivals.last(7), 0);
        arrivals.arrived(7, 5);
        assert_eq!((arrivals.last(7), arrivals.last(8)), (5, 0));
        arrivals.arrived(8, 1);
        assert_eq!((arrivals.last(7), arrivals.last(8)), (0, 1));
    }
}
