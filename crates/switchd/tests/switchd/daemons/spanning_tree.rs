//! Linux bridges with a spanning tree beside the switch: they drop out of no loop, and the switch passes no BPDU on.

use std::time::Duration;

use rustix::net::{RecvFlags, eth, recv};

use crate::daemons::pair::Pair;
use crate::daemons::switch::LONG_HOLD;
use crate::daemons::traffic::{Stream, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::wait_for_more;

/// A bridge with a spanning tree, with hellos each second and ports that forward after 4 s.
fn bridge(netns: &Netns, ports: &[&str]) {
    netns.ip("link add name br0 type bridge stp_state 1 forward_delay 200 hello_time 100");
    ports.iter().for_each(|port| netns.ip(&format!("link set dev {port} master br0")));
    netns.ip("link set dev br0 up");
}

#[test]
#[ignore = "needs root and BPF"]
fn hosts_behind_a_bridge_with_a_spanning_tree_are_reached_and_bpdus_go_no_further() {
    for mode in ["tcp-path", "arp-path", "tfe"] {
        let pair = Pair::new(&["a", "b"]);
        let access = Netns::new();
        cable((&access, "up"), (&pair.left, "access"));
        let behind = host(3, &access, "h");
        bridge(&access, &["up", "h"]);
        let bridged = "ports = [\"h\", \"a\", \"b\", \"access\"]";
        let plain = "ports = [\"h\", \"a\", \"b\"]";
        let config = |ports: &str| format!("{ports}\nmode = \"{mode}\"\n{LONG_HOLD}");
        let [left, right] = pair.begin([&config(bridged), &config(plain)]);
        left.wait_roles(&[("h", "host"), ("access", "host"), ("a", "fabric"), ("b", "fabric")]);
        right.wait_roles(&[("h", "host"), ("a", "fabric"), ("b", "fabric")]);
        let heard = [&pair.hosts[0], &pair.hosts[1]].map(|host| host.packets("eth0", Some(eth::P_802_2)));
        assert!(reaches(&behind, &pair.hosts[1], "10.0.0.2:7"), "{mode}: {}", left.log());
        assert!(reaches(&pair.hosts[0], &behind, "10.0.0.3:7"), "{mode}: {}", left.log());
        // The bridge takes the switch for a segment without other bridges: its port stays designated and forwards.
        let stream = Stream::start(&behind, &pair.hosts[1], "10.0.0.2:9", Duration::from_millis(2));
        let consumed = || left.show("counters")["consumed"].as_u64().expect("a count");
        wait_for_more("BPDUs end at the switch", 3, consumed);
        stream.goes_on(50);
        let outcome = stream.end();
        assert_eq!(outcome.received, outcome.sent, "{mode}: {}", left.log());
        assert!(access.output("bridge -d link show dev up").contains("state forwarding"));
        for bpdus in &heard {
            let heard = recv(bpdus, &mut [0; 64], RecvFlags::DONTWAIT);
            assert!(heard.is_err(), "{mode}: a BPDU was passed on");
        }
    }
}
