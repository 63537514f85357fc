//! The steps of rings in parts: when each rank could send a part, and when the next one had it.

use std::collections::HashMap;

use super::course::Course;
use super::records::RingStepRecord;
use crate::record::Recorder;

/// Records the parts that have arrived, flow by flow.
pub(super) fn record(course: Course<'_>, recorder: &mut dyn Recorder) {
    let arrivals = course.arrivals;
    // The flow before each in its ring.
    let before: HashMap<u32, u32> = arrivals
        .flows()
        .filter_map(|flow| course.parts.of(flow).map(|series| (series.feeds, flow)))
        .collect();
    for flow in arrivals.flows() {
        let Some(series) = course.parts.of(flow) else { continue };
        for number in 0..series.count {
            let Some(end) = arrivals.get(flow, number) else { break };
            let start = match number.checked_sub(1) {
                None => Some(course.start(flow)),
                Some(last) => before.get(&flow).and_then(|feeder| {
                    let compute = course.parts.of(*feeder)?.compute;
                    Some(arrivals.get(*feeder, last)? + compute)
                }),
            };
            recorder.ring_step(&RingStepRecord {
                job: course.jobs.of(flow),
                flow,
                host: course.host(flow),
                step: number + 1,
                bytes: series.size(number),
                start,
                end,
            });
        }
    }
}
