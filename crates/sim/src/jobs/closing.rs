//! [`close`]: the records of a run's processors, and of its jobs, once the run has ended.

use weft_traffic::Processor;
use weft_units::{HostId, Time};

use super::course::Course;
use super::critical_path::{CriticalPath, PathSums};
use super::exposure::{Busy, RankSums, ranks};
use super::records::WorkRecord;
use super::ring_steps;
use crate::record::{JobReport, JobTime, Recorder};

/// Parts of critical paths that are recorded; the sums are of all.
const MOST_PARTS: usize = 1 << 20;

/// The flows and steps of processors of a job, by their nodes.
#[derive(Default)]
struct Members {
    flows: Vec<u32>,
    works: Vec<u32>,
}

/// Records the steps of processors and, of each job whose flows and steps have ended, the time of its ranks and its
/// critical path. Adds the jobs' times to their reports.
pub(crate) fn close(course: Course<'_>, reports: &mut [JobReport], recorder: &mut dyn Recorder) {
    for (node, work) in course.works() {
        let step = course.step(node);
        let Some((processor, _)) = course.table.work(node) else { continue };
        recorder.work(&WorkRecord {
            step,
            job: course.jobs.of_step(step),
            host: course.host(node),
            processor,
            kind: course.table.kind(processor),
            ready: course.waiting.ready(node),
            start: work.start,
            end: Some(work.end).filter(|end| *end <= course.limit),
        });
    }
    ring_steps::record(course, recorder);
    let mut room = MOST_PARTS;
    for (job, (members, report)) in members(course).into_iter().zip(reports).enumerate() {
        let is_done = report.finished == course.jobs.list()[job].flows;
        let works =
            members.works.iter().map(|node| course.work(*node).filter(|work| work.end <= course.limit));
        let Some(works) = works.collect::<Option<Vec<_>>>().filter(|_| is_done) else { continue };
        for (node, work) in members.works.iter().zip(&works) {
            let ready = course.waiting.ready(*node);
            report.start = Some(report.start.map_or(ready, |start| start.min(ready)));
            report.end = report.end.max(Some(work.end));
        }
        report.start = report.start.map(|first| course.jobs.list()[job].began.time(first));
        let (Some(start), Some(end)) = (report.start, report.end) else { continue };
        let mut sums = RankSums::default();
        for rank in ranks(job, start, end, busy(course, &members)) {
            sums.add(&rank);
            recorder.rank(&rank);
        }
        let Some(last) = last(course, &members, end) else { continue };
        let mut path = PathSums::default();
        for part in CriticalPath::of(course, job, start, end, last) {
            path.0[part.part as usize] += part.end.saturating_since(part.start);
            if room > 0 {
                room -= 1;
                recorder.part(&part);
            }
        }
        report.time = Some(JobTime { path, ranks: sums });
    }
}

/// The flows and the steps of processors of each job.
fn members(course: Course<'_>) -> Vec<Members> {
    let mut all: Vec<Members> = course.jobs.list().iter().map(|_| Members::default()).collect();
    if all.is_empty() {
        return all;
    }
    for flow in 0..course.flows.len() as u32 {
        if let Some(job) = course.jobs.of(flow) {
            all[job].flows.push(flow);
        }
    }
    for node in course.table.works() {
        if let Some(job) = course.jobs.of_step(course.step(node)) {
            all[job].works.push(node);
        }
    }
    all
}

/// The times in which ranks compute or have a flow under way.
fn busy(course: Course<'_>, members: &Members) -> Vec<Busy> {
    let mut busy = Vec::with_capacity(2 * members.flows.len() + members.works.len());
    for &flow in &members.flows {
        let (start, end) = (course.start(flow), course.span(flow).end);
        let Some(end) = end else { continue };
        let mut add = |host: HostId| busy.push(Busy { host, start, end, is_compute: false });
        add(course.flows[flow as usize].src);
        add(course.flows[flow as usize].dst);
    }
    for &node in &members.works {
        let computes =
            course.table.work(node).is_some_and(|(of, _)| course.table.kind(of) == Processor::Compute);
        let Some(work) = course.work(node) else { continue };
        // Others do not compute, but their ranks are ranks of the job.
        let end = if computes { work.end } else { work.start };
        busy.push(Busy { host: course.host(node), start: work.start, end, is_compute: computes });
    }
    busy
}

/// The node of a job that ended last, at `end`.
fn last(course: Course<'_>, members: &Members, end: Time) -> Option<u32> {
    let mut works = members.works.iter().copied();
    let work = works.find(|node| course.work(*node).is_some_and(|work| work.end == end));
    work.or_else(|| members.flows.iter().copied().find(|flow| course.span(*flow).end == Some(end)))
}
