//! Warnings of times of samples and events that do not suit the run.

use weft_traffic::Traffic;
use weft_units::Time;

use crate::change::Event;
use crate::settings::Settings;

/// Samples from which a run spends more on them than on packets.
const MANY_SAMPLES: u64 = 100_000;

/// Warns of a sampling interval that gives very many samples, or none.
pub(super) fn sampling(settings: &Settings) -> Option<String> {
    let (interval, duration) = (settings.measure.interval, settings.run.duration);
    let samples = duration.ps() / interval.ps();
    if samples > MANY_SAMPLES {
        return Some(format!(
            "measure.interval is {interval}: if the run lasts for {duration}, {samples} samples take long and fill the disk; 100 to \
             1000 are enough for figures"
        ));
    }
    (interval > duration).then(|| {
        format!("measure.interval is {interval}, longer than run.duration, {duration}: figures over time are empty")
    })
}

/// Warns of events after the last start of a flow and before the limit: a run usually ends before.
pub(super) fn late_events(events: &[Event], traffic: &Traffic, settings: &Settings) -> Option<String> {
    if !traffic.dependencies.is_empty() {
        return None;
    }
    let last = traffic.flows.iter().map(|flow| flow.start).max()?.max(Time::ZERO + settings.run.duration);
    let end = Time::ZERO + settings.run.limit;
    let mut late = events.iter().filter(|event| last < event.at && event.at <= end);
    let (first, more) = (late.next()?, late.count());
    let subject = match more {
        0 => format!("the event at {} comes", first.at),
        _ => format!("{} events, from {} on, come", more + 1, first.at),
    };
    Some(format!(
        "{subject} after the last flow starts, {last}: only flows that are still active see it; to put it earlier, change \
         `at`, or lengthen run.duration"
    ))
}
