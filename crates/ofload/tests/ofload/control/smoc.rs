//! Connections over fabrics: every subflow arrives on its expected path.

use weft_control::Kind;
use weft_wire::mptcp::Version;

use super::joined::Joined;

/// Opens connections one after the other and completes their handshakes.
fn open(joined: &mut Joined, count: usize) {
    for _ in 0..count {
        joined.world.open();
        joined.talk();
        joined.pass(3);
    }
}

fn counter(joined: &Joined, name: &str) -> u64 {
    joined.controller.counters().iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn subflows_take_paths_of_their_own_in_both_versions() {
    for (fabric, version) in
        [("spine-leaf:4x6x2", Version::V1), ("fat-tree:4", Version::V1), ("spine-leaf:4x6x2", Version::V0)]
    {
        let mut joined = Joined::new(fabric, Kind::Smoc, 4, Some(version));
        open(&mut joined, 40);
        let connections = &joined.world.connections;
        assert_eq!(
            (connections.completed, connections.in_progress(), connections.unasked),
            (40, 0, 0),
            "{fabric}"
        );
        let failures = connections.failures;
        assert_eq!((failures.misdelivered, failures.repeated), (0, 0), "{fabric}");
        // In a fat-tree, hosts of one pod have two paths within it and longer ones outside: still four.
        assert_eq!(connections.distinct_paths, 160, "{fabric} {version:?}");
        let counts = &joined.world.counts;
        assert_eq!((counts.refused, counts.looped, counts.misdirected), (0, 0, 0), "{fabric}");
        assert_eq!(counter(&joined, "transactions_late"), 0);
        assert_eq!(joined.controller.set_ups().count(), 160);
    }
}

#[test]
fn all_subflows_on_a_spanning_tree_and_plain_tcp_take_one_path() {
    for (kind, subflows, version) in [(Kind::SpanningTree, 4, Some(Version::V1)), (Kind::Smoc, 1, None)] {
        let mut joined = Joined::new("spine-leaf:4x6x2", kind, subflows, version);
        open(&mut joined, 40);
        let connections = &joined.world.connections;
        let paths = (connections.completed, connections.distinct_paths);
        assert_eq!((paths, connections.failures.misdelivered), ((40, 40), 0), "{kind:?}");
    }
}

#[test]
fn rules_of_connections_that_are_over_go_and_the_core_hears_of_it() {
    let mut joined = Joined::new("spine-leaf:4x3x2", Kind::Smoc, 4, Some(Version::V1));
    let rules = |joined: &Joined| joined.world.agents.iter().map(|agent| agent.table.len()).sum::<usize>();
    // The rules that remove the label from a host's frames, by cookie.
    let delivering = |joined: &Joined| {
        let all = joined.world.agents.iter().flat_map(|agent| agent.table.iter());
        all.filter(|rule| rule.cookie >> 44 & 15 == 9).count()
    };
    // Hosts that have resolved each other already have rules.
    let (before, delivered) = (rules(&joined), delivering(&joined));
    open(&mut joined, 10);
    let with = rules(&joined);
    joined.pass(30_000);
    // Rules of live connections do not idle out.
    assert!(with > before + 80 && rules(&joined) + 20 > with, "{before}, {with}, {}", rules(&joined));
    joined.world.connections.end_all_but(0);
    // Rules of flows idle out after 10 s, unused paths go 30 s later, and connections are forgotten after 60 s.
    joined.pass(80_000);
    assert_eq!(counter(&joined, "rules_idle"), 80);
    // Each host keeps its rule that removes the label.
    let hosts = joined.world.network.hosts.len();
    assert_eq!((delivering(&joined), rules(&joined)), (hosts, before - delivered + hosts));
    let shown = joined.controller.core().show(joined.now().into(), weft_control::Show::Connections, 100);
    assert_eq!(shown["total"], 0, "{shown}");
}
