//! Tests of [`read_goal`].

mod binary;

use proptest::prelude::*;
use weft_units::Duration;

use super::*;
use crate::dependencies::{Node, StepKind};

#[test]
fn a_chain_of_operations_becomes_flows_that_wait() {
    let text = "num_ranks 2 // two\nrank 0 {\n l1: send 10b to 1 tag 0\n /* waits */ l2: calc 100 cpu 0\n\
        l2 requires l1\n l3: send 0 b to 1 tag 4 nic 1\n l3 requires l2 }\nrank 1 {\n\
        a: recv 10b from 0 tag 0\n b: recv 0b from 0 tag 4\n b requires a\n}\n";
    let mut program = read_goal(text.as_bytes()).unwrap();
    assert_eq!(program.flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [10, 1]);
    program.settle().unwrap();
    let spell = |node| match node {
        Node::Flow(flow) => format!("f{flow}"),
        Node::Step(step) => format!("s{step}"),
    };
    let needs = program.needs.iter().map(|need| {
        format!("{} {} {:?} {}", spell(need.waiting), spell(need.on), need.at, need.delay.ps() / 1_000)
    });
    let expected = [
        "s0 f0 Acknowledged 0",
        "f1 s0 Started 100",
        "s2 s1 Started 0",
        "s1 f0 Received 0",
        "s2 f1 Received 0",
    ];
    assert_eq!(needs.collect::<Vec<_>>(), expected);
}

#[test]
fn what_irequires_an_operation_waits_for_its_start_only() {
    let text = "num_ranks 2 rank 0 { a: recv 5b from 1 b: calc 7 b irequires a c: send 5b to 1 c requires b } \
        rank 1 { s: send 5b to 0 r: recv 5b from 0 }";
    let mut program = read_goal(text.as_bytes()).unwrap();
    program.settle().unwrap();
    // Nothing holds up the calculation: the flow starts after it.
    let waits = |node| program.needs.iter().filter(|need| need.waiting == node).collect::<Vec<_>>();
    let [need] = waits(Node::Flow(0))[..] else { panic!("{program:?}") };
    assert_eq!(need.delay, Duration::from_ns(7));
    assert!(waits(need.on).is_empty() && waits(Node::Flow(1)).is_empty(), "{program:?}");
}

/// The dependencies, with steps that wait for nothing replaced by start times.
fn needs(text: &str) -> Vec<String> {
    let mut program = read_goal(text.as_bytes()).unwrap();
    program.settle().unwrap();
    let spell = |node| match node {
        Node::Flow(flow) => format!("f{flow}"),
        Node::Step(step) => format!("s{step}"),
    };
    let needs = program.needs.iter();
    needs.map(|need| format!("{} {} {:?}", spell(need.waiting), spell(need.on), need.at)).collect()
}

#[test]
fn a_receive_may_be_larger_than_its_message() {
    let text = "num_ranks 2 rank 0 { send 100b to 1 tag 5 } rank 1 { recv 200b from 0 tag 5 }";
    assert_eq!(read_goal(text.as_bytes()).unwrap().flows[0].bytes, 100);
}

#[test]
fn a_receive_from_any_rank_or_with_any_tag_takes_the_only_message_left_for_it() {
    for from in ["from -1 tag 5", "from -1 tag -1", "from 0 tag -1"] {
        let text = format!(
            "num_ranks 2 rank 0 {{ send 100b to 1 tag 5 }} rank 1 {{ l1: recv 100b {from} l2: calc 9 l2 requires l1 }}"
        );
        assert_eq!(needs(&text), ["s1 s0 Started", "s0 f0 Received"], "{from}");
    }
    // The first receive is posted before the second, which may take any message.
    let text = "num_ranks 3 rank 0 { send 1b to 2 tag 5 } rank 1 { send 1b to 2 tag 5 }\n\
        rank 2 { a: recv 1b from 1 tag 5 b: recv 1b from -1 tag 5 b requires a }";
    assert_eq!(needs(text), ["s1 s0 Started", "s0 f1 Received", "s1 f0 Received"]);
    // Messages of one rank arrive in the order in which it sends them.
    let text = "num_ranks 2 rank 0 { a: send 1b to 1 tag 7 b: send 1b to 1 tag 5 b requires a }\n\
        rank 1 { recv 1b from 0 tag -1 recv 1b from 0 tag -1 }";
    assert_eq!(needs(text), ["f1 f0 Acknowledged", "s0 f0 Received", "s1 f1 Received"]);
}

#[test]
fn a_send_of_no_bytes_to_a_mark_is_no_message() {
    for mark in ["9999999", "999999999"] {
        let text = format!(
            "num_ranks 2 rank 0 {{ a: send 5b to 1 b: send 0b to {mark} b requires a c: calc 7 c requires b }}\n\
             rank 1 {{ recv 5b from 0 }}"
        );
        let program = read_goal(text.as_bytes()).unwrap();
        assert_eq!((program.flows.len(), program.flows[0].bytes), (1, 5));
        assert_eq!(needs(&text), ["s0 f0 Acknowledged", "s1 s0 Started", "s2 f0 Received"]);
        let error = read_goal(text.replace("0b", "1b").as_bytes()).unwrap_err().to_string();
        assert_eq!(error, format!("line 1: there is no rank {mark}; `num_ranks` is 2"));
    }
}

#[test]
fn receives_that_accept_all_messages_take_them_in_the_order_of_arrival() {
    let text = "num_ranks 3 rank 0 { send 1b to 2 } rank 1 { send 1b to 2 }\n\
        rank 2 { b: recv 1b from -1 a: recv 1b from -1 b requires a }";
    // Steps 0 and 1 are the receives, 2 is the arrival of a message, 3 and 4 are the arrivals that the receives take.
    let expected = [
        "s0 s1 Started",
        "s2 f0 Received",
        "s2 f1 Received",
        "s3 s2 Started",
        "s1 s3 Started",
        "s4 s2 Started",
        "s0 s4 Started",
    ];
    assert_eq!(needs(text), expected);
    let program = read_goal(text.as_bytes()).unwrap();
    let kinds: Vec<_> = program.steps.iter().map(|step| step.kind == StepKind::Each).collect();
    assert_eq!(kinds, [false, false, true, false, false]);
}

#[test]
fn a_match_that_depends_on_the_time_is_refused() {
    let three = |block: &str| {
        format!(
            "num_ranks 3\nrank 0 {{ send 1b to 2 tag 5 }}\nrank 1 {{ send 1b to 2 tag 5 }}\nrank 2 {{\n{block}\n}}\n"
        )
    };
    for (text, message) in [
        (
            three("a: recv 1b from -1 tag 5\nb: recv 1b from 1 tag 5\nb requires a"),
            "line 5: whether this receive takes the message of rank 0 (line 2) or of rank 1 (line 3) depends on \
             the time, and the receive on line 6 does not accept all that are left; give the source or the tag",
        ),
        (
            three("c: calc 5\nd: calc 5\na: recv 1b from -1 tag 5\nb: recv 1b from -1 tag 5\na requires c\nb requires d"),
            "line 8: whether this receive or the one on line 7 is posted first depends on the time, and both \
             accept a message from any rank or with any tag; let one require the other",
        ),
        (
            three("a: recv 1b from -1 tag 5\nb: recv 1b from -1 tag 5\nc: recv 1b from -1 tag 5"),
            "line 7: nobody sends this message from any rank to rank 2 with tag 5",
        ),
        (
            three("a: recv 1b from -1 tag 5"),
            "line 3: nobody receives this message from rank 1 to rank 2 with tag 5",
        ),
        (
            three("a: recv 0b from -1 tag 5\nb: recv 1b from -1 tag 5"),
            "line 3: this message from rank 1 to rank 2 with tag 5 has 1 byte; the receive on line 5 takes 0",
        ),
        (
            "num_ranks 2\nrank 0 { c: calc 1 d: calc 1\na: send 1b to 1 tag 7\nb: send 1b to 1 tag 5\n\
             a requires c b requires d }\nrank 1 { recv 1b from 0 tag -1 recv 1b from 0 tag -1 }"
                .to_owned(),
            "line 4: whether this message or the one on line 3 is sent first depends on the time, and a receive of \
             rank 1 accepts any tag; let one require the other",
        ),
        (
            "num_ranks 3\nrank 0 { r: recv 1b from 2 s: send 1b to 2 s requires r }\nrank 1 { send 1b to 2 }\n\
             rank 2 { a: recv 1b from -1 b: recv 1b from -1 b requires a\nd: send 1b to 0 d requires b }"
                .to_owned(),
            "line 2: this message is never sent: its requirements wait for messages that are sent only after it",
        ),
    ] {
        assert_eq!(read_goal(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn messages_of_a_channel_match_in_the_order_of_their_requirements() {
    let text = "num_ranks 2 rank 0 { b: send 2b to 1 a: send 1b to 1 b requires a }\n\
        rank 1 { recv 1b from 0 recv 2b from 0 }";
    assert_eq!(needs(text), ["f0 f1 Acknowledged", "s0 f1 Received", "s1 f0 Received"]);
}

/// If the work grew with the square of the lines, these files would take minutes.
#[test]
fn the_work_on_a_file_grows_with_its_size() {
    let (ranks, all) = (20_000, 1..=20_000);
    let rank = |number: u32, block: String| format!("rank {number} {{ {block} }}\n");
    let file = |zero: String, other: &dyn Fn(u32) -> String| -> String {
        let others: String = all.clone().map(|number| rank(number, other(number))).collect();
        format!("num_ranks {}\n{}{others}", ranks + 1, rank(0, zero))
    };
    let two = |to: &str| format!("send 1b to {to} tag 1\nsend 1b to {to} tag 2\n");
    // A rank receives with any tag from each of the others.
    let any = |number: u32| format!("recv 1b from {number} tag -1\n").repeat(2);
    let many = file(all.clone().map(any).collect(), &|_| two("0"));
    // A rank sends with two tags to each of the others.
    let sent = file(all.clone().map(|number| two(&number.to_string())).collect(), &|_| any(0));
    // One group, in which each receive takes the last of the messages.
    let last = all.clone().rev().map(any).collect::<String>() + "recv 1b from -1 tag 3\n";
    let group = file(last, &|number| two("0") + if number == 1 { "send 1b to 0 tag 3\n" } else { "" });
    // Every receive accepts every message.
    let arrival = file("recv 1b from -1 tag -1\n".repeat(2 * ranks), &|number| {
        format!("send 1b to 0 tag {number}\n").repeat(2)
    });
    for (text, flows) in [(many, 2), (sent, 2), (group, 2), (arrival, 2)] {
        let read = read_goal(text.as_bytes()).unwrap();
        assert_eq!(read.flows.len() / ranks, flows);
    }
}

/// The processors of a program, and the steps of each, with how long they take in nanoseconds.
fn works(text: &str) -> Vec<(u32, u64)> {
    let program = read_goal(text.as_bytes()).unwrap();
    let kinds = program.steps.iter().map(|step| step.kind);
    let works = kinds.filter_map(|kind| match kind {
        StepKind::Work { processor, takes } => Some((processor, takes.ps() / 1_000)),
        StepKind::All | StepKind::Each => None,
    });
    works.collect()
}

#[test]
fn calculations_of_one_cpu_have_a_queue() {
    let block = "a: calc 5\nb: calc 6\nc: calc 7\nd: send 1b to 1\nb requires a";
    let two = format!("num_ranks 2 rank 0 {{ {block} }} rank 1 {{ recv 1b from 0 calc 9 }}");
    assert_eq!(works(&two), [(0, 5), (0, 6), (0, 7), (1, 9)]);
    let cpus = "num_ranks 1 rank 0 { a: calc 5 cpu 1 b: calc 6 cpu 2 c: calc 7 cpu 1 d: calc 8 }";
    assert_eq!(works(cpus), [(1, 5), (2, 6), (1, 7), (0, 8)], "processors in the order of their numbers");
}

#[test]
fn sends_of_one_nic_have_a_queue_unless_they_follow_each_other() {
    let of = |nics: [u32; 2], order: &str| {
        let [first, second] = nics;
        let text = format!(
            "num_ranks 2 rank 0 {{ a: send 5b to 1 nic {first} b: send 6b to 1 nic {second} {order} }} \
             rank 1 {{ recv 5b from 0 recv 6b from 0 }}"
        );
        let program = read_goal(text.as_bytes()).unwrap();
        (program.processors, program.sends)
    };
    // The steps of the receives come after those of the sends.
    assert_eq!(of([0, 0], ""), (1, vec![(0, 0), (1, 1)]));
    assert_eq!(of([0, 1], ""), (0, vec![]));
    assert_eq!(of([7, 7], "b requires a"), (0, vec![]));
    assert_eq!(of([7, 7], "b irequires a"), (1, vec![(0, 0), (1, 1)]));
}

#[test]
fn a_bad_line_is_refused_with_its_number() {
    let two = |block: &str| format!("num_ranks 2\nrank 0 {{\n{block}\n}}\n");
    for (text, message) in [
        ("", "the file is empty; expected `num_ranks N` and a block `rank R { ... }` for each"),
        ("ranks 2", "line 1: `ranks` is not expected here; expected `num_ranks`"),
        ("num_ranks x", "line 1: num_ranks: `x` is not a whole number"),
        ("num_ranks 2\nrank 2 { }", "line 2: there is no rank 2; `num_ranks` is 2"),
        ("num_ranks 2\nrank 0 {\n", "line 2: the file ends here; expected `}`"),
        ("num_ranks 2 rank 0 { } rank 0 { }", "line 1: rank 0 is described twice, first on line 1"),
        ("num_ranks 2 /* no\nend", "line 1: this comment has no end"),
        (&two("a: wait 5"), "line 3: `wait` is not known; expected send, recv or calc"),
        (&two("send 5b to 0"), "line 3: rank 0 sends to itself"),
        (&two("send 5b to 7"), "line 3: there is no rank 7; `num_ranks` is 2"),
        (&two("send 5 to 1"), "line 3: size: the unit is missing; expected `5b`"),
        (
            &two("send 18446744073709551616b to 1"),
            "line 3: size: `18446744073709551616` is too large; expected at most 18446744073709551615",
        ),
        (
            &two("calc 18446744073709551615"),
            "line 3: calc: `18446744073709551615` is too large; expected at most 18446744073709551",
        ),
        (&two("a: calc 5\na: calc 6"), "line 4: the label `a` is given twice in rank 0"),
        (&two("a: calc 5\na requires b"), "line 4: rank 0 has no label `b` up to here"),
        (&two("send 5b to 1 tag 3"), "line 3: nobody receives this message from rank 0 to rank 1 with tag 3"),
        (&two("recv 5b from 1"), "line 3: nobody sends this message from rank 1 to rank 0 with tag 0"),
        (
            &two("a: calc 5\nb: calc 6\na requires b\nb requires a"),
            "line 3: operations wait for each other in a circle: calc `a` of rank 0 (line 3) waits for calc `b` of \
             rank 0 (line 4), which waits for calc `a` of rank 0 (line 3)",
        ),
        (
            "num_ranks 2 rank 0 { a: recv 5b from 1\na irequires a }\nrank 1 { send 5b to 0 }",
            "line 1: operations wait for each other in a circle: recv `a` of rank 0 (line 1) waits for recv `a` of \
             rank 0 (line 1)",
        ),
        (
            "num_ranks 2 rank 0 { r: recv 5b from 1 s: send 5b to 1 s requires r }\n\
             rank 1 { r: recv 5b from 0\ns: send 5b to 0 s requires r }",
            "line 1: operations wait for each other in a circle: send `s` of rank 0 (line 1) waits for recv `r` of \
             rank 0 (line 1), which waits for send `s` of rank 1 (line 3), which waits for recv `r` of rank 1 (line \
             2), which waits for send `s` of rank 0 (line 1)",
        ),
        (
            "num_ranks 2 rank 0 { send 7b to 1 }\nrank 1 { recv 6b from 0 }",
            "line 1: this message from rank 0 to rank 1 with tag 0 has 7 bytes; the receive on line 2 takes 6",
        ),
        (&two("send 5b to -1"), "line 3: a send to any rank; expected one rank"),
        (&two("send 5b to 1 tag -1"), "line 3: a send with any tag; expected one tag"),
        (&two("send 5b to -2"), "line 3: to: `-2` is not a whole number"),
        (
            &two("recv 5b from 1 tag 4294967295"),
            "line 3: tag: 4294967295 is too large; expected at most 4294967294",
        ),
        (&two("calc 5 cpu 256"), "line 3: cpu: 256 is too large; expected at most 255"),
        (
            &two("recv 5b from -1 tag -1"),
            "line 3: nobody sends this message from any rank to rank 0 with any tag",
        ),
    ] {
        assert_eq!(read_goal(text.as_bytes()).unwrap_err().to_string(), message, "{text:?}");
    }
    let other = read_goal(b"\0\x02").unwrap_err().to_string();
    assert!(other.starts_with("this is neither the text form of GOAL nor the binary one"), "{other}");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        text in "num_ranks 3 (rank [0-3] \\{( (a|b|c)(:| requires| irequires) (a|b|send|recv|calc)( [0-9]b?)?( to| from)?( [0-2])?){0,6} \\}? ?){0,3}"
    ) {
        let _ = read_goal(text.as_bytes());
    }
}
