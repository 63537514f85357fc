//! [`Turns`]: when hosts that pace their packets send the next one.

use weft_units::Time;

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
    /// The leaf of turn 0 in the event queue.
    first: u32,
    /// The links, in order.
    links: Vec<u32>,
    turns: Vec<Turn>,
}

impl Turns {
    /// The turns on `links`, which are in order, none of them due. Their leaves begin at `first` and are the last ones.
    pub fn new(first: u32, links: Vec<u32>) -> Self {
        Self { first, turns: vec![Turn::NEVER; links.len()], links }
    }

    /// The number of turns.
    pub fn count(&self) -> usize {
        self.turns.len()
    }

    /// The links, in order of their turns.
    pub fn links(&self) -> impl Iterator<Item = u32> {
        self.links.iter().copied()
    }

    /// The link of a turn, if there is one.
    pub fn link(&self, number: u32) -> Option<u32> {
        self.links.get(number as usize).copied()
    }

    /// The number of the turn on a link. Those of a host follow each other.
    pub fn number(&self, link: u32) -> Option<u32> {
        self.links.binary_search(&link).ok().map(|number| number as u32)
    }

    /// The number of the turn with this leaf, if it is one.
    #[inline]
    pub const fn of_leaf(&self, leaf: u32) -> Option<u32> {
        leaf.checked_sub(self.first)
    }

    /// The leaf of a turn.
    #[inline]
    pub const fn leaf(&self, number: u32) -> u32 {
        self.first + number
    }

    /// The turn with a number, if there is one.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Turn> {
        self.turns.get(number as usize)
    }

    /// Sets turn `number`.
    #[inline]
    pub fn set(&mut self, number: u32, turn: Turn) {
        self.turns[number as usize] = turn;
    }

    /// The time of the first turn.
    pub fn first(&self) -> Time {
        self.turns.iter().map(|turn| turn.at).min().unwrap_or(Time::MAX)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.turns.capacity() * size_of::<Turn>() + self.links.capacity() * size_of::<u32>()
    }
}
