//! [`Label`], which replaces a frame's destination address between two edge switches.
//!
//! `06:57`, then 10 bits for the switch at the path's end, 11 for the path among those that end there, 11 for
//! the station at that switch. Transit switches match the first two parts of the 32 bits, the last switch the
//! first and third. So a station needs one rule at its switch for all paths that end there, and a path needs
//! one rule per switch for all stations.

use std::collections::VecDeque;

use weft_wire::Mac;

use crate::rule::Match;

const PREFIX: u64 = 0x0657 << 32;
const PREFIX_MASK: u64 = 0xffff << 32;
const PATH_BITS: u32 = 11;
const STATION_BITS: u32 = 11;

/// The number of switches that labels can distinguish.
pub(crate) const MAX_SWITCHES: u32 = 1 << 10;
/// Maximum number of paths that end at one switch.
pub(crate) const MAX_PATHS: u32 = 1 << PATH_BITS;
/// Maximum number of stations of one switch; 0 means no station.
pub(crate) const MAX_STATIONS: u32 = (1 << STATION_BITS) - 1;

/// The path part of a label: the switch at its end, and the path's number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    /// The number of the switch, below 1024.
    pub end: u32,
    /// The number of the path, below [`MAX_PATHS`].
    pub path: u32,
}

impl Label {
    /// Both numbers combined into 21 bits.
    pub const fn bits(self) -> u32 {
        self.end << PATH_BITS | self.path
    }

    /// The destination address of a frame to a station.
    pub const fn to(self, station: u32) -> Mac {
        Mac::from_bits(PREFIX | (self.bits() as u64) << STATION_BITS | station as u64)
    }

    /// Matches this path's frames to any station.
    pub const fn on_path(self) -> Match {
        let mask = PREFIX_MASK | (u32::MAX as u64 >> STATION_BITS << STATION_BITS);
        Match { eth_dst: Some((self.to(0), Mac::from_bits(mask))), ..Match::ALL }
    }

    /// Matches frames to a station of the switch `end` on any path.
    pub const fn at_end(end: u32, station: u32) -> Match {
        let mask = PREFIX_MASK | (0xffc0_0000 | MAX_STATIONS) as u64;
        Match { eth_dst: Some((Self { end, path: 0 }.to(station), Mac::from_bits(mask))), ..Match::ALL }
    }

    /// Matches frames with any label.
    pub const fn any() -> Match {
        Match { eth_dst: Some((Mac::from_bits(PREFIX), Mac::from_bits(PREFIX_MASK))), ..Match::ALL }
    }

    /// Decodes a label address: the path part and the station's number.
    pub const fn of(mac: Mac) -> Option<(Self, u32)> {
        if !Self::is_label(mac) {
            return None;
        }
        let low = mac.bits() as u32;
        let (bits, station) = (low >> STATION_BITS, low & MAX_STATIONS);
        Some((Self { end: bits >> PATH_BITS, path: bits & (MAX_PATHS - 1) }, station))
    }

    /// The label of a match built by [`Label::on_path`]; `None` for others.
    pub fn of_path(matches: &Match) -> Option<Self> {
        let (label, _) = Self::of(matches.eth_dst?.0)?;
        (*matches == label.on_path()).then_some(label)
    }

    /// The switch and station numbers of a match built by [`Label::at_end`]; `None` for others.
    pub fn of_end(matches: &Match) -> Option<(u32, u32)> {
        let (label, station) = Self::of(matches.eth_dst?.0)?;
        (*matches == Self::at_end(label.end, station)).then_some((label.end, station))
    }

    /// Whether an address is a label; stations must not use such addresses.
    pub const fn is_label(mac: Mac) -> bool {
        mac.bits() & PREFIX_MASK == PREFIX
    }
}

/// Numbers from `first` up. A returned number is reused as late as possible, so that frames in flight with it do not
/// reach another host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    given: u32,
    free: VecDeque<u32>,
}

impl Numbers {
    /// The next number of `first` to `last`; `None` if all are in use.
    pub fn take(&mut self, first: u32, last: u32) -> Option<u32> {
        if first + self.given <= last {
            self.given += 1;
            return Some(first + self.given - 1);
        }
        self.free.pop_front()
    }

    /// Takes a given number, counted from `first`; `false` if it is in use.
    pub fn claim(&mut self, first: u32, number: u32) -> bool {
        while first + self.given <= number {
            self.free.push_back(first + self.given);
            self.given += 1;
        }
        let place = self.free.iter().position(|&free| free == number);
        place.is_some_and(|place| self.free.remove(place).is_some())
    }

    /// Returns a number.
    pub fn give_back(&mut self, number: u32) {
        self.free.push_back(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::EXACT;

    fn matches(rule: Match, mac: Mac) -> bool {
        let (value, mask) = rule.eth_dst.unwrap();
        mac.bits() & mask.bits() == value.bits()
    }

    #[test]
    fn switches_on_the_way_and_the_last_one_look_at_different_parts() {
        let label = Label { end: 1023, path: 2047 };
        let frame = label.to(2046);
        assert_eq!(frame, Mac([0x06, 0x57, 0xff, 0xff, 0xff, 0xfe]));
        assert!(matches(label.on_path(), frame) && matches(label.on_path(), label.to(1)));
        assert!(!matches(label.on_path(), Label { end: 1023, path: 2046 }.to(2046)));
        assert!(matches(Label::at_end(1023, 2046), Label { end: 1023, path: 5 }.to(2046)));
        assert!(!matches(Label::at_end(1023, 2046), label.to(2045)));
        assert!(!matches(Label::at_end(1022, 2046), frame));
        assert!(matches(Label::any(), frame) && Label::is_label(frame));
        assert!(!Label::is_label(Mac([0x06, 0x58, 0, 0, 0, 0])));
        assert_eq!(Label::of(frame), Some((label, 2046)));
        assert_eq!((Label::of_path(&label.on_path()), Label::of_end(&label.on_path())), (Some(label), None));
        let end = Label::at_end(1023, 2046);
        assert_eq!((Label::of_path(&end), Label::of_end(&end)), (None, Some((1023, 2046))));
        assert_eq!((Label::of_path(&Match::ALL), Label::of_end(&Match::to(frame))), (None, None));
        assert_eq!(Match::to(frame).eth_dst, Some((frame, EXACT)));
    }

    #[test]
    fn a_number_is_used_again_as_late_as_possible() {
        let mut numbers = Numbers::default();
        assert_eq!([1, 2, 3].map(|_| numbers.take(1, 4)), [Some(1), Some(2), Some(3)]);
        numbers.give_back(2);
        numbers.give_back(1);
        let rest: Vec<_> = (0..4).map(|_| numbers.take(1, 4)).collect();
        assert_eq!(rest, [Some(4), Some(2), Some(1), None]);
        let mut numbers = Numbers::default();
        assert_eq!([numbers.claim(1, 3), numbers.claim(1, 3), numbers.claim(1, 1)], [true, false, true]);
        assert_eq!([(); 3].map(|()| numbers.take(1, 4)), [Some(4), Some(2), None]);
    }
}
