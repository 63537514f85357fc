//! [`Parts`]: flows whose source gets their data part by part, as each rank of a ring does from the rank before it.

use weft_units::Duration;

use crate::part::part;

/// The parts of a flow: pieces of some data that is divided as equally as possible. The first part is the piece with number
/// `first`, each further part the piece before that, and piece 0 follows the last piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Series {
    /// Bytes of the data.
    pub whole: u64,
    /// The number of its pieces.
    pub pieces: u32,
    /// See above.
    pub first: u32,
    /// The number of parts.
    pub count: u32,
    /// The flow whose source is this one's destination, and which may send the part after each part once that one has been
    /// received.
    pub feeds: u32,
    /// The time from the one to the other.
    pub compute: Duration,
}

impl Series {
    /// The series in a list that has this many flows before it.
    pub(crate) const fn after(self, flows: u32) -> Self {
        Self { feeds: self.feeds + flows, ..self }
    }

    /// Bytes of a part, by its number from 0.
    pub fn size(&self, number: u32) -> u64 {
        let piece = (self.first + self.pieces - number % self.pieces) % self.pieces;
        part(self.whole, self.pieces.into(), piece.into())
    }

    /// Bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.sizes().iter().map(|(bytes, count)| bytes * count).sum()
    }

    /// The two sizes of the parts, larger ones first, and the number of parts of each size.
    pub fn sizes(&self) -> [(u64, u64); 2] {
        let (pieces, count) = (u64::from(self.pieces), u64::from(self.count));
        let (small, larger) = (self.whole / pieces, self.whole % pieces);
        // Pieces below `larger` have a byte more. The last parts are an incomplete turn: from `first` down to `end`.
        let (turns, rest) = (count / pieces, count % pieces);
        let first = u64::from(self.first);
        let below = |piece: u64| piece.min(larger);
        let of_rest = match rest <= first + 1 {
            true => below(first + 1) - below(first + 1 - rest),
            false => below(first + 1) + larger - below(pieces + first + 1 - rest),
        };
        let large = turns * larger + of_rest;
        [(small + 1, large), (small, count - large)]
    }
}

/// The flows of a run that are sent in parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The index of each flow's series, plus one; 0: it is sent as a whole. Empty if all are.
    of: Vec<u32>,
    list: Vec<Series>,
}

impl Parts {
    /// The most parts of a run whose arrivals are recorded.
    pub const MOST_RECORDED: u32 = 1 << 20;

    /// The series of some of `flows` flows, by id.
    pub fn new(flows: usize, series: impl Iterator<Item = (u32, Series)>) -> Self {
        let mut this = Self::default();
        for (flow, series) in series {
            this.of.resize(flows, 0);
            this.list.push(series);
            this.of[flow as usize] = this.list.len() as u32;
        }
        this
    }

    /// The number of flows that are sent in parts.
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// The number of parts of all flows.
    pub fn count(&self) -> u64 {
        self.list.iter().map(|series| u64::from(series.count)).sum()
    }

    /// Whether all flows are sent as a whole.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The parts of a flow; `None` if it is sent as a whole.
    #[inline]
    pub fn of(&self, flow: u32) -> Option<&Series> {
        let at = self.of.get(flow as usize)?.checked_sub(1)?;
        self.list.get(at as usize)
    }

    /// The sizes of the messages that make up a flow of `bytes`, and the number of messages of each size.
    pub fn sizes(&self, flow: u32, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let sizes = self.of(flow).map_or([(bytes, 1), (0, 0)], Series::sizes);
        sizes.into_iter().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_as_the_parts_have_them() {
        for (whole, pieces) in [(10, 4), (12, 4), (1_000, 7), (5, 5), (9, 2)] {
            for (first, count) in
                (0..pieces).flat_map(|first| (1..3 * pieces).map(move |count| (first, count)))
            {
                let series = Series { whole, pieces, first, count, feeds: 0, compute: Duration::ZERO };
                let all: Vec<u64> = (0..count).map(|number| series.size(number)).collect();
                let [(large, many), (small, few)] = series.sizes();
                let number = |bytes| all.iter().filter(|size| **size == bytes).count() as u64;
                assert_eq!((number(large), number(small)), (many, few), "{series:?}");
                assert_eq!(series.bytes(), all.iter().sum::<u64>(), "{series:?}");
            }
        }
    }

    #[test]
    fn parts_go_down_from_the_first_piece_and_around() {
        let series = Series { whole: 10, pieces: 4, first: 1, count: 6, feeds: 0, compute: Duration::ZERO };
        // Pieces of 3, 3, 2, 2 bytes: 1, 0, 3, 2, 1, 0.
        assert_eq!([0, 1, 2, 3, 4, 5].map(|number| series.size(number)), [3, 3, 2, 2, 3, 3]);
        let parts = Parts::new(3, [(1, series)].into_iter());
        assert_eq!((parts.len(), parts.of(0), parts.of(1)), (1, None, Some(&series)));
        assert_eq!(parts.count(), 6);
        assert_eq!(parts.sizes(0, 7).collect::<Vec<_>>(), [(7, 1)]);
        assert_eq!(parts.sizes(1, 16).collect::<Vec<_>>(), [(3, 4), (2, 2)]);
    }
}
