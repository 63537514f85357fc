//! Tests of [`read_chakra`], with an encoder of their own.

mod refused;

use weft_units::Duration;

use super::*;
use crate::bound::Bound;
use crate::connections::Reuse;
use crate::dependencies::{Node, Point, StepKind};
use crate::places::tests::spine_leaf;
use crate::processor::Processor;

/// A message of protocol buffers.
#[derive(Clone, Default)]
struct Wire(Vec<u8>);

impl Wire {
    fn varint(mut self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    fn number(self, field: u64, number: u64) -> Self {
        self.varint(field << 3).varint(number)
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut this = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        this.0.extend(bytes);
        this
    }

    /// An attribute of a whole number.
    fn attribute(self, name: &str, number: i64) -> Self {
        let attribute = Self::default().bytes(1, name.as_bytes()).number(9, number as u64);
        self.bytes(10, &attribute.0)
    }

    fn text(self, name: &str, text: &str) -> Self {
        self.bytes(10, &Self::default().bytes(1, name.as_bytes()).bytes(29, text.as_bytes()).0)
    }

    /// Waits for these nodes.
    fn after(self, nodes: &[u64]) -> Self {
        nodes.iter().fold(self, |this, node| this.number(5, *node))
    }
}

/// A node of this type.
fn node(id: u64, kind: u64) -> Wire {
    Wire::default().number(1, id).bytes(2, b"name").number(3, kind)
}

fn compute(id: u64, us: u64) -> Wire {
    node(id, 4).number(7, us)
}

fn send(id: u64, to: i64, bytes: i64) -> Wire {
    node(id, 5).attribute("comm_dst", to).attribute("comm_size", bytes).attribute("comm_tag", 3)
}

fn receive(id: u64, from: i64, bytes: i64) -> Wire {
    node(id, 6).attribute("comm_src", from).attribute("comm_size", bytes).attribute("comm_tag", 3)
}

fn collective(id: u64, kind: i64, bytes: i64) -> Wire {
    node(id, 7).attribute("comm_type", kind).attribute("comm_size", bytes)
}

/// The file of a rank.
fn file(nodes: &[Wire]) -> Vec<u8> {
    file_with(Wire::default().bytes(1, b"0.0.4"), nodes)
}

/// The file of a rank with this head.
fn file_with(head: Wire, nodes: &[Wire]) -> Vec<u8> {
    let messages = std::iter::once(&head).chain(nodes);
    messages
        .flat_map(|message| {
            let mut framed = Wire::default().varint(message.0.len() as u64).0;
            framed.extend(&message.0);
            framed
        })
        .collect()
}

fn read(ranks: &[Vec<Wire>]) -> Result<Read<Program>, TraceError> {
    let files: Vec<Vec<u8>> = ranks.iter().map(|nodes| file(nodes)).collect();
    read_chakra(&files.iter().map(Vec::as_slice).collect::<Vec<_>>(), None)
}

/// Source, destination and bytes of each flow.
fn flows(program: &Program) -> Vec<(u32, u32, u64)> {
    program.flows.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes)).collect()
}

#[test]
fn a_chain_of_messages_waits_for_computations_and_messages() {
    let mut program = read(&[
        vec![compute(1, 5), send(2, 1, 100).number(4, 1), receive(3, 1, 200).after(&[2])],
        vec![receive(1, 0, 100), compute(2, 7).after(&[1]), send(3, 0, 200).after(&[2, 2])],
    ])
    .unwrap()
    .flows;
    program.settle().unwrap();
    assert_eq!(flows(&program), [(0, 1, 100), (1, 0, 200)]);
    // The bound: computations of 5 us and 7 us; 0.8 us and 1.6 us at 1 Gbps, without delays.
    assert_eq!(
        Bound::of(&program, &spine_leaf(1, 2, 1), Reuse::PerMessage).time,
        Duration::from_ps(14_400_000)
    );
}

#[test]
fn collectives_of_all_ranks_become_flows_of_their_algorithm() {
    let of = |kind: i64, bytes: i64, ranks: usize| {
        flows(&read(&vec![vec![collective(9, kind, bytes)]; ranks]).unwrap().flows)
    };
    let count = |kind, bytes| of(kind, bytes, 4).len();
    assert_eq!([0, 2, 6, 7, 8].map(|kind| count(kind, 4_000)), [24, 12, 12, 12, 12]);
    assert!(of(0, 4_000, 4).iter().all(|(_, _, bytes)| *bytes == 1_000));
    assert_eq!(of(2, 4_000, 2), [(0, 1, 4_000), (1, 0, 4_000)], "an all-gather names the bytes of each rank");
    assert_eq!(of(7, 4_000, 2), [(0, 1, 2_000), (1, 0, 2_000)]);
    assert_eq!(of(6, 9, 3), [(0, 1, 3), (0, 2, 3), (1, 2, 3), (1, 0, 3), (2, 0, 3), (2, 1, 3)]);
    assert_eq!(of(3, 5, 3), [(1, 0, 5), (2, 0, 5)]);
    assert_eq!(of(4, 9, 3), [(0, 1, 3), (0, 2, 3)]);
    assert_eq!(of(5, 2, 3), [(0, 1, 1), (1, 2, 1), (0, 1, 1), (1, 2, 1)], "two chunks along a chain");
    assert_eq!(of(1, 2, 3), [(2, 1, 1), (1, 0, 1), (2, 1, 1), (1, 0, 1)], "the same chain backwards");
    assert_eq!(of(9, 0, 3), [(1, 0, 1), (2, 0, 1), (0, 1, 1), (0, 2, 1)]);
    assert_eq!(of(0, 1, 3).len(), 12, "fewer bytes than ranks");
    assert_eq!(of(0, 100, 1), [], "a rank alone");
}

#[test]
fn a_rank_sends_nothing_of_a_collective_before_its_node_starts_and_goes_on_after_its_end() {
    let nodes = |us| vec![compute(1, us), collective(2, 0, 3_000).after(&[1]), compute(3, 1).after(&[2])];
    let mut program = read(&[nodes(10), nodes(20), nodes(500)]).unwrap().flows;
    program.settle().unwrap();
    let after = |node| {
        let mut needs = program.needs.iter();
        needs.find(|need| need.waiting == node && need.at == Point::Started).unwrap()
    };
    // Each flow waits for the node of the collective at its rank, and that for the computation.
    let waits = |src: u32| {
        let of = (0..).zip(&program.flows).filter(|(_, flow)| flow.src.0 == src);
        let delays = of.map(|(number, _)| after(after(Node::Flow(number)).on).delay.ps() / 1_000_000);
        delays.collect::<Vec<_>>()
    };
    assert_eq!([0, 1, 2].map(waits), [[10; 4], [20; 4], [500; 4]]);
    // The end of each rank: four flows sent, four received.
    let ends = program.needs.iter().filter(|need| need.at == Point::Acknowledged);
    assert_eq!(ends.count(), 12);
    // Computations of 500 us and 1 us, and four steps of 8 us at 1 Gbps in between.
    assert_eq!(
        Bound::of(&program, &spine_leaf(1, 2, 2), Reuse::PerMessage).time,
        Duration::from_us(500 + 4 * 8 + 1)
    );
}

#[test]
fn computations_of_one_processor_have_a_queue() {
    let works = |nodes: Vec<Wire>| {
        let program = read(&[nodes]).unwrap().flows;
        let works = program.steps.iter().filter_map(|step| match step.kind {
            StepKind::Work { processor, .. } => {
                Some(program.kinds.get(&processor).copied().unwrap_or_default())
            }
            StepKind::All | StepKind::Each => None,
        });
        works.collect::<Vec<_>>()
    };
    assert_eq!(works(vec![compute(1, 5), compute(2, 6).after(&[1])]), [Processor::Compute; 2]);
    let both = vec![compute(1, 5), compute(2, 6).attribute("is_cpu_op", 1)];
    assert_eq!(works(both), [Processor::Compute, Processor::Host]);
    assert_eq!(works(vec![compute(1, 5), node(2, 2).number(7, 6)]), [Processor::Compute], "work on memory");
    let call = |id| node(id, 7).number(7, 6).attribute("is_cpu_op", 1);
    assert_eq!(works(vec![call(1), call(2)]), [Processor::Host; 2], "calls of collectives on the CPU");
}

#[test]
fn communicators_come_from_metadata_or_a_file() {
    let group = |bytes| vec![collective(2, 7, bytes).text("pg_name", "5")];
    let groups = br#"{"5": [3, 1], "6": [0]}"#;
    let ranks = [vec![], group(10), vec![], group(10)];
    let files: Vec<Vec<u8>> = ranks.iter().map(|nodes| file(nodes)).collect();
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    assert_eq!(flows(&read_chakra(&files, Some(groups)).unwrap().flows), [(3, 1, 5), (1, 3, 5)]);
    // Each rank can call another group by the same name.
    let described = |ranks: &str| {
        let values = format!(r#"['[{{"pg_name": "5", "pg_desc": "d", "ranks": {ranks}}}]']"#);
        let mut nodes = vec![node(1, 1).bytes(8, &Wire::default().bytes(1, values.as_bytes()).0)];
        nodes.extend(group(20));
        nodes
    };
    let program = read(&[described("[0, 1]"), described("[0, 1]"), described("[2, 3]"), described("[2, 3]")]);
    assert_eq!(flows(&program.unwrap().flows), [(0, 1, 10), (1, 0, 10), (2, 3, 10), (3, 2, 10)]);
    assert_eq!(read(&[described("[]"), described("[]")]).unwrap().flows.flows.len(), 2, "no ranks are all");
    for (groups, message) in [
        (&b"[1]"[..], "the file of `communicators`: expected communicators such as {\"1\": [0, 1]}: "),
        (
            br#"{"5": [1, 9]}"#,
            "the file of `communicators`: communicator `5` has rank 9, and the last one is 3",
        ),
        (br#"{"5": [1, 1]}"#, "the file of `communicators`: communicator `5` has rank 1 twice"),
        (br#"{"5": [1]}"#, "node 2 of rank 3: rank 3 is not in communicator `5`, which it uses"),
        (br#"{"4": [1, 3]}"#, "node 2 of rank 1: `pg_name` is `5`, and no metadata node of rank 1 describes"),
    ] {
        let error = read_chakra(&files, Some(groups)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn circles_of_pytorchs_callers_are_left_out_with_a_warning() {
    let attribute = |name: &str| Wire::default().bytes(1, name.as_bytes()).bytes(29, b"1.0.1").0;
    let head = Wire::default().bytes(2, &attribute("schema")).bytes(2, &attribute("pid"));
    let read_with = |head: &Wire, nodes: &[Wire]| {
        let file = file_with(head.clone(), nodes);
        read_chakra(&[&file], None)
    };
    // 3 calls itself, 5 and 6 each other; 9 is nowhere.
    let nodes = [
        compute(3, 1).number(4, 3),
        compute(5, 10).number(4, 6).after(&[3]),
        compute(6, 100).number(4, 5).number(4, 9).after(&[5]),
    ];
    let Read { flows, ignored } = read_with(&head, &nodes).unwrap();
    assert_eq!(
        ignored,
        [
            "the `ctrl_deps` of 1 rank are ignored, as they form circles: node 3 of rank 0 waits for node 3; PyTorch's \
          converter writes callers there, and the order of execution into `data_deps`"
        ]
    );
    assert_eq!(Bound::of(&flows, &spine_leaf(1, 2, 1), Reuse::PerMessage).time, Duration::from_us(111));
    // Callers without a circle count, in other traces a circle of them is an error, and so is one of data.
    let callers = [compute(5, 10), compute(6, 100).number(4, 5)];
    assert!(read_with(&head, &callers).unwrap().ignored.is_empty());
    let error = |head: &Wire, nodes: &[Wire]| read_with(head, nodes).expect_err("a circle").to_string();
    assert!(error(&Wire::default(), &nodes).contains("wait for each other in a circle"));
    let data = [compute(5, 10).after(&[6]).number(4, 5), compute(6, 100).after(&[5])];
    assert!(error(&head, &data).contains("node 5 of rank 0 waits for node"), "{}", error(&head, &data));
}

#[test]
fn what_weft_ignores_is_named_and_too_many_flows_are_refused() {
    let ignored = read(&[vec![node(1, 4).attribute("num_ops", 5)]]).unwrap().ignored;
    assert_eq!(ignored, ["`num_ops` of computations without a duration is ignored: they take no time"]);
    assert!(read(&[vec![compute(1, 2).attribute("num_ops", 5)]]).unwrap().ignored.is_empty());
    let lost = read(&[vec![compute(1, 2)], vec![compute(4, 2).number(4, 9).number(4, 7)]]).unwrap().ignored;
    let expected = "2 of the `ctrl_deps` are ignored, as the files do not have these nodes: node 4 of rank 1 waits for node 7";
    assert_eq!(lost, [expected]);
    let ranks = vec![vec![collective(1, 0, 5_000)]; 2_300];
    assert_eq!(
        read(&ranks).unwrap_err().to_string(),
        "node 1 of rank 0: with this operation, the trace has 10575400 flows; a run can have at most 10000000"
    );
}

/// If the work grew with the square of the nodes, this would take minutes.
#[test]
fn the_work_on_a_trace_grows_with_its_size() {
    let nodes = |own: i64| -> Vec<Wire> {
        let step = |at: u64| {
            let before: Vec<u64> = at.checked_sub(1).into_iter().collect();
            match at % 4 {
                0 => compute(at, 3).after(&before),
                1 => collective(at, 0, 4_096).after(&before),
                2 if own == 0 => send(at, 1, 100).after(&before),
                2 => receive(at, 0, 100).after(&before),
                _ => compute(at, 3),
            }
        };
        (0..50_000).map(step).collect()
    };
    let program = read(&[nodes(0), nodes(1)]).unwrap().flows;
    assert_eq!(program.flows.len(), 12_500 * 4 + 12_500);
}
