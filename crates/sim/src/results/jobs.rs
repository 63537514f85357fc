//! The jobs of a run in `summary.json`: rounds of collectives, steps of training, requests of inference, and traces whose flows wait for each other.

use serde_json::{Value, json};
use weft_traffic::Traffic;
use weft_units::{Duration, Time};

use crate::record::JobReport;

/// One object per job, with its completion time and how many times its lower bound that is, if it was completed.
pub(crate) fn jobs_json(traffic: &Traffic, reports: &[JobReport]) -> Vec<Value> {
    let jobs = traffic.jobs.list().iter().zip(reports).map(|(job, report)| {
        let is_complete = report.finished == job.flows;
        let end = report.end.filter(|_| is_complete);
        let start = report.start.map(|first| job.began.time(first));
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
        })
    });
    jobs.collect()
}
