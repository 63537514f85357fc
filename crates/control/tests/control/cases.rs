//! Named cases of handshakes, each told as hosts see it.

use weft_control::{Settings, Smoc};
use weft_units::Duration;
use weft_wire::mptcp::Version;

use crate::net::Net;
use crate::talk::{Connection, flow};

/// Four disjoint paths between two edge switches, one of them a cable: 1-2, 1-3-2, 1-4-2, 1-5-2.
const FOUR: [(u64, u64); 7] = [(1, 2), (1, 3), (3, 2), (1, 4), (4, 2), (1, 5), (5, 2)];

pub fn four(hosts: &[u64]) -> Net<Smoc> {
    let mut net = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
    net.build(5, &FOUR, hosts);
    net.announce();
    net
}

#[test]
fn each_subflow_takes_a_path_of_its_own_and_its_answers_come_back_on_it() {
    for version in [Version::V0, Version::V1] {
        let mut net = four(&[1, 2]);
        let connection = Connection::new(flow(0, 1, 4000), version, 9);
        let [syn, syn_ack, ack] = net.open(&connection);
        assert_eq!((syn, syn_ack, ack), (vec![1, 2], vec![2, 1], vec![1, 2]));
        let ways: Vec<_> = (1..=5).map(|n| net.join(&connection, flow(0, 1, 4000 + n), 0)).collect();
        assert_eq!(ways, [vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2], vec![1, 2], vec![1, 3, 2]]);
        for (name, count) in [("established", 1), ("joins", 5), ("flows_new", 6), ("joins_unknown_token", 0)]
        {
            assert_eq!(net.counter(name), count, "{name}");
        }
        assert_eq!(net.held(), 0);
        net.run(Duration::from_secs(1));
    }
}
