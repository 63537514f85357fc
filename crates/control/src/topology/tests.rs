//! Tests of [`Topology`].

use super::*;

fn topology() -> Topology {
    let mut topology = Topology::new(Duration::from_secs(1), 3, 2);
    for id in [2, 1, 3] {
        let ports: Vec<PortNo> = (1..=4).map(PortNo).collect();
        topology.switch_up(Time::ZERO, SwitchId(id), &ports).unwrap();
    }
    topology
}

const A: SwitchPort = SwitchPort::new(1, 1);
const B: SwitchPort = SwitchPort::new(2, 1);
const C: SwitchPort = SwitchPort::new(3, 1);

#[test]
fn a_cable_is_known_when_it_was_seen_in_both_directions() {
    let mut topology = topology();
    let role = |topology: &Topology, at, s| {
        topology.role(topology.port_at(at).unwrap(), Time::ZERO + Duration::from_secs(s))
    };
    assert_eq!((role(&topology, A, 0), role(&topology, A, 1)), (Role::Settling, Role::Host));
    let one = topology.link_up(A, B);
    assert!(!one.paths && topology.cables().count() == 0);
    assert_eq!((role(&topology, A, 9), role(&topology, B, 9)), (Role::Switch, Role::Switch));
    let two = topology.link_up(B, A);
    assert!(two.paths && topology.cables().count() == 1);
    assert!(!topology.link_up(A, B).paths, "known already");
    let ends = topology.cable(0).ends.map(|port| topology.place(port));
    assert_eq!(ends, [A, B]);

    let down = topology.link_down(A, B);
    assert_eq!((down.cut, down.paths, topology.cables().count()), (vec![0], true, 0));
    assert_eq!(role(&topology, A, 9), Role::Switch, "the other direction is still seen");
    topology.link_down(B, A);
    assert_eq!(role(&topology, A, 9), Role::Quarantine);
    topology.port_changed(Time::ZERO, A, false);
    assert_eq!(role(&topology, A, 9), Role::Down);
    topology.port_changed(Time::ZERO, A, true);
    assert_eq!((role(&topology, A, 0), role(&topology, A, 9)), (Role::Settling, Role::Host));
}

#[test]
fn a_port_has_one_neighbour() {
    let mut topology = topology();
    topology.link_up(A, B);
    topology.link_up(B, A);
    let moved = topology.link_up(A, C);
    assert_eq!(moved.cut, [0]);
    topology.link_up(C, A);
    let ends = topology.cables().map(|(_, cable)| cable.ends.map(|port| topology.place(port)));
    assert_eq!(ends.collect::<Vec<_>>(), [[A, C]]);
    assert_eq!(topology.role(topology.port_at(B).unwrap(), Time::ZERO), Role::Quarantine);
}

#[test]
fn what_goes_down_takes_its_cable_with_it_and_tables_are_bounded() {
    let mut topology = topology();
    assert!(topology.switch_up(Time::ZERO, SwitchId(9), &[]).is_none());
    for port in 1..=4 {
        topology.link_up(SwitchPort::new(1, port), SwitchPort::new(2, port));
        topology.link_up(SwitchPort::new(2, port), SwitchPort::new(1, port));
    }
    assert_eq!(topology.cables().count(), 2);
    assert_eq!(topology.port_changed(Time::ZERO, B, false).cut, [0]);
    let again = topology.switch_up(Time::ZERO, SwitchId(1), &[PortNo(1), PortNo(7)]).unwrap().1;
    assert_eq!((again.cut, topology.cables().count()), (vec![1], 0));
    assert!(topology.link_up(A, SwitchPort::new(8, 1)).ports.is_empty(), "an unknown switch");
    assert!(topology.link_up(A, B).ports.is_empty(), "a port that is down");
    assert_eq!(topology.connected().len(), 3);
    topology.switch_down(SwitchId(1));
    assert_eq!((topology.connected().len(), topology.switch_down(SwitchId(1))), (2, None));
}
