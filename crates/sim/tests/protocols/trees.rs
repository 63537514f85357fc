//! Collectives over a tree of ranks.

use weft_units::{Bytes, Rate};

use super::{leaf_spine, run};

#[test]
fn a_tree_all_reduce_takes_its_closed_form_time_on_an_idle_fabric() {
    const BYTES: u64 = 1_000_000;
    // Ranks send to (r - 1) / 2. Flows that follow each other on the longest way, and those of them that share the link of
    // a host with another flow: from 4 ranks, the root's two to its children; with 8, also the two to the root, which wait
    // for 7 to 3 to 1 and for 5 and 6 to 2, and the two from 1 to its children.
    for (ranks, steps, shared) in [(2, 2, 0), (4, 4, 1), (8, 6, 3)] {
        let traffic = format!("collective = \"tree-all-reduce\"\nranks = {ranks}\nbytes = \"{BYTES} B\"");
        let transport = "protocol = \"roce\"\ncongestion_control = \"off\"";
        let fabric = "queue = \"10 MB\"\nfabric_rate = \"100 Gbps\"";
        let (report, kept) = run(&leaf_spine(fabric, &traffic, transport, "limit = \"1 s\""), 1);
        let took = report.jobs[0].end.expect("it ends") - report.jobs[0].start.expect("it starts");
        let ideal = kept.flows.iter().map(|flow| flow.ideal.unwrap()).max().expect("there are flows");
        // 1 000 of 1 082 bytes are payload.
        let line = Rate::from_gbps(10).tx_time(Bytes(BYTES * 1_082 / 1_000));
        let expected = ideal * steps + line * shared;
        // Acknowledgements take their turn: 86 bytes for each packet.
        let ratio = took.as_secs_f64() / expected.as_secs_f64();
        assert!((0.98..1.0 + 86.0 / 1_082.0).contains(&ratio), "{ranks} ranks: {took}, expected {expected}");
    }
}
