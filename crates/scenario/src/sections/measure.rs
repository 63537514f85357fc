//! `[measure]`: measurement settings.

use weft_traffic::Thresholds;
use weft_units::{Duration, Time};

use super::run::{Run, positive};
use super::sizes::pair;
use crate::key::{Key, Kind, key};
use crate::section::Section;

/// The sampling intervals of a duration by default.
const INTERVALS: u64 = 100;

/// The keys of `[measure]`.
pub(crate) const KEYS: &[Key] = &[
    key("interval", Kind::Duration, "", "sampling interval of time series")
        .of(|| format!("duration / {INTERVALS}")),
    key(
        "window",
        Kind::Pair(&Kind::Duration),
        "the whole duration",
        "only flows that start from the first time to the second count in summaries; without it, flows of lists, traces and \
         collectives always do",
    ),
    key("classes", Kind::Table(CLASS_KEYS), "", "size limits of mice, rabbits and elephants"),
    key("ring_steps", Kind::Flag, "false", "times of each step of rings that are sent in parts"),
    key("baseline", Kind::Text, "", "scheme that summaries and reports compare with"),
];

const CLASS_KEYS: &[Key] = &[
    key("mouse", Kind::Bytes, "10 kB", "smaller flows are mice"),
    key("elephant", Kind::Bytes, "10 MB", "larger flows are elephants; between the two, rabbits"),
];

/// Measurement settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// The sampling interval.
    pub interval: Duration,
    /// Summaries count flows that start at or after the first time and before the second, see
    /// [`counts`](Self::counts); averages over time use the same window. It does not extend beyond the run's limit.
    pub window: (Time, Time),
    /// Whether the window is not given. Flows that do not arrive at a rate then count whenever they start: those of a
    /// collective start when the scheme lets them.
    pub is_whole: bool,
    /// The size limits of mice, rabbits and elephants.
    pub thresholds: Thresholds,
    /// Whether the times of each step of rings in parts are recorded.
    pub ring_steps: bool,
}

impl Measure {
    /// Whether a flow that starts at this time counts; `arrives`: at a rate.
    pub fn counts(&self, start: Time, arrives: bool) -> bool {
        (self.is_whole && !arrives) || (self.window.0..self.window.1).contains(&start)
    }

    pub(crate) fn decode(section: &Section<'_>, run: &Run) -> Option<Self> {
        section.only(&[KEYS]);
        let whole = (Time::ZERO, Time::ZERO + run.duration);
        let interval = (run.duration / INTERVALS).max(Duration::PICOSECOND);
        let classes = section.section_or_empty("classes");
        classes.only(&[CLASS_KEYS]);
        let (mouse, elephant) = (classes.value(CLASS_KEYS, "mouse"), classes.value(CLASS_KEYS, "elephant"));
        let thresholds = Thresholds { mouse: mouse?, elephant: elephant? };
        let ring_steps = section.value(KEYS, "ring_steps")?;
        let mut measure = Self { interval, window: whole, is_whole: true, thresholds, ring_steps };
        if section.node("interval").is_some() {
            measure.interval = positive(section, "interval", section.get("interval")?)?.value;
        }
        if section.node("window").is_some() {
            let (from, to) = pair::<Duration>(section, "window")?;
            if from.value >= to.value {
                let message = format!("the window ends at {}, not after its start", to.value);
                section.problem(to.span, message, format!("expected more than {}", from.value));
                return None;
            }
            if from.value >= run.limit {
                let message = format!("no flow starts at {} or later", from.value);
                section.problem(from.span, message, format!("expected less than the limit, {}", run.limit));
                return None;
            }
            measure.window = (Time::ZERO + from.value, Time::ZERO + to.value.min(run.limit));
            measure.is_whole = false;
        }
        let Thresholds { mouse, elephant } = thresholds;
        if mouse > elephant {
            let message = format!("the mouse limit {mouse} is above the elephant limit {elephant}");
            classes.problem(classes.span, message, "expected the mouse limit to be the smaller one");
            return None;
        }
        Some(measure)
    }
}
