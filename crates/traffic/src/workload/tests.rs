//! Tests of [`Training`] against closed forms.

use super::*;
use crate::bound::Bound;
use crate::connections::Reuse;
use crate::places::tests::spine_leaf;
use weft_units::Duration;

/// A model of 8 layers, none of whose sizes are alike.
const SMALL: Model = Model {
    layers: 8,
    hidden: 512,
    heads: 8,
    attention: Attention::Grouped { kv_heads: 4, width: 64 },
    ffn: 1024,
    matrices: 3,
    vocabulary: 0,
    experts: 0,
    experts_per_token: 0,
    shared_experts: 0,
};
const EXPERTS: Model = Model { experts: 4, experts_per_token: 2, ..SMALL };

fn training(model: Model, [tensor, expert, data, pipeline]: [u32; 4]) -> Training {
    Training {
        model,
        grid: Grid { tensor, expert, data, pipeline },
        micro_batches: 6,
        micro_batch: 2,
        sequence: 128,
        precision: Precision::Bf16,
        gradient_precision: Precision::Fp32,
        operations_per_second: 1e12,
        layers_per_message: 0,
        steps: 1,
        start: Duration::ZERO,
        reuse: Reuse::PerMessage,
    }
}

/// The bytes of the messages of this kind in a step.
fn bytes(training: &Training, kinds: &[Message]) -> u64 {
    let (program, messages) = training.program(1);
    assert_eq!(program.flows.len() as u64, training.flows().unwrap(), "{:?}", training.grid);
    assert!(program.flows.iter().all(|flow| flow.bytes > 0 && flow.src != flow.dst));
    let of = program.flows.iter().zip(&messages).filter(|(_, message)| kinds.contains(message));
    of.map(|(flow, _)| flow.bytes).sum()
}

/// The time of a step among hosts of 1 Gbps, without delays, from its first computation to its end.
fn time(training: &Training) -> f64 {
    let (program, _) = training.program(1);
    Bound::of(&program, &spine_leaf(2, 4, 4), training.reuse).time.as_secs_f64()
}

#[test]
fn bytes_of_each_kind_are_those_of_closed_forms() {
    // The activations of a micro-batch: 2 sequences of 128 tokens, 512 numbers each, of 2 bytes.
    let (micro_batches, activations) = (6, 2 * 128 * 512 * 2);
    for ([t, e, d, p], model) in [
        ([4, 1, 2, 2], SMALL),
        ([1, 1, 4, 4], SMALL),
        ([2, 2, 2, 2], EXPERTS),
        ([1, 4, 2, 1], EXPERTS),
        ([2, 4, 1, 2], EXPERTS),
    ] {
        let job = training(model, [t, e, d, p]);
        let [t, e, d, p] = [t, e, d, p].map(u64::from);
        // One for the attention and one for the network, or one for each expert of a token.
        let of_layer = if e > 1 { 3 } else { 2 } * activations;
        let tensor = e * d * micro_batches * 2 * 8 * of_layer * 2 * (t - 1);
        assert_eq!(bytes(&job, &[Message::Tensor]), tensor, "{:?}", job.grid);
        // To two experts and back, from tokens that tensor ranks divide, and none to the rank itself.
        let experts = t * d * micro_batches * 2 * 8 * 2 * 2 * (activations / t) * (e - 1);
        assert_eq!(bytes(&job, &[Message::Experts]), experts, "{:?}", job.grid);
        let pipeline = e * d * micro_batches * 2 * (p - 1) * activations;
        assert_eq!(bytes(&job, &[Message::Pipeline]), pipeline, "{:?}", job.grid);
        // Queries and their products are as wide as the model, keys and values half as wide; three matrices, four times with
        // experts.
        let [attention, network] = [8 * 512 * 512 * 3, 8 * 3 * 512 * 1024];
        let gradients = match e {
            1 => 2 * (d - 1) * 4 * (attention + network),
            _ => 2 * (e * d - 1) * 4 * attention + 2 * (d - 1) * 4 * 4 * network,
        };
        assert_eq!(bytes(&job, &[Message::Data, Message::ExpertData]), gradients, "{:?}", job.grid);
    }
}

#[test]
fn a_step_of_a_pipeline_takes_its_passes_and_the_bubble() {
    // The bubble is (p - 1) / m of the time of the passes (Narayanan et al., SC 2021, section 2.2).
    let job = Training { operations_per_second: 1e8, ..training(SMALL, [1, 1, 1, 4]) };
    let layer = SMALL.layer_operations(256.0, 128.0);
    let passes = 6.0 * 3.0 * 2.0 * layer / 1e8;
    let expected = passes * (1.0 + 3.0 / 6.0);
    let found = time(&job);
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
    // The output table makes the last stage slower, which then does not wait: other stages add one pass each.
    let model = Model { vocabulary: 4000, ..SMALL };
    let job = Training { model, ..job };
    let last = (2.0 * layer + model.table_operations(256.0)) / 1e8;
    let expected = 6.0 * 3.0 * last + 3.0 * 3.0 * 2.0 * layer / 1e8;
    let found = time(&job);
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
}

#[test]
fn without_computation_a_step_takes_the_time_of_its_messages() {
    // Four ranks add up results: 2 (t - 1) / t of their bytes each, at 1 Gbps.
    let job = Training { operations_per_second: 1e24, ..training(SMALL, [4, 1, 1, 1]) };
    let expected = 6.0 * 2.0 * 8.0 * 2.0 * (2.0 * 128.0 * 512.0 * 2.0) * 2.0 * 3.0 / 4.0 * 8.0 / 1e9;
    let found = time(&job);
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
    // Smaller messages carry the same bytes.
    let job = Training { layers_per_message: 3, ..job };
    assert_eq!(job.flows().unwrap(), 6 * 2 * 3 * 24);
    assert!((time(&job) / expected - 1.0).abs() < 0.01);
    // Replicas add up gradients once.
    let job = Training { operations_per_second: 1e24, ..training(SMALL, [1, 1, 8, 1]) };
    let expected = 8.0 * (512.0 * 512.0 * 3.0 + 3.0 * 512.0 * 1024.0) * 4.0 * 2.0 * 7.0 / 8.0 * 8.0 / 1e9;
    assert!((time(&job) / expected - 1.0).abs() < 0.01);
}

#[test]
fn steps_follow_each_other_and_messages_start_in_their_order() {
    let job = training(EXPERTS, [2, 2, 2, 2]);
    let (mut all, messages) = job.program(3);
    assert_eq!(all.flows.len() as u64, 3 * job.flows().unwrap());
    all.settle().expect("no circle");
    let mut last = std::collections::HashMap::new();
    for (flow, message) in all.flows.iter().zip(&messages) {
        let before = last.insert((flow.src, flow.dst, *message as u8), flow.start);
        assert!(before.is_none_or(|before| before <= flow.start), "{message:?}");
    }
}

#[test]
fn a_step_of_256_gpus_has_less_than_a_million_flows() {
    let job = Training {
        micro_batches: 32,
        sequence: 4096,
        micro_batch: 1,
        ..training(Named::Llama70b.model(), [8, 1, 8, 4])
    };
    assert_eq!(job.flows(), Ok(32 * 2 * 4 * 8 * 112 + 2 * 32 * 3 * 64 + 32 * 112));
}

#[test]
fn ranks_that_cannot_divide_the_model_are_refused() {
    for (model, grid, message) in [
        (SMALL, [1, 1, 1, 1], "training has one rank, which sends nothing; expected at least 2"),
        (SMALL, [3, 1, 1, 1], "`tensor` is 3; expected a divisor of the 8 heads"),
        (SMALL, [1, 1, 1, 9], "`pipeline` is 9; expected at most the 8 layers"),
        (SMALL, [1, 2, 1, 1], "`expert` is 2; expected 1: the layers of this model have no experts"),
        (EXPERTS, [1, 3, 1, 1], "`expert` is 3; expected a divisor of the 4 experts"),
    ] {
        assert_eq!(training(model, grid).flows(), Err(message.to_owned()));
    }
    let many = Training { micro_batches: 100_000, ..training(SMALL, [1, 1, 64, 1]) };
    assert!(
        many.flows().unwrap_err().starts_with("training has 12800000 computations; a run can have at most")
    );
    let message = "training has 4 ranks, tensor 2 x pipeline 1 x data 2 x expert 1, but there are 6; set `ranks` to 4, or \
                   change one of them";
    assert_eq!(training(SMALL, [2, 1, 2, 1]).check_ranks(6), Err(message.to_owned()));
}
