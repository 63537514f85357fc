//! The worked example of the paper (section IV), number for number, and its testbed.

use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, SwitchGates, forward};
use weft_units::HostId;

use crate::gates::walk::{paper, plan_of};

fn gates(switch: &SwitchGates, direction: Direction) -> Vec<u32> {
    switch.toward(direction).map(|gate| gate.gate.0).collect()
}

#[test]
fn the_worked_example_of_the_paper_comes_out_number_for_number() {
    // Section IV. Its es1 is e0, as1 a0, cs1 c0.
    let plan = plan_of(&paper());
    let edges = [[2, 4], [6, 8], [10, 12], [14, 16], [18, 20], [22, 24], [26, 28], [30, 32]];
    let aggregations = [[4, 8], [4, 8], [12, 16], [12, 16], [20, 24], [20, 24], [28, 32], [28, 32]];
    let cores = [[42, 44], [46, 48], [50, 52], [54, 56]];
    for (i, down) in edges.into_iter().enumerate() {
        let switch = plan.switch_named(&format!("e{i}")).unwrap();
        assert_eq!((switch.layer, switch.down_divisor, switch.up_divisor), (Layer::Edge, 2, 8));
        assert_eq!(gates(switch, Direction::Down), down, "G_es{}", i + 1);
        assert_eq!(gates(switch, Direction::Up), [48, 56], "G_es{}", i + 1);
    }
    for (i, down) in aggregations.into_iter().enumerate() {
        let switch = plan.switch_named(&format!("a{i}")).unwrap();
        assert_eq!((switch.layer, switch.down_divisor, switch.up_divisor), (Layer::Aggregation, 4, 4));
        assert_eq!(gates(switch, Direction::Down), down, "G_as{}", i + 1);
        let up = if i % 2 == 0 { [44, 48] } else { [52, 56] };
        assert_eq!(gates(switch, Direction::Up), up, "G_as{}", i + 1);
    }
    for (i, up) in cores.into_iter().enumerate() {
        let switch = plan.switch_named(&format!("c{i}")).unwrap();
        assert_eq!((switch.layer, switch.down_divisor, switch.up_divisor), (Layer::Core, 8, 2));
        assert_eq!(gates(switch, Direction::Down), [8, 16, 24, 32], "G_cs{}", i + 1);
        assert_eq!(gates(switch, Direction::Up), up, "G_cs{}", i + 1);
    }
}

#[test]
fn the_papers_packet_goes_through_the_papers_gates() {
    let fabric = paper();
    let plan = plan_of(&fabric);
    // The first server of es8, whose gate is 30; over cs2, the second core.
    let (from, to) = (HostId(0), HostId(14));
    assert_eq!(plan.choices(from, to), 4);
    let (at, steering) = plan.steering(from, to, 1).unwrap();
    assert_eq!((steering.gate, steering.up, steering.down), (Gate(48), 48, 30));
    let route = plan.route(at, steering).unwrap();
    let names: Vec<_> = route.iter().map(|hop| fabric.node(hop.switch).name.as_str()).collect();
    assert_eq!(names, ["e0", "a0", "c1", "a6", "e7"]);
    let gates: Vec<_> = route.iter().map(|hop| hop.gate.0).collect();
    assert_eq!(gates, [48, 48, 32, 32, 30]);
    assert_eq!(forward(Gate(steering.up), 8), Some(steering.gate));
}

#[test]
fn the_testbed_of_the_paper_has_104_interfaces_and_88_of_them_are_gates() {
    // Section V-D gives 104 interfaces, 6 of each core and 4 of every other switch: 88 of switches, and 16 of
    // servers.
    let fabric = paper();
    let plan = plan_of(&fabric);
    for (node, switch) in plan.switches() {
        let interfaces = if switch.layer == Layer::Core { 6 } else { 4 };
        assert_eq!((switch.gates.len(), fabric.ports(node).len()), (interfaces, interfaces));
    }
    let servers = (0..fabric.host_count() as u32).map(HostId);
    let servers =
        servers.filter(|&host| plan.gates_of(host).all(|(_, gate)| gate.flag == Some(GateFlag::Srv)));
    assert_eq!((plan.gate_count(), servers.count()), (88, 16));
}
