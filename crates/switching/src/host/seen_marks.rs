//! [`SeenMarks`]: the paths on which one end of a connection has seen congestion marks, to be reported to the other end
//! (Clove, section 3.2).

use weft_units::{Duration, Time};

/// The paths from the other end.
#[derive(Default)]
pub(crate) struct SeenMarks {
    /// For each path, whether an unreported mark exists, and when the last one was reported.
    seen: Vec<(bool, Option<Time>)>,
    /// The path from which the search for the next report starts.
    turn: usize,
}

impl SeenMarks {
    /// A packet with a congestion mark has come over `path`.
    pub(crate) fn marked(&mut self, path: u8) {
        let path = usize::from(path);
        if path >= self.seen.len() {
            self.seen.resize(path + 1, (false, None));
        }
        self.seen[path].0 = true;
    }

    /// A path to report as congested, each at most once in `interval`.
    pub(crate) fn report(&mut self, now: Time, interval: Duration) -> Option<u8> {
        let count = self.seen.len();
        let due = |place: &usize| {
            let (is_marked, last) = self.seen[*place];
            is_marked && last.is_none_or(|last| now.saturating_since(last) >= interval)
        };
        let place = (self.turn..count).chain(0..self.turn.min(count)).find(due)?;
        self.seen[place] = (false, Some(now));
        self.turn = place + 1;
        Some(place as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    #[test]
    fn a_path_is_reported_once_for_a_mark_and_once_in_the_interval_in_turn_with_others() {
        let (mut marks, start) = (SeenMarks::default(), Time::ZERO);
        assert_eq!(marks.report(start, US(50)), None);
        [3, 1].into_iter().for_each(|path| marks.marked(path));
        let mut report = |at| marks.report(start + US(at), US(50));
        assert_eq!([report(0), report(0), report(0)], [Some(1), Some(3), None]);
        marks.marked(1);
        let mut report = |at| marks.report(start + US(at), US(50));
        assert_eq!([report(49), report(50), report(200)], [None, Some(1), None]);
    }
}
