//! SYNs that are too long for a Path Request: connections with data in their SYN (TCP Fast Open).

use std::io::Read;
use std::net::{SocketAddrV4, TcpListener};
use std::ops::RangeBounds;

use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};
use serde_json::Value;

use crate::daemons::pair::Pair;
use crate::daemons::trace::Trace;
use crate::wait::wait_for;

/// More than fits a SYN, whose packet then has 1492 bytes.
const DATA: usize = 1440;

/// Opens a connection with a full SYN to a port of the right host, which gets all data.
fn open(pair: &Pair, port: u16) {
    let address: SocketAddrV4 = format!("10.0.0.2:{port}").parse().expect("an address");
    let listener = pair.hosts[1].run(move || TcpListener::bind(address).expect("a port"));
    let client =
        pair.hosts[0].run(|| socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket"));
    let fast = SendFlags::from_bits_retain(libc::MSG_FASTOPEN as u32);
    sendto(&client, &[7; DATA], fast, &address).expect("a SYN");
    listener.accept().expect("a connection").0.read_exact(&mut [0; DATA]).expect("the data");
}

/// Whether a path to one of these ports of the right host was explored, as traced so far.
fn explores(trace: &Trace, ports: impl RangeBounds<u16>) -> bool {
    let is_meant = |port: &Value| port.as_u64().is_some_and(|port| ports.contains(&(port as u16)));
    trace.events().iter().any(|event| event["what"] == "explored" && is_meant(&event["dport"]))
}

#[test]
#[ignore = "needs root and BPF"]
fn the_longest_syn_that_is_explored_follows_the_mtu_of_fabric_ports() {
    let pair = Pair::new(&["a"]);
    let set_mtu = |mtu| {
        [&pair.left, &pair.right].iter().for_each(|side| side.ip(&format!("link set dev a mtu {mtu}")));
    };
    set_mtu(1520);
    let [left, _right] = pair.start("mode = \"tcp-path\"\nfabric_ports = [\"a\"]");
    let trace = Trace::start(&left);
    assert!(pair.reach(7));
    // The client sends data in a SYN once it has a cookie from the server, all of whose sockets accept them.
    pair.hosts[0].sh("sysctl -qw net.ipv4.tcp_fastopen=1");
    pair.hosts[1].sh("sysctl -qw net.ipv4.tcp_fastopen=1026");
    // Repeated, since the trace may start later, and the switch notices another MTU later.
    let wait_until_explored = |first: u16| {
        let mut ports = first..;
        wait_for("SYNs are explored", || {
            open(&pair, ports.next().expect("a port"));
            explores(&trace, first..)
        });
    };
    wait_until_explored(1000);
    open(&pair, 81);
    wait_for("a full one, with the cookie, is explored", || explores(&trace, 81..=81));
    let limits = || left.log().matches("too long for a Path Request").count();
    assert_eq!(limits(), 0, "{}", left.log());
    set_mtu(1500);
    wait_for("the switch knows the limit", || limits() == 1);
    open(&pair, 82);
    assert_eq!(left.too_long("a"), 0, "wrapped, it would be too long");
    set_mtu(1520);
    wait_until_explored(2000);
    assert!(!explores(&trace, 82..=82));
}
