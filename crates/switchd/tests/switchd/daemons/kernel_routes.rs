//! Mode `ecmp` with the routes of the kernel, which the test changes.

use std::time::Duration;

use crate::daemons::pair::Pair;
use crate::daemons::switch::Switch;
use crate::wait::{settle, wait_for};

/// The next hops of the switch to a leaf.
fn ports(switch: &Switch<'_>, leaf: usize) -> serde_json::Value {
    switch.show("leaves")[leaf - 1]["ports"].clone()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_route_that_cannot_be_read_does_not_hide_those_of_other_leaves() {
    let pair = Pair::new(&["a", "b"]);
    // The kernel takes a route with so many next hops, but it does not fit its answer (EMSGSIZE).
    pair.left.ip(&format!("route add 10.1.0.1/32{}", " nexthop dev a".repeat(480)));
    pair.left.ip("route add 10.1.0.2/32 dev a");
    let leaf = |number| {
        format!("[[leaf]]\naddress = \"10.1.0.{number}\"\nstations = [\"02:00:00:00:00:{number:02x}\"]\n")
    };
    let config = format!(
        "mode = \"ecmp\"\nroutes = \"kernel\"\nports = [\"h\", \"a\", \"b\"]\nfabric_ports = [\"a\", \"b\"]\n{}{}",
        leaf(1),
        leaf(2)
    );
    let switch = Switch::start(&pair.left, &pair.places, "l", &config);
    wait_for("the route that can be read is used", || ports(&switch, 2) == serde_json::json!(["a"]));
    pair.left.ip("route replace 10.1.0.2/32 dev b");
    wait_for("its change is followed", || ports(&switch, 2) == serde_json::json!(["b"]));
    // All are read again each second.
    settle(Duration::from_secs(3));
    let failed = || switch.log().matches("reading the kernel's route to a leaf failed").count();
    assert_eq!(failed(), 1, "{}", switch.log());
    pair.left.ip("route replace 10.1.0.1/32 dev b");
    wait_for("the other one is used once it can be read", || ports(&switch, 1) == serde_json::json!(["b"]));
}
