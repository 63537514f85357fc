//! Tests of the binary form, with an encoder of their own.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::schedule::{ANY, Block, Schedule, What};
use super::super::{read_goal, text};
use crate::processor::Processor;
use crate::program::Program;

/// The binary form of a schedule, written from the description of LogGOPSim's `Parser.hpp`.
fn encode(schedule: &Schedule<'_>) -> Vec<u8> {
    let mut file = 4223_u64.to_le_bytes().to_vec();
    let base = file.len();
    file.extend(schedule.ranks.to_le_bytes());
    let all = || schedule.blocks.values().flat_map(|block| &block.operations);
    file.push(all().map(|operation| operation.cpu).max().unwrap_or_default());
    file.push(all().map(|operation| operation.nic).max().unwrap_or_default());
    let table = file.len();
    file.resize(table + 16 * schedule.ranks as usize, 0);
    let none = Block::default();
    for rank in 0..schedule.ranks {
        let Block { operations, requirements } = schedule.blocks.get(&rank).unwrap_or(&none);
        let start = file.len() - base;
        let count = |index: u32| requirements.iter().filter(|(waiting, ..)| *waiting == index).count() as u32;
        let roots: Vec<u32> = (0..operations.len() as u32).filter(|index| count(*index) == 0).collect();
        file.extend((operations.len() as u32).to_le_bytes());
        file.extend((roots.len() as u32).to_le_bytes());
        roots.iter().for_each(|root| file.extend(root.to_le_bytes()));
        let mut appendix: Vec<u32> = Vec::new();
        for (index, operation) in (0..).zip(operations) {
            let (kind, peer, size, tag) = match operation.what {
                What::Send { to, bytes, tag } => (1, to, bytes, tag),
                What::Receive { from, bytes, tag } => (2, from.unwrap_or(ANY), bytes, tag.unwrap_or(ANY)),
                What::Calc(took) => (3, 0, took.ps() / 1_000, 0),
                What::Mark => (1, 9_999_999, 0, 0),
            };
            file.extend(count(index).to_le_bytes());
            file.push(kind);
            file.extend(peer.to_le_bytes());
            file.extend(size.to_le_bytes());
            file.extend(tag.to_le_bytes());
            file.extend([operation.cpu, operation.nic]);
            for is_start in [false, true] {
                let of = requirements.iter().filter(|(_, on, start)| (*on, *start) == (index, is_start));
                let of: Vec<u32> = of.map(|(waiting, ..)| *waiting).collect();
                file.extend((of.len() as u32).to_le_bytes());
                file.extend((appendix.len() as u32).to_le_bytes());
                appendix.extend(of);
            }
        }
        appendix.iter().for_each(|waiting| file.extend(waiting.to_le_bytes()));
        let end = file.len() - base;
        let row = table + 16 * rank as usize;
        file[row..row + 8].copy_from_slice(&(start as u64).to_le_bytes());
        file[row + 8..row + 16].copy_from_slice(&(end as u64).to_le_bytes());
    }
    file
}

fn binary(text: &str) -> Vec<u8> {
    encode(&text::read(text).unwrap())
}

const BOTH: &str = "num_ranks 3\nrank 1 { r: recv 9b from -1 tag 3 q: recv 9b from -1 tag 3 q requires r c: calc 4 cpu 2\n\
    d: calc 5 cpu 2 d irequires c }\nrank 0 { l: send 0b to 1 tag 3 nic 4 m: send 8b to 2 nic 4 m irequires l }\n\
    rank 2 { a: recv 8b from 0 b: calc 100 b requires a s: send 9b to 1 tag 3 s requires b s irequires a }";

#[test]
fn both_forms_of_a_file_are_the_same_program() {
    let file = binary(BOTH);
    assert_eq!(file[..14], [0x7f, 0x10, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 4]);
    assert_eq!(read_goal(&file), read_goal(BOTH.as_bytes()));
    let Program { processors, kinds, .. } = read_goal(&file).unwrap();
    assert_eq!(
        (processors, kinds),
        (3, BTreeMap::from([(0, Processor::Interface)])),
        "two with calculations"
    );
    let unordered = "num_ranks 2 rank 0 { a: calc 5 b: calc 6 c: calc 7 c requires b b requires a c requires a } rank 1 { }";
    assert_eq!(read_goal(&binary(unordered)), read_goal(unordered.as_bytes()));
}

#[test]
fn a_bad_binary_file_is_refused_with_its_operation() {
    let good = "num_ranks 2 rank 0 { a: send 5b to 1 b: calc 5 b requires a } rank 1 { recv 5b from 0 }";
    // The blocks begin after the head and the table of two ranks; the operations of rank 0 after 12 bytes of its block.
    let first = 8 + 6 + 32 + 12;
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = binary(good);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read_goal(&file).unwrap_err().to_string()
    };
    for (at, bytes, message) in [
        (
            0,
            &2342_u64.to_le_bytes()[..],
            "a run of LogGOPSim with `--save-mem` has used this file up; make it again with `txt2bin`",
        ),
        (8, &[255; 4], "the file ends before its table of ranks does"),
        (
            14,
            &[255; 8],
            "rank 0: its block, bytes 18446744073709551615 to 132, is not in the file of 183 bytes",
        ),
        (8 + 6 + 32, &[255; 4], "rank 0: its block ends before the last of its operations"),
        (8 + 6 + 32 + 4, &[255; 4], "rank 0: its block ends before the last of its operations"),
        (first, &[1], "operation 1 of rank 0: it states 1 requirement; the others name 0"),
        (
            first + 4,
            &[4],
            "operation 1 of rank 0: type 4 is not known; expected 1 (send), 2 (recv) or 3 (calc)",
        ),
        (first + 5, &[0], "operation 1 of rank 0: rank 0 sends to itself"),
        (first + 5, &[7], "operation 1 of rank 0: there is no rank 7; `num_ranks` is 2"),
        (first + 5, &[255; 4], "operation 1 of rank 0: a send to any rank; expected one rank"),
        (
            first + 9,
            &[6],
            "operation 1 of rank 0: this message from rank 0 to rank 1 with tag 0 has 6 bytes; the receive in \
            operation 1 of rank 1 takes 5",
        ),
        (first + 17, &[255; 4], "operation 1 of rank 0: a send with any tag; expected one tag"),
        (
            first + 23,
            &[255; 4],
            "operation 1 of rank 0: the operations that require it are not in the rank's block",
        ),
        (
            first + 39 + 9,
            &[255; 8],
            "operation 2 of rank 0: calc: `18446744073709551615` is too large; expected at most \
            18446744073709551",
        ),
        (
            first + 2 * 39,
            &[9],
            "operation 1 of rank 0: operation 10 requires it, and rank 0 has 2 operations",
        ),
        (first + 2 * 39, &[0], "operation 1 of rank 0: it states 0 requirements; the others name 1"),
    ] {
        assert_eq!(changed(at, bytes), message, "byte {at}");
    }
    let file = binary(good);
    for end in 8..file.len() {
        read_goal(&file[..end]).unwrap_err();
    }
    let circle = binary("num_ranks 1 rank 0 { a: calc 5 b: calc 6 a requires b b requires a }");
    assert_eq!(
        read_goal(&circle).unwrap_err().to_string(),
        "operation 1 of rank 0: operations wait for each other in a circle: calc of rank 0 (operation 1) waits for calc of \
         rank 0 (operation 2), which waits for calc of rank 0 (operation 1)"
    );
}

proptest! {
    #[test]
    fn no_change_of_a_binary_file_makes_it_panic(changes in proptest::collection::vec((8..300_usize, 0..=255_u8), 1..5)) {
        let mut file = binary(BOTH);
        for (at, byte) in changes {
            if let Some(changed) = file.get_mut(at) {
                *changed = byte;
            }
        }
        let _ = read_goal(&file);
    }
}
