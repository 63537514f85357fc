//! Tests of [`read_htsim`].

use super::*;
use weft_units::Duration;

use crate::dependencies::{Need, Node, StepKind};
use proptest::prelude::*;

fn need(waiting: u32, on: u32, at: Point) -> Need {
    Need { waiting: Node::Flow(waiting), on: Node::Flow(on), at, delay: Duration::ZERO }
}

#[test]
fn connections_and_their_triggers_are_read() {
    let text = "Nodes 8\nConnections 5\nTriggers 2\n# a comment\n\
        0->1 id 1 start 2.5e3 size 100 prio 7 recv_done_trigger 1\n\
        2->3 id 2 start 0 size 200 send_done_trigger 1\n\
        4->5 id 3 trigger 1 size 300 send_done_trigger 2\n\
        6->7 id 4 trigger 1 size 5\ntrigger id 1 barrier count 2\n\
        7->6 id 5 trigger 2 size 18446744073709551615\ntrigger id 2 oneshot\n";
    let (Read { flows: program, ignored }, failures) = read_htsim(text.as_bytes()).unwrap();
    assert_eq!(ignored, ["`prio` of the connections is ignored"]);
    let starts: Vec<u64> = program.flows.iter().map(|flow| flow.start.ps()).collect();
    assert_eq!((program.ranks, starts, failures), (8, vec![2_500, 0, 0, 0, 0], vec![]));
    let expected = [
        need(2, 0, Point::Received),
        need(2, 1, Point::Acknowledged),
        need(3, 0, Point::Received),
        need(3, 1, Point::Acknowledged),
        need(4, 2, Point::Acknowledged),
    ];
    assert_eq!(program.needs, expected);
}

#[test]
fn each_activation_of_a_multishot_trigger_starts_one_connection() {
    let text = "Nodes 3\nConnections 4\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n\
        0->2 start 0 size 1 send_done_trigger 1\n0->1 trigger 1 size 2\n0->2 trigger 1 size 3\n\
        trigger id 1 multishot\n";
    let program = read_htsim(text.as_bytes()).unwrap().0.flows;
    assert_eq!(program.steps.iter().map(|step| step.kind).collect::<Vec<_>>(), [StepKind::Each]);
    assert_eq!(program.needs.len(), 4);
}

#[test]
fn a_large_barrier_needs_a_step_for_each_node_instead_of_all_pairs() {
    let on = "0->1 start 0 size 1 recv_done_trigger 1\n".repeat(100);
    let starts = "2->1 trigger 1 size 1\n3->1 trigger 1 size 1\n".repeat(50);
    let head = "Nodes 4\nConnections 200\nTriggers 1\ntrigger id 1 barrier count 100\n";
    let program = read_htsim(format!("{head}{on}{starts}").as_bytes()).unwrap().0.flows;
    assert_eq!(program.steps.iter().map(|step| step.host.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(program.needs.len(), 2 * 100 + 100);
    let on = |waiting| program.needs.iter().filter(move |need| need.waiting == waiting).count();
    assert_eq!([Node::Step(0), Node::Step(1), Node::Flow(100), Node::Flow(101)].map(on), [100, 100, 1, 1]);
}

#[test]
fn a_multishot_trigger_that_is_not_activated_often_enough_is_refused() {
    let two = |first: &str, second: &str, triggers: &str| {
        let count = triggers.lines().count();
        format!(
            "Nodes 3\nConnections 2\nTriggers {count}\n0->1 {first} size 5\n0->2 {second} size 5\n{triggers}"
        )
    };
    let mutual = [
        two("trigger 1 send_done_trigger 1", "trigger 1 send_done_trigger 1", "trigger id 1 multishot\n"),
        two(
            "trigger 1 send_done_trigger 2",
            "trigger 2 send_done_trigger 1",
            "trigger id 1 multishot\ntrigger id 2 oneshot\n",
        ),
    ];
    for (text, stuck, all) in [(&mutual[0], 2, "2 connections"), (&mutual[1], 1, "1 connection")] {
        let message = format!(
            "line 4: trigger 1 never starts {stuck} of its {all}: the connections that activate it wait for each other"
        );
        assert_eq!(read_htsim(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
    }
    // The first activation comes from outside, each further one from the connection before.
    let chain = "Nodes 3\nConnections 3\nTriggers 1\n0->1 start 0 size 5 send_done_trigger 1\n\
        0->2 trigger 1 size 5 send_done_trigger 1\n0->1 trigger 1 size 5 send_done_trigger 1\n\
        trigger id 1 multishot\n";
    assert!(read_htsim(chain.as_bytes()).is_ok());
}

#[test]
fn one_message_of_a_connection_is_a_flow_that_starts_at_a_microsecond() {
    for msg in ["msg", "msg 1"] {
        let text = format!(
            "Nodes 4\r\nConnections 2\r\n0->1 id 1 {msg} start 3 size 40000 # first\r\n\r\n2->3 id 2 start 1 size 5 addon\r\n"
        );
        let (read, _) = read_htsim(text.as_bytes()).unwrap();
        let flows: Vec<_> = read.flows.flows.iter().map(|flow| (flow.start.ps(), flow.bytes)).collect();
        assert_eq!(flows, [(3_000_000, 40_000), (1_000_000, 5)], "{text}");
    }
}

#[test]
fn failures_are_read() {
    for words in ["switch_type AGG switch_id 3 link_id 1", "link_id 1 switch_type AGG switch_id 3"] {
        let text = format!("Nodes 2\nConnections 0\nFailures 1\nfailure {words}\n");
        let expected = Failure { line: 4, tier: "AGG".into(), switch: 3, link: 1 };
        assert_eq!(read_htsim(text.as_bytes()).unwrap().1, [expected]);
    }
}

#[test]
fn a_bad_line_or_count_is_refused_with_its_place() {
    let triggered = |lines: &str| {
        let count = lines.matches("->").count();
        format!("Nodes 4\nConnections {count}\nTriggers 1\n{lines}")
    };
    for (text, message) in [
        (
            "# nothing\n",
            "there is no header; expected `Nodes N`, `Connections N` and one line per connection",
        ),
        ("Nodes 4\nConnections 2\n0->1 start 0 size 1\n", "line 2: there is 1 connection; the header says 2"),
        ("Nodes 4\nConnections 0\ntrigger id 1 oneshot\n", "there is 1 trigger; the header says 0"),
        ("Nodes 4\nConnections 0\nTriggers 3\n", "line 3: there are 0 triggers; the header says 3"),
        ("0->1 start 0 size 1\n", "line 1: a connection before `Nodes N`"),
        (
            "Nodes 4\nConnections 1\n0->4 start 0 size 1\n",
            "line 3: destination: there is no node 4; `Nodes` is 4",
        ),
        (
            "Nodes 4\nConnections 1\n1->1 start 0 size 1\n",
            "line 3: the connection goes from node 1 to itself",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 start 0 size 18446744073709551616\n",
            "line 3: size: `18446744073709551616` is too large; expected at most 18446744073709551615",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 start 18446744073709551616 size 1\n",
            "line 3: start: `18446744073709551616` is too large; expected at most 18446744073709551615",
        ),
        (
            "Nodes 18446744073709551616\n",
            "line 1: Nodes: `18446744073709551616` is too large; expected at most 18446744073709551615",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 start 0\n",
            "line 3: the connection has no size; expected `size` and bytes",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 start 0 size 0\n",
            "line 3: size 0, in htsim a flow without end, is not supported; expected a number of bytes",
        ),
        ("Nodes 4\nConnections 1\n0->1 start 0 size 10MB\n", "line 3: size: `10MB` is not a whole number"),
        ("Nodes 4\nConnections 1\n0->1 start 0 size 5 size 6\n", "line 3: `size` is given twice"),
        (
            "Nodes 4\nConnections 1\n0->1 msg start 0 size 5\n",
            "line 3: `msg` without an id; expected `id` and a number above 0",
        ),
        (
            "Nodes 4\nConnections 2\n0->1 id 1 msg 1 start 0 size 5\n0->1 id 1 msg 2 start 0 size 5\n",
            "line 4: `msg`: several messages on one connection are not supported (id 1, first on line 3); each \
             message needs an id of its own",
        ),
        (
            "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 msg start 0 size 5 send_done_trigger 1\n\
             1->0 id 2 msg trigger 1 size 5\ntrigger id 1 oneshot\n",
            "line 4: `send_done_trigger` in a matrix with `msg` is the moment when uet-htsim has sent the last \
             packet, which is not supported; expected `recv_done_trigger`",
        ),
        (
            "Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 barrier count 0\n",
            "line 4: the barrier 1 has count 0; expected at least 1",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 size 5\n",
            "line 3: neither `start` nor `trigger` is given; expected one of them",
        ),
        (
            "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 5\n0->1 id 1 start 0 size 5\n",
            "line 4: the id 1 is given twice, first on line 3",
        ),
        (
            &triggered("0->1 trigger 1 size 5\ntrigger id 1 oneshot\n"),
            "line 4: trigger 1 is a oneshot trigger, which one connection activates; no connection activates it",
        ),
        (
            &triggered(
                "0->1 start 0 size 5 send_done_trigger 1\n1->0 trigger 1 size 5\ntrigger id 1 barrier count 2\n",
            ),
            "line 4: barrier 1 waits for 2 activations; 1 connection activates it",
        ),
        (
            &triggered("0->1 trigger 1 size 5\n0->1 trigger 1 size 5\ntrigger id 1 multishot\n"),
            "line 4: trigger 1 is a multishot trigger of 2 connections; no connection activates it",
        ),
        (
            "Nodes 4\nConnections 1\n0->1 trigger 9 size 5\n",
            "line 3: trigger 9 is not described; expected a line such as `trigger id 9 oneshot`",
        ),
        (
            "Nodes 4\nConnections 0\ntrigger id 1 barrier\n",
            "line 3: the barrier 1 has no count; expected `count N`",
        ),
        (
            "Nodes 4\nConnections 0\nFailures 1\nfailure switch_type LEAF switch_id 3 link_id 1\n",
            "line 4: expected `failure switch_type TOR|AGG|CORE switch_id N link_id N`",
        ),
    ] {
        assert_eq!(read_htsim(text.as_bytes()).unwrap_err().to_string(), message, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        lines in "(Nodes [0-9]\n)?(Connections [0-3]\n)?(([0-4]->[0-4]|trigger|failure)( (id|start|size|trigger|barrier count|send_done_trigger) [0-9]){0,4}\n){0,4}"
    ) {
        let _ = read_htsim(lines.as_bytes());
    }
}
