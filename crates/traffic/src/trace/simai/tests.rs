//! Tests of [`read_simai`].

use super::*;
use crate::bound::Bound;
use crate::connections::Reuse;
use crate::places::tests::spine_leaf;
use proptest::prelude::*;

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 \
                    checkpoints: 0 checkpoint_initiates: 0";

fn read(layers: &[&str]) -> Result<Read<Program>, TraceError> {
    read_simai(format!("{HEAD}\n{}\n{}\n", layers.len(), layers.join("\n")).as_bytes())
}

#[test]
fn each_collective_is_among_the_ranks_of_its_group() {
    let of = |word: &str, is_weights: bool| {
        let layer = match is_weights {
            false => format!("a -1 5 {word} 800 1 NONE 0 1 NONE 0 100"),
            true => format!("a\t-1\t5\tNONE\t0\t1\tNONE\t0\t1\t{word}\t800\t100"),
        };
        let flows = read(&[&layer]).unwrap().flows.flows;
        let mut ends: Vec<(u32, u32, u64)> =
            flows.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes)).collect();
        ends.sort_unstable();
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
    let program = super::read_simai(format!("{HEAD}\n2\n{}", twice.join("\n")).as_bytes()).unwrap().flows;
    let bound = Bound::of(&program, &spine_leaf(2, 2, 4), Reuse::PerMessage).time.as_secs_f64();
    // Together, both send 2.5 times as much as one of two ranks.
    assert!((bound - 2.5e-3).abs() < 1e-9, "{bound}");
}

#[test]
fn a_workload_is_told_from_a_list_of_flows_and_says_what_is_ignored() {
    assert!(is_simai(b"\xef\xbb\xbf HYBRID") && !is_simai(b"3\n0 1 3 100 5 0.1") && !is_simai(b""));
    let text = HEAD.replace("pp: 1", "pp: 2").replace("ep: 2", "ep: 1")
        + " pp_comm 4096\n1\na -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1";
    let read = read_simai(text.as_bytes()).unwrap();
    assert_eq!(
        read.ignored,
        ["messages between stages (`pp_comm`) are ignored: SimAI adds their time at the end"]
    );
    assert_eq!(read.flows.flows.len(), 16);
    // Ranks of one are no group, and no bytes are no messages.
    let none = "a -1 1 REDUCESCATTER 0 1 NONE 0 1 NONE 0 1";
    assert!(super::read_simai(format!("{HEAD}\n1\n{none}").as_bytes()).unwrap().flows.flows.is_empty());
}

#[test]
fn errors_name_their_line() {
    let layer = "a -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1";
    for (text, message) in [
        (String::new(), "the file is empty"),
        (
            "MICRO\n1\n".to_owned(),
            "line 1: the workload is `MICRO`; expected `HYBRID_TRANSFORMER` or `HYBRID_TRANSFORMER_FWD_IN_BCKWD`",
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
        (HEAD.replace("all_gpus: 8", ""), "line 1: `all_gpus: N` is missing"),
        (
            HEAD.replace("all_gpus: 8", "all_gpus: 40000000"),
            "line 1: `all_gpus` is 40000000; expected 1 to 10000000",
        ),
        (
            HEAD.replace("checkpoints: 0", "checkpoints: 2 0 1"),
            "line 1: `checkpoints` repeats forward passes",
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
            format!("{HEAD}\n1\n{}", layer.replace("ALLREDUCE", "BROADCAST")),
            "line 3: the collective `BROADCAST` is unknown; expected NONE",
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
        let error = read_simai(text.as_bytes()).unwrap_err().to_string();
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
        if let Ok(read) = read_simai(&text) {
            let mut program = read.flows;
            program.settle().expect("no circle");
        }
    }
}
