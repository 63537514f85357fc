//! Ports that are not simple interfaces: 802.1Q devices, bonds, links with netem. They need kernel modules that not every
//! machine has, so `make test-kernel` runs these tests in a virtual machine with Debian's kernel.

use crate::daemons::leaf_spine::LeafSpine;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::{Connection, Strays, Stream, reaches};
use crate::net::{Netns, host};
use crate::wait::wait_for;

const MODES: [&str; 3] = ["arp-path", "tcp-path", "ecmp"];

/// The configuration of a switch with these ports: its host `near` is on the first, its host `far` behind the second.
fn config(mode: &str, ports: [&str; 2], [near, far]: [u8; 2]) -> String {
    let route = |number: u8, port: &str| {
        format!("[[route]]\nstation = \"02:00:00:00:00:{number:02x}\"\nports = [\"{port}\"]\n")
    };
    let routes = if mode == "ecmp" { route(near, ports[0]) + &route(far, ports[1]) } else { String::new() };
    format!("mode = \"{mode}\"\nports = {ports:?}\n[hello]\ninterval = \"100 ms\"\n{routes}")
}

/// A VLAN device on an interface, up.
fn add_vlan(netns: &Netns, interface: &str, vlan: u16) {
    netns.ip(&format!("link add link {interface} name {interface}.{vlan} type vlan id {vlan}"));
    netns.ip(&format!("link set {interface}.{vlan} up"));
}

#[test]
#[ignore = "needs root, BPF and a kernel with 802.1Q: make test-kernel"]
fn a_switch_per_vlan_has_the_vlan_devices_of_a_trunk_as_ports() {
    for mode in MODES {
        let pair = Pair::new(&["t"]);
        let [one, two] = &pair.hosts;
        let [three, four] = [host(3, &pair.left, "g"), host(4, &pair.right, "g")];
        for side in [&pair.left, &pair.right] {
            [10, 20].into_iter().for_each(|vlan| add_vlan(side, "t", vlan));
        }
        let start = |netns, name, ports, stations| {
            let switch = Switch::start(netns, &pair.places, name, &config(mode, ports, stations));
            switch.wait_roles(&[(ports[0], "host")]);
            switch
        };
        let switches = [
            start(&pair.left, "l10", ["h", "t.10"], [1, 2]),
            start(&pair.right, "r10", ["h", "t.10"], [2, 1]),
            start(&pair.left, "l20", ["g", "t.20"], [3, 4]),
            start(&pair.right, "r20", ["g", "t.20"], [4, 3]),
        ];
        switches[..2].iter().for_each(|switch| switch.wait_roles(&[("t.10", "fabric")]));
        switches[2..].iter().for_each(|switch| switch.wait_roles(&[("t.20", "fabric")]));
        assert!(reaches(one, two, "10.0.0.2:7"), "{mode}: VLAN 10");
        assert!(reaches(&three, &four, "10.0.0.4:7"), "{mode}: VLAN 20");
        // Hosts leave segmentation and checksums to the devices.
        Connection::open(one, two, "10.0.0.2:80").send(4 << 20);
        Connection::open(&four, &three, "10.0.0.3:80").send(4 << 20);
        let strays = Strays::send(one, &four, "10.0.0.4:9");
        assert!(reaches(one, two, "10.0.0.2:7") && strays.are_lost(), "{mode}: the VLANs are separate");
    }
}

/// A bond of the interfaces `a` and `b`, up.
fn add_bond(netns: &Netns, bond: &str) {
    netns.ip(&format!("link add bond0 type bond mode {bond} miimon 10"));
    for member in ["a", "b"] {
        netns.ip(&format!("link set dev {member} down"));
        netns.ip(&format!("link set dev {member} master bond0"));
        netns.ip(&format!("link set dev {member} up"));
    }
    netns.ip("link set bond0 up");
}

/// A bond is a port, goes on with either member, and loses its carrier with the last one.
fn bonds(bond: &str) {
    for mode in MODES {
        let pair = Pair::new(&["a", "b"]);
        [&pair.left, &pair.right].into_iter().for_each(|side| add_bond(side, bond));
        let configs = [[1, 2], [2, 1]].map(|stations| config(mode, ["h", "bond0"], stations));
        let [left, right] = pair.begin([&configs[0], &configs[1]]);
        let wait_fabric = || {
            [&left, &right]
                .into_iter()
                .for_each(|switch| switch.wait_roles(&[("h", "host"), ("bond0", "fabric")]));
        };
        let wait_members = || {
            wait_for("both members are up", || {
                let status = pair.left.output("cat /proc/net/bonding/bond0");
                status.matches("MII Status: up").count() == 3
            });
        };
        wait_fabric();
        assert!(pair.reach(7), "{bond}, {mode}");
        let mut connection = Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80");
        connection.send(4 << 20);
        for member in ["a", "b"] {
            pair.left.ip(&format!("link set dev {member} down"));
            connection.send(1 << 20);
            assert_eq!(left.role("bond0"), "fabric", "{bond}, {mode}: without {member}");
            pair.left.ip(&format!("link set dev {member} up"));
            wait_members();
            connection.send(1 << 20);
        }
        ["a", "b"].iter().for_each(|member| pair.left.ip(&format!("link set dev {member} down")));
        left.wait_roles(&[("bond0", "down")]);
        ["a", "b"].iter().for_each(|member| pair.left.ip(&format!("link set dev {member} up")));
        wait_fabric();
        connection.send(1 << 20);
    }
}

#[test]
#[ignore = "needs root, BPF and a kernel with bonds: make test-kernel"]
fn an_active_backup_bond_is_a_port_until_its_last_member_fails() {
    bonds("active-backup");
}

#[test]
#[ignore = "needs root, BPF and a kernel with bonds: make test-kernel"]
fn a_bond_that_balances_is_a_port_until_its_last_member_fails() {
    bonds("balance-xor");
}

#[test]
#[ignore = "needs root, BPF and a kernel with netem: make test-kernel"]
fn connections_take_the_path_without_delay_and_survive_reordering_loss_and_corruption() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start(&places, "tcp-path");
    let [one, other] = &network.hosts;
    for spine in &network.spines {
        spine.sh("tc qdisc add dev l1 root netem delay 1ms");
    }
    for (slow, fast) in [(0, 1), (1, 0)] {
        network.spines[slow].sh("tc qdisc replace dev l1 root netem delay 50ms");
        network.spines[fast].sh("tc qdisc replace dev l1 root netem delay 1ms");
        let before = switches.spines[slow].received_bytes("l0");
        for number in 0..5 {
            Connection::open(one, other, &format!("10.0.0.2:{}", 100 * (slow + 1) + number)).send(100_000);
        }
        let sent = switches.spines[slow].received_bytes("l0") - before;
        assert!(sent < 100_000, "{sent} bytes over the slow spine");
    }
    let streams = network.streams(5);
    for impairment in ["delay 5ms 4ms", "delay 2ms reorder 25%", "loss 1%", "corrupt 1%", "duplicate 5%"] {
        for spine in &network.spines {
            spine.sh(&format!("tc qdisc replace dev l1 root netem {impairment}"));
        }
        Connection::open(one, other, "10.0.0.2:80").send(1_000_000);
        streams.iter().for_each(|stream| stream.goes_on(20));
    }
    for spine in &network.spines {
        spine.sh("tc qdisc del dev l1 root");
    }
    switches.leaves.iter().for_each(|leaf| leaf.wait_roles(&[("s0", "fabric"), ("s1", "fabric")]));
    Connection::open(one, other, "10.0.0.2:81").send(1_000_000);
    Stream::end_all(streams);
}
