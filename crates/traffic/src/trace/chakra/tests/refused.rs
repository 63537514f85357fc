//! Tests of traces that are refused.

use proptest::prelude::*;

use super::super::read_chakra;
use super::{Wire, collective, compute, file, file_with, node, read, receive, send};

#[test]
fn what_is_wrong_is_named_with_its_rank_and_node() {
    let pair = |nodes: Vec<Wire>| vec![nodes, vec![]];
    let reduce = |id, bytes| collective(id, 0, bytes);
    for (ranks, message) in [
        (pair(vec![compute(1, 5), compute(1, 6)]), "node 1 of rank 0: two nodes have this id"),
        (
            pair(vec![compute(1, 5).after(&[7])]),
            "node 1 of rank 0: it waits for node 7, which the file does not have",
        ),
        (
            pair(vec![compute(1, u64::MAX)]),
            "node 1 of rank 0: a duration of 18446744073709551615 us is too long",
        ),
        (pair(vec![node(1, 0)]), "node 1 of rank 0: type 0 of node `name` is not known; expected 1 to 10"),
        (pair(vec![node(1, 5)]), "node 1 of rank 0: it has no `comm_dst`"),
        (pair(vec![send(1, 2, 5)]), "node 1 of rank 0: `comm_dst` is 2, and the last rank is 1"),
        (pair(vec![send(1, 0, 5)]), "node 1 of rank 0: `comm_dst` is 0: rank 0 sends to itself"),
        (
            pair(vec![send(1, 1, -5)]),
            "node 1 of rank 0: `comm_size` is -5; expected 0 to 18446744073709551615",
        ),
        (pair(vec![node(1, 5).text("comm_dst", "x")]), "node 1 of rank 0: `comm_dst` is not a whole number"),
        (
            pair(vec![send(1, 1, 5).attribute("comm_src", 1)]),
            "node 1 of rank 0: `comm_src` is 1 in the file of rank 0; expected 0",
        ),
        (
            pair(vec![
                node(1, 5).attribute("comm_dst", 1).attribute("comm_size", 5).attribute("comm_tag", 1 << 32),
            ]),
            "node 1 of rank 0: `comm_tag` is 4294967296; expected at most 4294967295",
        ),
        (
            pair(vec![send(1, 1, 5)]),
            "node 1 of rank 0: nobody receives this message from rank 0 to rank 1 with tag 3",
        ),
        (
            vec![vec![send(1, 1, 5)], vec![receive(4, 0, 4)]],
            "node 1 of rank 0: this message from rank 0 to rank 1 with tag 3 has 5 bytes; the receive in node 4 of rank 1 \
             takes 4",
        ),
        (pair(vec![collective(1, 12, 5)]), "node 1 of rank 0: `comm_type` is 12; expected 0 to 9"),
        (pair(vec![node(1, 7).attribute("comm_type", 0)]), "node 1 of rank 0: it has no `comm_size`"),
        (
            pair(vec![reduce(1, 5)]),
            "node 1 of rank 0: all-reduce of 5 bytes is number 1 of the collectives of all ranks, in which rank 1 has none \
             of that number",
        ),
        (
            vec![vec![reduce(1, 5), reduce(2, 6)], vec![reduce(1, 5), reduce(7, 9)]],
            "node 7 of rank 1: all-reduce of 9 bytes is number 2 of the collectives of all ranks, but node 2 of rank 0 has \
             all-reduce of 6 bytes as that",
        ),
        (
            vec![vec![reduce(1, 5)], vec![collective(2, 9, 0)]],
            "node 2 of rank 1: this barrier is number 1 of the collectives of all ranks, but node 1 of rank 0 has all-reduce \
             of 5 bytes as that",
        ),
        (
            vec![vec![collective(1, 2, i64::MAX)]; 3],
            "node 1 of rank 0: 3 parts of 9223372036854775807 bytes are too many bytes",
        ),
        (
            vec![vec![compute(1, 5).after(&[2]), reduce(2, 5).after(&[1])]],
            "node 1 of rank 0: nodes wait for each other in a circle: node 1 of rank 0 waits for node 2 of rank 0, which \
             waits for node 1 of rank 0",
        ),
        (
            vec![
                vec![receive(1, 1, 5), send(2, 1, 5).after(&[1])],
                vec![receive(3, 0, 5), send(4, 0, 5).after(&[3])],
            ],
            "node 2 of rank 0: nodes wait for each other in a circle: node 2 of rank 0 waits for node 1 of rank 0, which \
             waits for node 4 of rank 1, which waits for node 3 of rank 1, which waits for node 2 of rank 0",
        ),
    ] {
        assert_eq!(read(&ranks).unwrap_err().to_string(), message);
    }
    let dimensions =
        Wire::default().bytes(1, b"involved_dim").bytes(28, &Wire::default().bytes(1, &[1, 0]).0);
    let error = read(&[vec![reduce(1, 5).bytes(10, &dimensions.0)]]).unwrap_err().to_string();
    assert!(error.starts_with("node 1 of rank 0: `involved_dim` leaves out a dimension"), "{error}");
}

#[test]
fn a_file_that_is_no_trace_is_refused_with_its_byte() {
    let good = file(&[compute(1, 5)]);
    let other = Wire::default().varint(7).bytes(1, b"2.0.0").0;
    for (bytes, message) in [
        (&[][..], "rank 0: its file is empty; expected Chakra's metadata, then its nodes"),
        (&[0x1f, 0x8b, 8], "rank 0: it is compressed; expected the file that `gunzip` makes from it"),
        (&other, "byte 0 of rank 0: version `2.0.0` of the schema is not known; expected 0.0.4, 1.x or none"),
        (&[0, 0x80], "byte 1 of rank 0: the length of a message is expected: "),
        (&[0; 0], "rank 0: its file is empty"),
        (&[0, 9, 1], "byte 1 of rank 0: a message of 9 bytes begins, and 1 are left"),
        (&[&[0], &[0xff; 11][..]].concat(), "byte 1 of rank 0: the length of a message is expected: "),
        (&[0, 2, 8, 0x80], "byte 1 of rank 0: a message is wrong: "),
    ] {
        let error = read_chakra(&[bytes], None).unwrap_err().to_string();
        assert!(error.starts_with(message) && !error.ends_with(": "), "{error}");
    }
    let whole = |end| read_chakra(&[&good[..end]], None).is_ok();
    assert_eq!((0..=good.len()).filter(|end| whole(*end)).collect::<Vec<_>>(), [8, good.len()]);
}

#[test]
fn only_versions_of_known_schemas_are_read() {
    let is_read = |version: &str| {
        let head = Wire::default().bytes(1, version.as_bytes());
        read_chakra(&[&file_with(head, &[compute(1, 5)])], None).is_ok()
    };
    for version in ["", "0.0.4", "1", "1.0", "1.0.0", "1.12.3"] {
        assert!(is_read(version), "{version}");
    }
    for version in ["0.0.1", "0.0.3", "0.0.40", "0.0.4-rc", "0.1.0", "1.", "1.x", "10.0", "2.0.0", "abc"] {
        assert!(!is_read(version), "{version}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_trace_makes_it_panic(changes in proptest::collection::vec((0..400_usize, 0..=255_u8), 1..6)) {
        let nodes = |to| vec![compute(1, 5), send(2, to, 100).number(4, 1), receive(3, to, 100), collective(4, 0, 9), collective(5, 5, 30)];
        let mut files = [file(&nodes(1)), file(&nodes(0))];
        for (at, byte) in changes {
            if let Some(changed) = files[at % 2].get_mut(at / 2) {
                *changed = byte;
            }
        }
        let _ = read_chakra(&[&files[0], &files[1]], None);
    }
}
