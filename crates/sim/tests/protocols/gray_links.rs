//! Links that silently lose the packets of some flows.

use weft_transport::PROTOCOLS;

use super::{leaf_spine, run_with_threads};

/// Every protocol but TCP, with the keys that it must have.
fn hosts() -> impl Iterator<Item = String> {
    PROTOCOLS.iter().filter(|(name, _)| *name != "tcp").map(|(name, _)| {
        let rate = if *name == "udp" { "\nrate = \"2 Gbps\"" } else { "" };
        format!("protocol = \"{name}\"{rate}")
    })
}

#[test]
fn a_blackhole_takes_the_packets_of_its_share_of_flows_with_any_protocol_but_tcp() {
    let traffic = "pairs = [[\"h0\", \"h4\"], [\"h1\", \"h5\"], [\"h2\", \"h6\"], [\"h3\", \"h7\"]]\nflows = 64\n\
                   sizes = { fixed = \"5 kB\" }";
    for hosts in hosts() {
        let stuck = |share: f64| {
            // The last links, which all paths have in common.
            let links = "[\"h4-l1\", \"h5-l1\", \"h6-l1\", \"h7-l1\"]";
            let event = format!("[[event]]\nat = \"0 s\"\nchange = {links}\nblackhole = {share}");
            let rest = format!("limit = \"50 ms\"\n{event}");
            let (_, kept) = run_with_threads(&leaf_spine("queue = \"1 MB\"", traffic, &hosts, &rest));
            kept.flows.iter().filter(|flow| flow.end.is_none()).count()
        };
        assert_eq!([stuck(0.0), stuck(1.0)], [0, 64], "{hosts}");
        // A quarter of 64 is 16, with a deviation of 3.5.
        let some = stuck(0.25);
        assert!((6..=26).contains(&some), "{hosts}: {some} of 64 flows are stuck");
    }
}
