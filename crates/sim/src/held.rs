//! [`Held`]: the frames that the switches of one partition hold. They stay in the slab, and so count as in flight.

use weft_switching::Actions;

use crate::packet::PacketId;

/// The frames by switch and slot.
#[derive(Default)]
pub struct Held {
    switches: Vec<Vec<Option<PacketId>>>,
}

impl Held {
    /// Puts a packet into a slot; returns the packet that then has none: the one before it, or, without such a slot,
    /// itself.
    pub fn put(&mut self, switch: usize, slot: u32, packet: PacketId) -> Option<PacketId> {
        if slot >= Actions::SLOTS {
            return Some(packet);
        }
        let slot = slot as usize;
        if self.switches.len() <= switch {
            self.switches.resize_with(switch + 1, Vec::new);
        }
        let slots = &mut self.switches[switch];
        if slots.len() <= slot {
            slots.resize(slot + 1, None);
        }
        slots[slot].replace(packet)
    }

    /// Takes the packet out of a slot, if there is one.
    pub fn take(&mut self, switch: usize, slot: u32) -> Option<PacketId> {
        self.switches.get_mut(switch)?.get_mut(slot as usize)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_packet_and_the_slots_are_limited() {
        let mut held = Held::default();
        assert_eq!(held.take(3, 7), None);
        assert_eq!([held.put(3, 7, 10), held.put(3, 7, 11), held.put(1, 7, 12)], [None, Some(10), None]);
        assert_eq!([held.take(3, 7), held.take(3, 7), held.take(1, 7)], [Some(11), None, Some(12)]);
        assert_eq!(held.put(0, Actions::SLOTS - 1, 13), None);
        assert_eq!(held.put(0, Actions::SLOTS, 14), Some(14));
    }
}
