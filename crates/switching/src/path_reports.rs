//! [`PathReports`]: a leaf's tables of the utilisation of paths to and from other leaves (CONGA, section 3.3).

use weft_units::{Duration, Time};

/// The utilisation of a path as last reported.
#[derive(Clone, Copy, Default)]
struct Report {
    level: u8,
    /// Not yet reported to the other leaf since it changed.
    is_news: bool,
    /// The last report came then, in picoseconds plus one; 0: never.
    at: u64,
}

impl Report {
    fn is_recent(&self, aging: Duration, now: Time) -> bool {
        self.at > 0 && now.ps().saturating_sub(self.at - 1) < aging.ps()
    }
}

/// The tables of one leaf: by other leaf and uplink.
pub(crate) struct PathReports {
    /// Reports about the paths from this leaf.
    towards: Vec<Report>,
    /// Reports about the paths to this leaf, to be sent to the leaves at their other ends.
    from: Vec<Report>,
    /// By leaf, the uplink reported last.
    reported: Vec<u16>,
    /// Uplinks of a leaf.
    width: usize,
    aging: Duration,
}

impl PathReports {
    /// Nothing is known about `leaves` with up to `width` uplinks; reports count for `aging`.
    pub(crate) fn new(leaves: usize, width: usize, aging: Duration) -> Self {
        let table = || vec![Report::default(); leaves * width];
        Self { towards: table(), from: table(), reported: vec![0; leaves], width, aging }
    }

    /// The place of uplink `number` - 1 of a leaf; `None` for 0 and for numbers that no leaf has.
    fn place(&self, leaf: u16, number: u16) -> Option<usize> {
        let uplink = usize::from(number.checked_sub(1)?);
        (uplink < self.width).then(|| usize::from(leaf) * self.width + uplink)
    }

    /// A frame from `leaf`, sent by its uplink `number` - 1, met this utilisation.
    pub(crate) fn arrived(&mut self, leaf: u16, number: u16, level: u8, now: Time) {
        if let Some(report) = self.place(leaf, number).and_then(|place| self.from.get_mut(place)) {
            report.is_news |= report.level != level || report.at == 0;
            (report.level, report.at) = (level, now.ps() + 1);
        }
    }

    /// Records the feedback of the other leaf: the utilisation met by frames sent on uplink `number` - 1.
    pub(crate) fn record_feedback(&mut self, leaf: u16, number: u16, level: u8, now: Time) {
        if let Some(report) = self.place(leaf, number).and_then(|place| self.towards.get_mut(place)) {
            (report.level, report.at) = (level, now.ps() + 1);
        }
    }

    /// The utilisation of the path by uplink `number` - 1 to a leaf; 0 if there was no report lately.
    pub(crate) fn towards(&self, leaf: u16, number: u16, now: Time) -> u8 {
        let report = self.place(leaf, number).map_or_else(Report::default, |place| self.towards[place]);
        if report.is_recent(self.aging, now) { report.level } else { 0 }
    }

    /// The uplink, plus one, and the utilisation to report to a leaf with the next frame: round-robin, changed ones
    /// first; (0, 0) if nothing is known.
    pub(crate) fn next_to(&mut self, leaf: u16, now: Time) -> (u16, u8) {
        let aging = self.aging;
        let row = &mut self.from[usize::from(leaf) * self.width..][..self.width];
        // In turn, from the one after the last. An old value must not be reported again: the other leaf would take it
        // for a new one.
        let (mut place, mut known, mut news) = (usize::from(self.reported[usize::from(leaf)]), None, None);
        for _ in 0..row.len() {
            place = if place + 1 < row.len() { place + 1 } else { 0 };
            if row[place].is_recent(aging, now) {
                if row[place].is_news {
                    news = Some(place);
                    break;
                }
                known = known.or(Some(place));
            }
        }
        let Some(place) = news.or(known) else { return (0, 0) };
        row[place].is_news = false;
        self.reported[usize::from(leaf)] = place as u16;
        (place as u16 + 1, row[place].level)
    }

    /// Paths, from and to this leaf, whose utilisation is known.
    pub(crate) fn len(&self, now: Time) -> usize {
        self.towards.iter().chain(&self.from).filter(|report| report.is_recent(self.aging, now)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn paths_are_reported_in_turn_and_changed_ones_first() {
        let mut reports = PathReports::new(2, 4, Duration::from_ms(10));
        assert_eq!(reports.next_to(1, at(0)), (0, 0));
        for (number, level) in [(1, 3), (2, 0), (3, 5)] {
            reports.arrived(1, number, level, at(0));
        }
        let reported: Vec<_> = (0..3).map(|_| reports.next_to(1, at(0))).collect();
        assert_eq!(reported, [(2, 0), (3, 5), (1, 3)]);
        reports.arrived(1, 3, 6, at(0));
        reports.arrived(1, 2, 0, at(0));
        assert_eq!(reports.next_to(1, at(0)), (3, 6), "it changed");
        assert_eq!([reports.next_to(1, at(0)), reports.next_to(1, at(9))], [(1, 3), (2, 0)], "in turn");
        assert_eq!(reports.next_to(1, at(10)), (0, 0), "they are too old");
        assert_eq!(reports.next_to(0, at(0)), (0, 0), "of another leaf");
    }

    #[test]
    fn a_report_counts_until_it_is_too_old() {
        let mut reports = PathReports::new(1, 2, Duration::from_ms(10));
        reports.record_feedback(0, 2, 6, at(0));
        assert_eq!(reports.towards(0, 1, at(1)), 0);
        assert_eq!((reports.towards(0, 2, at(9)), reports.towards(0, 2, at(10))), (6, 0));
        reports.record_feedback(0, 9, 6, at(0));
        reports.record_feedback(0, 0, 6, at(0));
        reports.arrived(0, 1, 3, at(5));
        assert_eq!([9, 10, 15].map(|ms| reports.len(at(ms))), [2, 1, 0]);
    }
}
