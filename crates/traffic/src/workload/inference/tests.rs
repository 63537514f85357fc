//! Tests of [`Inference`] against closed forms.

use super::*;
use crate::bound::Bound;
use crate::dependencies::Step;
use crate::places::tests::spine_leaf;
use crate::workload::Named;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

fn llama() -> Inference {
    Inference {
        model: Named::Llama70b.model(),
        tensor: 4,
        prefill: 2,
        decode: 1,
        requests: 5,
        requests_per_second: 0.001,
        prompt: 1000,
        output: 30,
        lengths: Lengths::Fixed,
        precision: Precision::Bf16,
        operations_per_second: 1e15,
        memory_rate: 1e12,
        layers_per_message: 0,
        tokens_per_message: 10,
        start: Duration::ZERO,
        reuse: Reuse::PerMessage,
    }
}

fn arrivals(inference: &Inference) -> Result<Vec<Request>, String> {
    let [mut first, mut second] = [1, 2].map(Xoshiro256PlusPlus::seed_from_u64);
    inference.arrivals(&mut first, &mut second)
}

#[test]
fn bytes_of_each_kind_are_those_of_closed_forms() {
    let inference = llama();
    let requests = arrivals(&inference).unwrap();
    let (program, kinds, counts) = inference.program(&requests);
    // Four computations at four ranks each, and where these have all results.
    assert_eq!(counts, [Counts { flows: 4 + (1 + 3) * 24, steps: 2 * 4 * 4 }; 5]);
    assert_eq!(counts[0].flows, inference.flows_of(requests[0]));
    let bytes = |kind: Kind| {
        let of = program.flows.iter().zip(&kinds).filter(|(_, other)| **other == kind);
        of.map(|(flow, _)| flow.bytes).sum::<u64>()
    };
    // 320 KiB of each token of a prompt.
    assert_eq!(bytes(Kind::KeysAndValues), 5 * 1000 * 320 * 1024);
    // Two sums in each of 80 layers, around rings of four.
    let of_token = 2 * 80 * 8192 * 2 * 2 * 3;
    assert_eq!(bytes(Kind::Prefill), 5 * 1000 * of_token);
    assert_eq!(bytes(Kind::Decode), 5 * 30 * of_token);
    // Requests take turns; their decoder is the third group.
    let kv = program.flows.iter().zip(&kinds).filter(|(_, kind)| **kind == Kind::KeysAndValues);
    let ends: Vec<(u32, u32)> = kv.map(|(flow, _)| (flow.src.0, flow.dst.0)).step_by(4).collect();
    assert_eq!(ends, [(0, 8), (4, 8), (0, 8), (4, 8), (0, 8)]);
}

#[test]
fn a_request_takes_the_time_of_its_parts() {
    // The hosts have 1 Gbps.
    let inference = llama();
    let program = inference.alone(arrivals(&inference).unwrap()[0]);
    let first = program.flows.iter().map(|flow| flow.start).min().unwrap();
    let prefill = 1000.0 * (2.0 * (68.5e9 - 80.0 * 8192.0 * 2.0) + 4.0 * 80.0 * 1000.0 * 8192.0) / 4.0 / 1e15;
    let arrival = arrivals(&inference).unwrap()[0].at;
    let computed = first.saturating_since(arrival).as_secs_f64();
    assert!((computed / prefill - 1.0).abs() < 0.01, "{computed}, not {prefill}");
    let ring = 2.0 * 80.0 * 8192.0 * 2.0 * 8.0 / 1e9 * 2.0 * 3.0 / 4.0;
    let kept = 1000.0 * 320.0 * 1024.0 * 8.0 / 4.0 / 1e9;
    let read = 30.0 * (2.0 * 68.7e9 + 1015.0 * 320.0 * 1024.0) / 4.0 / 1e12;
    let expected = (1000.0 + 30.0) * ring + kept + read;
    let expected = prefill + expected;
    let bound = Bound::of(&program, &spine_leaf(2, 4, 4), Reuse::PerMessage).time.as_secs_f64();
    assert!((bound / expected - 1.0).abs() < 0.01, "{bound}, not {expected}");
}

#[test]
fn computations_are_steps_of_processors_and_answers_do_not_wait_for_each_other() {
    let inference = llama();
    let requests = arrivals(&inference).unwrap();
    let (program, _, counts) = inference.program(&requests);
    // The prefill of a request, and its answer, at each of four ranks.
    let ranks = inference.ranks() as u32;
    for (number, steps) in program.steps.chunks(counts[0].steps).enumerate() {
        let prefill = 4 * (number as u32 % 2);
        let answer = ranks + 4 * number as u32;
        let works: Vec<(u32, u32)> =
            steps.iter().filter_map(|step| Some((step.host.0, step.work()?.0))).collect();
        let on = |host: u32, processor: u32| (0..4).map(move |at| (host + at, processor + at));
        let mut expected: Vec<(u32, u32)> = on(prefill, prefill).collect();
        (0..3).for_each(|_| expected.extend(on(8, answer)));
        assert_eq!(works, expected, "request {number}");
    }
    assert_eq!(program.processors, ranks + 4 * 5);
    let taken = |of: &[Step]| of.iter().filter_map(Step::work).map(|(_, takes)| takes).sum::<Duration>();
    let one = inference.prefill_time(1000, 80, true) + inference.decode_time(1000, 30);
    let found = taken(&program.steps[..counts[0].steps]).as_secs_f64();
    assert!((found / (4.0 * one.as_secs_f64()) - 1.0).abs() < 1e-9, "{found}");
}

#[test]
fn without_tensor_ranks_the_answer_is_one_computation_at_the_end() {
    let inference = Inference { tensor: 1, layers_per_message: 1, tokens_per_message: 1, ..llama() };
    let program = inference.alone(arrivals(&inference).unwrap()[0]);
    let takes: Vec<Duration> = program.steps.iter().filter_map(|step| Some(step.work()?.1)).collect();
    assert_eq!(takes, [inference.prefill_time(1000, 80, true), inference.decode_time(1000, 30)]);
    let kept = Duration::from_secs_f64(1000.0 * 320.0 * 1024.0 * 8.0 / 1e9);
    let bound = Bound::of(&program, &spine_leaf(2, 4, 4), Reuse::PerMessage).time;
    assert_eq!(bound, takes[0] + kept + takes[1]);
}

#[test]
fn a_group_processes_one_prompt_after_the_other() {
    // Far more requests than one group can serve: the last message starts after all prefills.
    let inference = Inference { requests_per_second: 1e6, tensor: 1, prefill: 1, requests: 50, ..llama() };
    let (program, _, _) = inference.program(&arrivals(&inference).unwrap());
    let one = inference.prefill_time(1000, 80, true).as_secs_f64();
    let last = program.flows.last().unwrap().start.as_secs_f64();
    assert!((last / (50.0 * one) - 1.0).abs() < 0.001, "{last}");
    assert_eq!(program.flows.len(), 50);
}

#[test]
fn arrivals_and_lengths_have_their_means_and_too_much_is_refused() {
    let inference = Inference { requests: 10_000, lengths: Lengths::Exponential, tensor: 1, ..llama() };
    let requests = arrivals(&inference).unwrap();
    let mean = |sum: f64| sum / 10_000.0;
    let last = requests.last().unwrap().at.as_secs_f64();
    assert!((mean(last) / 1000.0 - 1.0).abs() < 0.03, "{last}");
    let prompt = mean(requests.iter().map(|request| request.prompt as f64).sum());
    assert!((prompt / 1000.0 - 1.0).abs() < 0.03, "{prompt}");
    let output = mean(requests.iter().map(|request| request.output as f64).sum());
    assert!((output / 30.0 - 1.0).abs() < 0.03 && requests.iter().all(|of| of.output > 0), "{output}");
    let odd = Inference { tensor: 3, ..llama() };
    assert_eq!(arrivals(&odd), Err("`tensor` is 3; expected a divisor of the 64 heads".to_owned()));
    let many = Inference { requests: 10_000, tokens_per_message: 1, tensor: 8, ..llama() };
    assert!(
        arrivals(&many).unwrap_err().starts_with("with request 2874, inference has 10001520 flows; a run")
    );
}
