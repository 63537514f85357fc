//! The use of the time of jobs: the steps of processors, the exposed communication of ranks, critical paths.

use weft_sim::engine::Progress;
use weft_sim::jobs::{Part, PathRecord, RankRecord};
use weft_sim::record::{JobReport, MemoryRecorder, RunReport};
use weft_sim::run::run_with;
use weft_traffic::Processor;
use weft_units::{Duration, Time};

use crate::common::{US, parsed, plan};

/// Runs a trace of GOAL among hosts of two switches.
fn goal(trace: &str, threads: usize) -> (RunReport, MemoryRecorder) {
    let text = "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 2\nhosts_per_leaf = 2\nrate = \"1 Gbps\"\n\
         delay = \"1 us\"\n[traffic]\ntrace = \"a.goal\"\n[scheme]\nname = \"ecmp\"\n\
         [transport]\nprotocol = \"uec\"\n[run]\nduration = \"10 ms\"\n";
    let plan = plan(&parsed(text), trace.as_bytes());
    let mut kept = MemoryRecorder::default();
    let report = run_with(&plan, threads, &Progress::default(), &mut kept).expect("a known scheme");
    (report, kept)
}

fn took(job: &JobReport) -> Duration {
    job.end.unwrap() - job.start.unwrap()
}

/// The parts of all critical paths, with their lengths.
fn parts(kept: &MemoryRecorder) -> Vec<(Part, Duration)> {
    kept.parts.iter().map(|part| (part.part, part.end - part.start)).collect()
}

fn of_host(kept: &MemoryRecorder, host: u32) -> [Duration; 3] {
    let of = kept.ranks.iter().find(|rank| rank.host.0 == host).expect("a rank of the job");
    [of.compute, of.exposed, of.idle]
}

/// The parts of a path follow each other from the start of the job to its end, and the parts of each rank add up to the
/// same.
fn adds_up(report: &RunReport, kept: &MemoryRecorder) {
    for (number, job) in report.jobs.iter().enumerate() {
        let path: Vec<&PathRecord> = kept.parts.iter().filter(|part| part.job == number).collect();
        assert_eq!((Some(path[0].start), path.last().map(|part| part.end)), (job.start, job.end));
        assert!(path.windows(2).all(|pair| pair[0].end == pair[1].start), "{path:?}");
        let time = job.time.expect("the job is complete");
        assert_eq!(time.path.total(), took(job));
        let ranks: Vec<&RankRecord> = kept.ranks.iter().filter(|rank| rank.job == number).collect();
        assert_eq!(ranks.len() as u64, time.ranks.ranks);
        for rank in ranks {
            assert_eq!(rank.compute + rank.exposed + rank.idle, took(job), "{rank:?}");
        }
    }
}

#[test]
fn the_critical_path_of_a_chain_has_its_computations_and_messages() {
    // 0 computes 50 us and sends; 2 computes 20 us, sends the answer, and computes 30 us beside it.
    let trace = "num_ranks 4\nrank 0 { a: calc 50000 s: send 12288b to 2 s requires a r: recv 12288b from 2 }\n\
        rank 1 { }\nrank 2 { r: recv 12288b from 0 b: calc 20000 b requires r s: send 12288b to 0 s requires b \
        c: calc 30000 c requires b }\nrank 3 { calc 10000 }";
    let (report, kept) = goal(trace, 1);
    let ideal = kept.flows[0].ideal.unwrap();
    let first = kept.flows[0].end.unwrap() - kept.flows[0].flow.start;
    let second = kept.flows[1].end.unwrap() - kept.flows[1].flow.start;
    assert_eq!((first, second), (ideal, ideal), "alone on the fabric");
    let [compute, network] = [Part::Compute, Part::Network];
    assert_eq!(parts(&kept), [(compute, US(50)), (network, ideal), (compute, US(20)), (network, ideal)]);
    assert_eq!(took(&report.jobs[0]), US(50) + ideal + US(20) + ideal);
    assert_eq!(of_host(&kept, 0), [US(50), ideal + ideal, US(20)]);
    assert_eq!(of_host(&kept, 2), [US(50), ideal + ideal - US(30), US(50)]);
    assert_eq!(of_host(&kept, 3), [US(10), Duration::ZERO, took(&report.jobs[0]) - US(10)]);
    assert!(kept.ranks.iter().all(|rank| rank.host.0 != 1), "rank 1 does nothing");
    adds_up(&report, &kept);
    let works: Vec<_> =
        kept.works.iter().map(|work| (work.host.0, work.kind, work.end.unwrap() - work.start)).collect();
    let of = |host, us| (host, Processor::Compute, US(us));
    assert_eq!(works, [of(0, 50), of(2, 20), of(2, 30), of(3, 10)]);
}

#[test]
fn communication_is_exposed_for_the_time_that_it_takes_longer_than_the_computation_beside_it() {
    let message = |compute: u64, order: &str| {
        let trace = format!(
            "num_ranks 4 rank 0 {{ c: calc {compute}000 s: send 12288b to 2 {order} }} rank 1 {{ }} \
             rank 2 {{ recv 12288b from 0 }} rank 3 {{ }}"
        );
        let (report, kept) = goal(&trace, 1);
        adds_up(&report, &kept);
        (of_host(&kept, 0), kept.flows[0].end.unwrap() - kept.flows[0].flow.start, took(&report.jobs[0]))
    };
    let ([compute, exposed, idle], transfer, all) = message(70, "s requires c");
    assert_eq!((compute, exposed, idle, all), (US(70), transfer, Duration::ZERO, US(70) + transfer));
    for beside in [0, 70, 1_000] {
        let ([compute, exposed, idle], transfer, all) = message(beside, "");
        assert_eq!((compute, idle, all), (US(beside), Duration::ZERO, transfer.max(US(beside))));
        assert_eq!(exposed, transfer.saturating_sub(US(beside)));
    }
}

#[test]
fn a_queue_of_a_processor_is_part_of_the_path_and_the_run_lasts_until_it_is_done() {
    // Three computations of one CPU after a message; the last ends after all flows.
    let trace = "num_ranks 4 rank 0 { send 12288b to 2 } rank 1 { } rank 3 { }\n\
        rank 2 { r: recv 12288b from 0 a: calc 40000 b: calc 50000 c: calc 60000 \
        a requires r b requires r c requires r }";
    let (report, kept) = goal(trace, 1);
    let transfer = kept.flows[0].ideal.unwrap();
    let compute = |us| (Part::Compute, US(us));
    assert_eq!(parts(&kept), [(Part::Network, transfer), compute(40), compute(50), compute(60)]);
    let works: Vec<_> = kept.works.iter().map(|work| (work.start - work.ready, work.end.unwrap())).collect();
    let end = |us| Time::ZERO + transfer + US(us);
    assert_eq!(works, [(US(0), end(40)), (US(40), end(90)), (US(90), end(150))]);
    assert_eq!(report.end, end(150));
    assert_eq!(report.jobs[0].end, Some(end(150)));
    adds_up(&report, &kept);
}

#[test]
fn two_messages_on_one_link_wait_for_each_other_in_the_network() {
    let trace = "num_ranks 4 rank 0 { send 1228800b to 2 } rank 1 { send 1228800b to 2 } rank 3 { }\n\
        rank 2 { r: recv 1228800b from 0 s: recv 1228800b from 1 c: calc 1000 c requires r c requires s }";
    let (report, kept) = goal(trace, 1);
    let ideal = kept.flows[0].ideal.unwrap();
    let path = report.jobs[0].time.unwrap().path;
    assert_eq!((path.of(Part::Network), path.of(Part::Compute)), (ideal, US(1)));
    assert_eq!(path.of(Part::Queueing), took(&report.jobs[0]) - ideal - US(1));
    assert!(path.of(Part::Queueing) > ideal.saturating_sub(US(100)), "half of the link each: {path:?}");
    adds_up(&report, &kept);
}

#[test]
fn computations_without_messages_are_a_job() {
    let trace = "num_ranks 2 rank 0 { a: calc 1000 b: calc 3000 b requires a } rank 1 { calc 500 }";
    let (report, kept) = goal(trace, 1);
    let [job] = &report.jobs[..] else { panic!("{:?}", report.jobs) };
    assert_eq!((job.finished, took(job), kept.works.len(), kept.flows.len()), (0, US(4), 3, 0));
    assert_eq!(job.time.unwrap().path.of(Part::Compute), US(4));
    adds_up(&report, &kept);
    let (other, again) = goal(trace, 2);
    assert_eq!((other.jobs, again.works), (report.jobs, kept.works));
}

#[test]
fn a_step_that_does_not_end_before_the_limit_leaves_its_job_unfinished() {
    let (report, kept) =
        goal("num_ranks 2 rank 0 { send 100b to 1 calc 99000000000 } rank 1 { recv 100b from 0 }", 1);
    assert_eq!((report.jobs[0].finished, report.jobs[0].time), (1, None));
    let [work] = &kept.works[..] else { panic!("{:?}", kept.works) };
    assert_eq!((work.start, work.end), (Time::ZERO, None));
    assert!(kept.ranks.is_empty() && kept.parts.is_empty());
}

#[test]
fn jobs_are_the_same_with_any_number_of_threads() {
    let ranks = (0..4).map(|rank| {
        let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
        let steps = (0..6).map(|step| {
            format!(
                "s{step}: send 90000b to {next} tag {step} nic 1 r{step}: recv 90000b from {before} tag {step} \
                 c{step}: calc {} c{step} requires r{step} t{step}: calc 9000 t{step} requires s{step} ",
                10_000 * rank + 7_000
            )
        });
        format!("rank {rank} {{ {} }}\n", steps.collect::<String>())
    });
    let trace = format!("num_ranks 4\n{}", ranks.collect::<String>());
    let (report, kept) = goal(&trace, 1);
    adds_up(&report, &kept);
    assert!(kept.works.iter().any(|work| work.kind == Processor::Interface));
    for threads in [2, 3] {
        let (other, again) = goal(&trace, threads);
        assert_eq!(other.jobs, report.jobs);
        assert_eq!((&again.works, &again.ranks, &again.parts), (&kept.works, &kept.ranks, &kept.parts));
    }
}

#[test]
fn the_steps_of_a_ring_are_recorded_and_the_same_with_any_number_of_threads() {
    let run = |threads: usize, key: &str| {
        let text = format!(
            "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 3\nhosts_per_leaf = 2\nrate = \"1 Gbps\"\n\
             delay = \"1 us\"\n[traffic]\ncollective = \"all-gather\"\nbytes = \"60 kB\"\nconnections = \"persistent\"\n\
             [scheme]\nname = \"ecmp\"\n[transport]\nprotocol = \"uec\"\n[measure]\n{key}\n[run]\nduration = \"100 ms\"\n"
        );
        let plan = plan(&parsed(&text), b"");
        let mut kept = MemoryRecorder::default();
        let report = run_with(&plan, threads, &Progress::default(), &mut kept).expect("a known scheme");
        (report, kept)
    };
    let (report, kept) = run(1, "ring_steps = true");
    assert_eq!(kept.ring_steps.len(), 6 * 5);
    assert_eq!(kept.ring_steps.iter().map(|step| step.bytes).sum::<u64>(), 5 * 60_000);
    assert!(kept.ring_steps.iter().all(|step| step.start.is_some_and(|start| start < step.end)));
    assert_eq!(kept.ring_steps.iter().map(|step| step.end).max(), report.jobs[0].end);
    for threads in [2, 3] {
        assert_eq!(run(threads, "ring_steps = true").1.ring_steps, kept.ring_steps);
    }
    assert_eq!(run(1, "").1.ring_steps, []);
}
