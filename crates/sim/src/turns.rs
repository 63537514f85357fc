//! [`Turns`]: when hosts that pace their packets send the next one, as leaves of the event queue.

use weft_units::Time;

use crate::event_queue::EventQueue;

/// A turn of a host's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// When it is due; [`Time::MAX`]: never.
    pub at: Time,
    /// Its rank among simultaneous events of the host.
    pub port: u32,
}

impl Turn {
    /// No turn.
    pub const NEVER: Self = Self { at: Time::MAX, port: 0 };
}

/// The next turn on each link of the partition's hosts, if they pace.
pub struct Turns {
    /// The leaf of turn 0.
    first: u32,
    turns: Vec<Turn>,
}

impl Turns {
    /// `count` turns, none of them due, whose leaves begin at `first` and are the last ones.
    pub fn new(first: u32, count: u32) -> Self {
        Self { first, turns: vec![Turn::NEVER; count as usize] }
    }

    /// The number of the turn with this leaf, if it is one.
    #[inline]
    pub const fn of_leaf(&self, leaf: u32) -> Option<u32> {
        leaf.checked_sub(self.first)
    }

    /// The turn with a number, if there is one.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Turn> {
        self.turns.get(number as usize)
    }

    /// Sets turn `number`.
    #[inline]
    pub fn set(&mut self, number: u32, turn: Turn, queue: &mut EventQueue) {
        self.turns[number as usize] = turn;
        queue.set(self.first + number, turn.port, turn.at);
    }

    /// Sets turn `number` if this one is earlier.
    #[inline]
    pub fn bring_forward(&mut self, number: u32, turn: Turn, queue: &mut EventQueue) {
        let current = &mut self.turns[number as usize];
        if turn.at < current.at {
            *current = turn;
            queue.bring_forward(self.first + number, turn.port, turn.at);
        }
    }

    /// The time of the first turn.
    pub fn first(&self) -> Time {
        self.turns.iter().map(|turn| turn.at).min().unwrap_or(Time::MAX)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>()
    }
}
