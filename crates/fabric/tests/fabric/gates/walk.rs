//! Shared by the tests: fat-trees and their plans, and walks of frames over the cables by each switch's gates only.

use weft_fabric::gates::{Gate, GatePlan, Hop, Numbering, Steering};
use weft_fabric::{Fabric, LinkSpec, build};
use weft_units::{HostId, NodeId};

/// A fat-tree with external routers.
pub fn fat_tree(k: u32, routers: u32) -> Fabric {
    let link = LinkSpec::default();
    build::fat_tree_with_routers(k, routers, &link, &link, &link).unwrap()
}

/// The paper's fabric.
pub fn paper() -> Fabric {
    fat_tree(4, 2)
}

/// The plan of a fabric without any settings.
pub fn plan_of(fabric: &Fabric) -> GatePlan {
    GatePlan::of(fabric, &Numbering::default()).unwrap()
}

/// The switches on a frame's way, and the node that it reaches.
pub fn walk(fabric: &Fabric, plan: &GatePlan, at: NodeId, steering: Steering) -> (Vec<Hop>, NodeId) {
    let mut at = at;
    let mut gate = plan.switch(at).unwrap().gates.iter().find(|gate| gate.gate == steering.gate).unwrap();
    let mut hops = Vec::new();
    loop {
        hops.push(Hop { switch: at, port: gate.port, gate: gate.gate });
        let link = fabric.link(fabric.link_at(at, gate.port).unwrap());
        if gate.flag.is_some_and(|flag| flag.pops()) {
            return (hops, link.to);
        }
        assert!(hops.len() < 6, "round in circles: {hops:?}");
        at = link.to;
        let switch = plan.switch(at).expect("a tagged frame comes to no host");
        let from = switch.at(link.to_port).unwrap().flag;
        gate = switch.output(from, steering.up, steering.down).expect("there is such a gate");
    }
}

/// Checks that every way from a host to another ends there and that no two are equal. Returns their number.
pub fn arrives(fabric: &Fabric, plan: &GatePlan, source: HostId, destination: HostId) -> usize {
    let choices = plan.choices(source, destination);
    let mut ways: Vec<Vec<Hop>> = Vec::new();
    for choice in 0..choices {
        let (at, steering) = plan.steering(source, destination, choice).unwrap();
        let source_node = fabric.host_node(source);
        assert!(fabric.ports(source_node).iter().any(|&link| fabric.link(link).to == at));
        let (hops, end) = walk(fabric, plan, at, steering);
        assert_eq!(end, fabric.host_node(destination), "{steering:?} went over {hops:?}");
        assert_eq!(plan.route(at, steering).as_ref(), Some(&hops));
        assert_eq!(hops[0].gate, steering.gate);
        assert!(hops.iter().all(|hop| hop.gate != Gate(0)));
        ways.push(hops);
    }
    assert_eq!(plan.steering(source, destination, choices), None);
    ways.sort_by_key(|hops| hops.iter().map(|hop| (hop.switch, hop.port)).collect::<Vec<_>>());
    ways.dedup();
    assert_eq!(ways.len(), choices, "two choices are the same way");
    choices
}

/// Checks the ways between all pairs of hosts.
pub fn all_arrive(fabric: &Fabric, plan: &GatePlan) {
    for (source, destination) in pairs(fabric) {
        arrives(fabric, plan, source, destination);
    }
}

/// All pairs of hosts.
pub fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> + use<> {
    let hosts = fabric.host_count() as u32;
    (0..hosts).flat_map(move |a| (0..hosts).map(move |b| (HostId(a), HostId(b))))
}
