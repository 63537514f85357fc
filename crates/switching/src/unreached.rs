//! [`Unreached`]: an announcement of the stations that a switch does not reach.

use weft_wire::{Mac, MacRange, Reach};

/// The most announcements in which a switch says what it does not reach.
pub const MOST_PARTS: usize = 32;

/// Of the stations from `first` to `last`, those in `ranges` are not reached. Owns what [`Reach`] borrows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreached {
    first: Mac,
    last: Mac,
    ranges: Vec<MacRange>,
}

impl From<Reach<'_>> for Unreached {
    fn from(reach: Reach<'_>) -> Self {
        Self { first: reach.first, last: reach.last, ranges: reach.unreached.to_vec() }
    }
}

impl Unreached {
    /// The announcements of a switch about all stations: `stations` are those that it has a route to, ascending, with whether
    /// it reaches them. What does not fit is not reached.
    pub(crate) fn all(stations: impl IntoIterator<Item = (Mac, bool)>) -> Vec<Self> {
        let mut ranges: Vec<MacRange> = Vec::new();
        let mut was_reached = true;
        for (station, is_reached) in stations {
            match ranges.last_mut() {
                Some([_, last]) if !is_reached && !was_reached => *last = station.0,
                _ if !is_reached => ranges.push([station.0; 2]),
                _ => {}
            }
            was_reached = is_reached;
        }
        if ranges.len() > MOST_PARTS * Reach::MOST {
            ranges.truncate(MOST_PARTS * Reach::MOST);
            if let Some([_, last]) = ranges.last_mut() {
                *last = Mac::BROADCAST.0;
            }
        }
        let count = ranges.chunks(Reach::MOST).len().max(1);
        let mut first = Mac::default();
        let part = |number: usize| {
            let ranges: Vec<MacRange> = ranges.chunks(Reach::MOST).nth(number).unwrap_or_default().to_vec();
            let last = match ranges.last() {
                Some([_, last]) if number + 1 < count => Mac(*last),
                _ => Mac::BROADCAST,
            };
            let part = Self { first, last, ranges };
            first = Mac::from_bits(last.bits() + 1);
            part
        };
        (0..count).map(part).collect()
    }

    /// Nothing is reached.
    pub(crate) fn everything() -> Self {
        let (first, last) = (Mac::default(), Mac::BROADCAST);
        Self { first, last, ranges: vec![[first.0, last.0]] }
    }

    /// As it is written into a Hello.
    pub fn reach(&self) -> Reach<'_> {
        Reach { first: self.first, last: self.last, unreached: &self.ranges }
    }

    /// Whether it is about this station.
    pub(crate) fn is_about(&self, station: Mac) -> bool {
        (self.first..=self.last).contains(&station)
    }

    /// Whether it is about a station that the other is about as well.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether it says that this station is not reached.
    pub(crate) fn names(&self, station: Mac) -> bool {
        let at = self.ranges.partition_point(|[first, _]| *first <= station.0);
        at > 0 && self.ranges[at - 1][1] >= station.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The announcements of a switch with a route to `count` stations, the even numbers from 2 on.
    fn announced(count: u32, is_reached: impl Fn(u32) -> bool) -> Vec<Unreached> {
        Unreached::all((1..=count).map(|number| (Mac::of_host(2 * number), is_reached(number))))
    }

    /// Whether they say that a station is not reached; each is about others.
    fn names(parts: &[Unreached], number: u32) -> bool {
        let station = Mac::of_host(2 * number);
        let about: Vec<&Unreached> = parts.iter().filter(|part| part.is_about(station)).collect();
        assert_eq!(about.len(), 1, "{number}");
        about[0].names(station)
    }

    #[test]
    fn stations_in_a_row_are_one_range() {
        let parts = announced(65_000, |number| !(1000..=64_000).contains(&number));
        let ends = [1000, 64_000].map(|number| Mac::of_host(2 * number).0);
        assert_eq!(parts, [Unreached { first: Mac([0; 6]), last: Mac::BROADCAST, ranges: vec![ends] }]);
        assert_eq!(announced(0, |_| true).len(), 1, "a switch without routes says so");
    }

    #[test]
    fn many_ranges_take_several_announcements_which_are_about_all_stations() {
        for count in [39, 40, 41, 79, 80, 81, 1279, 1280] {
            let parts = announced(2 * count, |number| number % 2 == 0);
            assert_eq!(parts.len(), (count as usize).div_ceil(Reach::MOST), "{count}");
            assert!((1..=2 * count).all(|number| names(&parts, number) == (number % 2 == 1)), "{count}");
            assert!(parts.windows(2).all(|pair| pair[0].last.bits() + 1 == pair[1].first.bits()));
            assert!(parts.windows(2).all(|pair| !pair[0].overlaps(&pair[1]) && pair[0].overlaps(&pair[0])));
            assert_eq!((parts[0].first, parts[parts.len() - 1].last), (Mac([0; 6]), Mac::BROADCAST));
        }
    }

    #[test]
    fn what_does_not_fit_is_not_reached() {
        let parts = announced(10_000, |number| number % 2 == 0);
        assert_eq!(parts.len(), MOST_PARTS);
        let fits = 2 * (MOST_PARTS * Reach::MOST) as u32 - 2;
        assert!((1..=10_000).all(|number| names(&parts, number) == (number % 2 == 1 || number > fits)));
    }

    #[test]
    fn it_is_written_and_read() {
        assert!([0, u32::MAX].iter().all(|host| Unreached::everything().names(Mac::of_host(*host))));
        let parts = announced(500, |number| number % 5 < 3);
        assert!(parts.iter().all(|part| Unreached::from(part.reach()) == *part));
    }
}
