//! The jobs of a run in `summary.json`: rounds of collectives, steps of training, requests of inference, and traces whose flows wait for each other.

use serde_json::{Value, json};
use weft_traffic::Traffic;
use weft_units::{Duration, Time};

use crate::jobs::Part;
use crate::record::{JobReport, JobTime};

/// One object per job, with its completion time and how many times its lower bound that is, if it was completed.
pub(crate) fn jobs_json(traffic: &Traffic, reports: &[JobReport]) -> Vec<Value> {
    let jobs = traffic.jobs.list().iter().zip(reports).map(|(job, report)| {
        // With all flows finished, it is not complete without its processors' steps.
        let end = report.end.filter(|_| report.time.is_some());
        let start = report.start;
        let completion = end.zip(start).map(|(end, start)| end.saturating_since(start));
        let bound = job.bound.time.ps();
        let ratio = completion.filter(|_| bound > 0).map(|took| took.ps() as f64 / bound as f64);
        let seconds = completion.map(Duration::as_secs_f64).filter(|took| *took > 0.0);
        let bus = job.bus_factor.zip(seconds).map(|(factor, took)| 8.0 * job.bytes as f64 * factor / took);
        let class = traffic.groups.get(job.group as usize).and_then(|group| group.class.as_ref());
        json!({
            "group": job.group,
            "class": class,
            "kind": job.kind,
            "round": job.round,
            "ranks": job.ranks,
            "bytes": job.bytes,
            "flows": job.flows,
            "flows_finished": report.finished,
            "start_ps": start.map(Time::ps),
            "completion_ps": completion.map(Duration::ps),
            "bound_ps": bound,
            "bound_by": job.bound.by,
            "ratio": ratio,
            "bus_bps": bus,
            "critical_path": report.time.as_ref().map(critical_path_json),
            "ranks_mean": report.time.as_ref().map(ranks_json),
        })
    });
    jobs.collect()
}

/// The sums of the parts of a critical path.
fn critical_path_json(time: &JobTime) -> Value {
    let parts = Part::ALL.iter().map(|part| (format!("{}_ps", part.name()), json!(time.path.of(*part).ps())));
    Value::Object(parts.collect())
}

/// The mean time of the ranks of a job, and the longest exposed communication.
fn ranks_json(time: &JobTime) -> Value {
    let ranks = &time.ranks;
    let mean = |sum: Duration| (ranks.ranks > 0).then(|| sum.ps() as f64 / ranks.ranks as f64);
    json!({
        "compute_ps": mean(ranks.compute),
        "exposed_ps": mean(ranks.exposed),
        "idle_ps": mean(ranks.idle),
        "longest_exposed_ps": ranks.longest_exposed.ps(),
    })
}
