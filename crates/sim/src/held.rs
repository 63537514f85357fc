//! [`Held`]: the frames that the switches of one partition hold. They stay in the slab, and so count as in flight, and take
//! up space in buffers and accounts of flow control.

use weft_switching::Actions;

/// The frames by switch and slot.
pub struct Held<F> {
    switches: Vec<Vec<Option<F>>>,
}

impl<F> Default for Held<F> {
    fn default() -> Self {
        Self { switches: Vec::new() }
    }
}

impl<F> Held<F> {
    /// Puts a frame into a slot; returns the frame that then has none: the one before it, or, without such a slot,
    /// itself.
    pub fn put(&mut self, switch: usize, slot: u32, frame: F) -> Option<F> {
        if slot >= Actions::SLOTS {
            return Some(frame);
        }
        let slot = slot as usize;
        if self.switches.len() <= switch {
            self.switches.resize_with(switch + 1, Vec::new);
        }
        let slots = &mut self.switches[switch];
        if slots.len() <= slot {
            slots.resize_with(slot + 1, || None);
        }
        slots[slot].replace(frame)
    }

    /// Takes the frame out of a slot, if there is one.
    pub fn take(&mut self, switch: usize, slot: u32) -> Option<F> {
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
