//! Tests of [`read_simai`].

use super::*;
use crate::bound::Bound;
use crate::connections::Reuse;
use crate::places::tests::spine_leaf;
use proptest::prelude::*;

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 \
                    checkpoints: 0 checkpoint_initiates: 0";

fn read(layers: &[&str]) -> Result<Read<Program>, TraceError> {
    with_head(HEAD, layers)
}

/// A workload with this first line, in a scenario of eight ranks.
fn with_head(head: &str, layers: &[&str]) -> Result<Read<Program>, TraceError> {
    read_simai(format!("{head}\n{}\n{}\n", layers.len(), layers.join("\n")).as_bytes(), 8)
}

/// The flows' ends and bytes, sorted.
fn ends(read: &Read<Program>) -> Vec<(u32, u32, u64)> {
    let mut ends: Vec<(u32, u32, u64)> =
        read.flows.flows.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes)).collect();
    ends.sort_unstable();
    ends
}

fn bound(read: Read<Program>) -> f64 {
    Bound::of(&read.flows, &spine_leaf(2, 2, 4), Reuse::PerMessage).time.as_secs_f64()
}

#[test]
fn each_collective_is_among_the_ranks_of_its_group() {
    let of = |word: &str, is_weights: bool| {
        let layer = match is_weights {
            false => format!("a -1 5 {word} 800 1 NONE 0 1 NONE 0 100"),
            true => format!("a\t-1\t5\tNONE\t0\t1\tNONE\t0\t1\t{word}\t800\t100"),
        };
        let ends = ends(&read(&[&layer]).unwrap());
        (ends.len(), ends[..2].to_vec())
    };
    // Tensor ranks are neighbours, those of experts are two apart, their replicas four.
    assert_eq!(of("ALLREDUCE", false), (16, vec![(0, 1, 400), (0, 1, 400)]));
    assert_eq!(of("ALLTOALL_EP", false), (8, vec![(0, 2, 400), (1, 3, 400)]));
    assert_eq!(of("ALLGATHER_DP_EP", false), (8, vec![(0, 4, 400), (1, 5, 400)]));
    assert_eq!(of("REDUCESCATTER", true), (24, vec![(0, 2, 200), (0, 2, 200)]));
    assert_eq!(of("ALLREDUCE_EP", true), (16, vec![(0, 2, 400), (0, 2, 400)]));
}

#[test]
fn a_pass_takes_its_computations_and_the_collectives_that_it_waits_for() {
    // Forwards 1000 and 100 us with 1 ms of messages each, backwards 30 us with 0.5 ms, 7 and 20 us, then weights.
    let read = read(&[
        "first -1 1000000 ALLREDUCE 125000 1000 NONE 0 2000 ALLREDUCE 125000 1",
        "second -1 100000 ALLREDUCE 125000 30000 ALLGATHER 125000 7000 NONE 0 1",
    ]);
    let program = read.unwrap().flows;
    assert_eq!(program.flows.len(), 2 * 16 + 8 + 2 * 4 * 6);
    let bound = Bound::of(&program, &spine_leaf(2, 2, 4), Reuse::PerMessage).time.as_secs_f64();
    let expected = 1e-3 + 1e-3 + (100.0 + 30.0 + 7.0 + 1.0 + 2.0) * 1e-6 + 1e-3 + 0.5e-3 + 1.5e-3;
    assert!((bound - expected).abs() < 1e-9, "{bound}, not {expected}");
    // Computations after the last collective count.
    let program = self::read(&["a -1 1000000 ALLREDUCE 125000 5000 NONE 0 7000 NONE 0 1"]).unwrap().flows;
    let bound = Bound::of(&program, &spine_leaf(2, 2, 4), Reuse::PerMessage).time.as_secs_f64();
    assert!((bound - 2.012e-3).abs() < 1e-9, "{bound}");
    // All collectives before the last one are awaited: that of weights is not.
    let twice = [
        "first -1 0 NONE 0 0 ALLREDUCE 125000 0 NONE 0 1",
        "second -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 125000 1",
    ];
    let program = super::read_simai(format!("{HEAD}\n2\n{}", twice.join("\n")).as_bytes(), 8).unwrap().flows;
    let bound = Bound::of(&program, &spine_leaf(2, 2, 4), Reuse::PerMessage).time.as_secs_f64();
    // Together, both send 2.5 times as much as one of two ranks.
    assert!((bound - 2.5e-3).abs() < 1e-9, "{bound}");
}

#[test]
fn a_workload_is_told_from_a_list_of_flows_and_says_what_is_ignored() {
    assert!(is_simai(b"\xef\xbb\xbf HYBRID") && !is_simai(b"3\n0 1 3 100 5 0.1") && !is_simai(b""));
    let text = HEAD.replace("pp: 1", "pp: 2").replace("ep: 2", "ep: 1")
        + " pp_comm 4096\n1\na -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1";
    let read = read_simai(text.as_bytes(), 8).unwrap();
    assert_eq!(
        read.ignored,
        ["messages between stages (`pp_comm`) are ignored: SimAI adds their time at the end"]
    );
    assert_eq!(read.flows.flows.len(), 16);
    // Ranks of one are no group, and no bytes are no messages.
    let none = "a -1 1 REDUCESCATTER 0 1 NONE 0 1 NONE 0 1";
    assert!(super::read_simai(format!("{HEAD}\n1\n{none}").as_bytes(), 8).unwrap().flows.flows.is_empty());
}

#[test]
fn a_workload_of_computations_only_takes_their_time() {
    let read = read(&["a -1 3000 NONE 0 5000 NONE 0 0 NONE 0 1"]).unwrap();
    assert!(read.flows.flows.is_empty());
    let time = bound(read);
    assert!((time - 8e-6).abs() < 1e-12, "{time}");
}

#[test]
fn a_file_without_its_number_of_ranks_has_that_of_the_scenario() {
    let layer = "a -1 5 ALLREDUCE 800 1 NONE 0 1 REDUCESCATTER 800 100";
    let head =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 checkpoint_initiates: 0";
    let (own, given) =
        (with_head(head, &[layer]).unwrap(), with_head(&HEAD.replace("ep: 2", "ep: 1"), &[layer]).unwrap());
    assert_eq!((own.flows.ranks, ends(&own)), (8, ends(&given)));
}

#[test]
fn a_broadcast_goes_along_its_ranks() {
    let read = with_head(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 4",
        &["a -1 5 BROADCAST 16384 1 NONE 0 1 NONE 0 100"],
    );
    let ends = ends(&read.unwrap());
    // In eight chunks, in two groups of four ranks.
    assert_eq!((ends.len(), &ends[7..9]), (2 * 3 * 8, &[(0, 1, 2048), (1, 2, 2048)][..]));
}

#[test]
fn replicas_of_a_model_exchange_gradients_of_weights_only() {
    let layer = "a -1 1000 ALLREDUCE 125000 2000 ALLGATHER 125000 3000 ALLREDUCE 125000 1";
    let read = with_head("DATA", &[layer]).unwrap();
    assert_eq!((read.flows.ranks, read.flows.flows.len()), (8, 8 * 14));
    // 1.75 times the bytes at 1 Gbps.
    let time = bound(read);
    assert!((time - 6e-6 - 1.75e-3).abs() < 1e-9, "{time}");
}

#[test]
fn collectives_of_a_micro_benchmark_follow_each_other() {
    let layers =
        ["a -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 125000 1", "a -1 1 NONE 0 1 NONE 0 1 ALLGATHER 250000 1"];
    let read = with_head("MICRO", &layers).unwrap();
    assert_eq!(read.flows.flows.len(), 8 * (14 + 7));
    let time = bound(read);
    assert!((time - 2.0 * 1.75e-3).abs() < 1e-9, "{time}");
    assert_eq!(with_head("MICRO all_gpus: 4", &layers).unwrap().flows.ranks, 4);
}

#[test]
fn a_forward_pass_is_repeated_from_the_last_checkpoint_on() {
    let layers = [
        "a -1 1000 ALLREDUCE 800 10 NONE 0 1 NONE 0 1",
        "b -1 2000 ALLREDUCE 1600 20 NONE 0 2 NONE 0 1",
        "c -1 4000 ALLREDUCE 3200 40 ALLREDUCE 6400 4 NONE 0 1",
    ];
    let steps = |checkpoints: &str| {
        let head = HEAD.replace("checkpoints: 0 checkpoint_initiates: 0", checkpoints);
        let read = with_head(&head, &layers).unwrap();
        // The bytes of the first rank's messages in the order of the pass, without the second step of an all-reduce.
        let flows = read.flows.flows.iter().filter(|flow| flow.src.0 == 0);
        flows.map(|flow| flow.bytes).step_by(2).collect::<Vec<_>>()
    };
    assert_eq!(steps("checkpoints: 0 checkpoint_initiates: 0"), [400, 800, 1600, 3200]);
    assert_eq!(steps("checkpoints: 1 0 checkpoint_initiates: 1 2"), [400, 800, 1600, 400, 800, 3200]);
    assert_eq!(steps("checkpoints: 2 0 1 checkpoint_initiates: 2 2 1"), [400, 800, 1600, 800, 3200]);
    assert_eq!(steps("checkpoints: 1 0 checkpoint_initiates: 1 1"), [400, 800, 1600, 3200, 400]);
    // The work grows with the layers that are repeated, and is limited.
    let count = 6_000;
    let numbers = (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let text = format!(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 checkpoint_initiates: {count} {numbers}\n\
         {count}\n{}",
        "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n".repeat(count)
    );
    let error = read_simai(text.as_bytes(), 8).unwrap_err().to_string();
    let expected =
        "line 1: with the layers that it repeats, the workload has 18015000 parts; expected at most 10000000";
    assert_eq!(error, expected);
}

#[test]
fn errors_name_their_line() {
    let layer = "a -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1";
    for (text, message) in [
        (String::new(), "the file is empty"),
        (
            "MODEL\n1\n".to_owned(),
            "line 1: the workload is `MODEL`; expected `HYBRID_TRANSFORMER`, `HYBRID_TRANSFORMER_FWD_IN_BCKWD`, `DATA` or `MICRO`",
        ),
        (HEAD.replace("ep: 2", "ep: x"), "line 1: ep: `x` is not a whole number"),
        (
            HEAD.replace("ep: 2", "ep: 99999999999999999999"),
            "line 1: ep: `99999999999999999999` is too large",
        ),
        (
            HEAD.replace("ep: 2", "ep: 3"),
            "line 1: 8 GPUs cannot be divided by 2 tensor ranks x 3 of experts x 1 stages",
        ),
        (
            HEAD.replace("all_gpus: 8", "").replace("ep: 2", "ep: 3"),
            "line 1: 8 GPUs cannot be divided by 2 tensor ranks x 3 of experts x 1 stages; the file has no `all_gpus`: set \
             `ranks` to a multiple of 6",
        ),
        ("MICRO ep: 2\n1\n".to_owned(), "line 1: `ep:` is unknown; expected `all_gpus:`"),
        (
            HEAD.replace("all_gpus: 8", "all_gpus: 40000000"),
            "line 1: `all_gpus` is 40000000; expected 1 to 10000000",
        ),
        (
            HEAD.replace("checkpoints: 0", "checkpoints: 3 0 1"),
            "line 1: checkpoints: `checkpoint_initiates:` is not",
        ),
        (
            HEAD.replace("initiates: 0", "initiates: 1 0") + &format!("\n1\n{layer}"),
            "line 1: `checkpoint_initiates` has layer 0, and none up to it is in `checkpoints`",
        ),
        (
            HEAD.replace("checkpoints: 0", "checkpoints: 2 0 7") + &format!("\n1\n{layer}"),
            "line 1: `checkpoints` has layer 7; expected numbers from 0, below 1",
        ),
        (
            HEAD.replace("_FWD_IN_BCKWD", "").replace("initiates: 0", "initiates: 1 0"),
            "line 1: `checkpoint_initiates` repeats forward passes, which `HYBRID_TRANSFORMER` has not",
        ),
        (HEAD.replace("vpp", "np"), "line 1: `np:` is unknown; expected `model_parallel_NPU_group:`"),
        (HEAD.to_owned(), "line 1: the file ends here; expected the number of layers"),
        (format!("{HEAD}\n2\n{layer}"), "line 3: the file ends here; expected 2 layers after 1"),
        (format!("{HEAD}\n1\n{layer}\n\n{layer}"), "line 5: there are more lines than 1 layer"),
        (format!("{HEAD}\n1\na -1 1"), "line 3: a layer has 12 words, and here are 3: name, dependency"),
        (
            format!("{HEAD}\n1\n{layer} 5"),
            "line 3: a layer has 12 words, and here are more: name, dependency",
        ),
        (
            format!("{HEAD}\n1\n{}", layer.replace("ALLREDUCE", "GATHER")),
            "line 3: the collective `GATHER` is unknown; expected NONE",
        ),
        (
            format!("{HEAD}\n1\n{}", layer.replace('8', "-8")),
            "line 3: forward bytes: `-8` is not a whole number",
        ),
        (
            HEAD.replace("all_gpus: 8", "all_gpus: 8000") + "\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 80000 1",
            "line 3: with this layer, the workload has 63984000 flows; a run can have at most 10000000",
        ),
    ] {
        let error = read_simai(text.as_bytes(), 8).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}, not {message}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_workload_makes_it_panic(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let layer = "a -1 5 ALLREDUCE_EP 80 1 ALLTOALL 7 1 REDUCESCATTER_DP_EP 800 100";
        let mut text = format!("{HEAD}\n2\n{layer}\n{layer}\n").into_bytes();
        let (at, length) = (at % text.len(), text.len());
        text[at] = byte;
        text.truncate(cut % (2 * length));
        if let Ok(read) = read_simai(&text, 8) {
            let mut program = read.flows;
            program.settle().expect("no circle");
        }
    }
}
