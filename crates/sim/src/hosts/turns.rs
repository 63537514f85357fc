//! [`Turns`]: which ends wait for their host's link. A link that is free serves them in turn, one packet each: a packet
//! is made only when it can leave, and answers wait for one packet at most.

use std::collections::{HashMap, VecDeque};

/// The ends that wait for one link.
pub struct Turn {
    /// The link.
    pub nic: u32,
    /// The places of the ends; the first one is next.
    pub waiting: VecDeque<u32>,
    /// The end with an event at the time when the link is free.
    pub holder: Option<u32>,
}

impl Turn {
    /// An end will never send again. Returns whether another one needs an event instead of it.
    pub fn remove(&mut self, place: u32) -> bool {
        self.waiting.retain(|waiting| *waiting != place);
        let was_holder = self.holder == Some(place);
        if was_holder {
            self.holder = None;
        }
        was_holder && !self.waiting.is_empty()
    }
}

/// All links of a partition's hosts.
#[derive(Default)]
pub struct Turns {
    turns: Vec<Turn>,
    by_nic: HashMap<u32, u32>,
}

impl Turns {
    /// The number of the turns of `nic`.
    pub fn of(&mut self, nic: u32) -> u32 {
        let turns = &mut self.turns;
        *self.by_nic.entry(nic).or_insert_with(|| {
            turns.push(Turn { nic, waiting: VecDeque::new(), holder: None });
            turns.len() as u32 - 1
        })
    }

    /// The turns with a number that [`Turns::of`] returned.
    #[inline]
    pub fn at(&mut self, number: u32) -> &mut Turn {
        &mut self.turns[number as usize]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let waiting: usize = self.turns.iter().map(|turn| turn.waiting.capacity() * size_of::<u32>()).sum();
        waiting + self.turns.capacity() * size_of::<Turn>() + self.by_nic.capacity() * size_of::<(u32, u32)>()
    }
}
