//! Given gates: valid ones are accepted; for invalid ones the error names property, switch, port and gates.

use proptest::prelude::*;
use weft_fabric::gates::{
    Direction, Gate, GateError, GateFlag, GatePlan, Layer, Property, SwitchGates, TagWidth, Violation,
};

use crate::gates::walk::{all_arrive, paper, plan_of};

/// The gates of every switch of the paper's fabric, in order of ids: `e0..`, `a0..`, `c0..`.
fn own() -> Vec<SwitchGates> {
    let plan = plan_of(&paper());
    plan.switches().map(|(_, switch)| switch.clone()).collect()
}

fn switch<'a>(switches: &'a mut [SwitchGates], name: &str) -> &'a mut SwitchGates {
    switches.iter_mut().find(|switch| switch.switch == name).unwrap()
}

/// Adds `by` to the numbers of all gates in a direction.
fn shift(switches: &mut [SwitchGates], direction: Direction, by: i32) {
    let gates = switches.iter_mut().flat_map(|switch| &mut switch.gates);
    for gate in gates.filter(|gate| gate.direction == direction) {
        gate.gate.0 = gate.gate.0.checked_add_signed(by).unwrap();
    }
}

/// The violations after `change`.
fn broken(change: impl FnOnce(&mut Vec<SwitchGates>)) -> Vec<Violation> {
    let mut switches = own();
    change(&mut switches);
    match GatePlan::given(&paper(), TagWidth::Narrow, switches) {
        Err(GateError::Broken(violations)) => violations.0,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the gates were taken"),
    }
}

#[test]
fn a_plan_is_taken_back_from_its_json_in_any_order() {
    let fabric = paper();
    let plan = plan_of(&fabric);
    let json: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    assert_eq!((&json["k"], &json["width"]), (&4.into(), &"narrow".into()));
    let first = r#"{"port":0,"gate":2,"direction":"down","flag":"G_SRV","peer":"h0"}"#;
    assert_eq!(json["switches"][0]["gates"][0], serde_json::from_str::<serde_json::Value>(first).unwrap());
    let mut switches: Vec<SwitchGates> = serde_json::from_value(json["switches"].clone()).unwrap();
    switches.reverse();
    switches.iter_mut().for_each(|switch| switch.gates.reverse());
    // Peers are optional.
    switches[3].gates.iter_mut().for_each(|gate| gate.peer.clear());
    let again = GatePlan::given(&fabric, TagWidth::Narrow, switches).unwrap();
    assert_eq!(again.gate_count(), plan.gate_count());
    all_arrive(&fabric, &again);
}

#[test]
fn gates_of_other_numbers_are_taken_where_they_have_the_properties() {
    // The paper leaves the first external number open: 34 and 98 work as well as 42.
    let fabric = paper();
    for first in [34, 98] {
        let mut switches = own();
        shift(&mut switches, Direction::Up, first - 42);
        let plan = GatePlan::given(&fabric, TagWidth::Narrow, switches).unwrap();
        all_arrive(&fabric, &plan);
    }
}

#[test]
fn every_property_that_is_broken_is_named_with_switch_port_and_gates() {
    type Change = fn(&mut Vec<SwitchGates>);
    let rows: [(Change, Property, &str); 14] = [
        (
            |s| switch(s, "e0").gates[0].gate = Gate(3),
            Property::P1,
            "P1 (one arithmetic progression) is broken at e0-eth0: gate 3 is the first: expected an even number above 0",
        ),
        (
            |s| switch(s, "e1").gates[0].gate = Gate(4),
            Property::P1,
            "P1 (one arithmetic progression) is broken at e1-eth0: gate 4 is also that of e0-eth1",
        ),
        (
            |s| switch(s, "a0").gates[1].gate = Gate(4),
            Property::P2,
            "P2 (gates differ) is broken at a0-eth1: gate 4 is also that of a0-eth0",
        ),
        (
            |s| shift(s, Direction::Up, -16),
            Property::P2,
            "P2 (gates differ) is broken at c0-eth4: gate 26 leads up, and down at e6-eth0",
        ),
        (
            |s| switch(s, "a0").gates[0].gate = Gate(12),
            Property::P3,
            "P3 (the greatest gate of the next switch) is broken at a0-eth0: the gate to e0 is 12, but the greatest gate \
             there is 4",
        ),
        (
            |s| switch(s, "c2").gates[1].gate = Gate(32),
            Property::P3,
            "P3 (the greatest gate of the next switch) is broken at c2-eth1: the gate to a3 is 32, but the greatest gate \
             there is 16",
        ),
        (
            |s| switch(s, "a5").down_divisor = 8,
            Property::P4,
            "P4 (one difference per layer) is broken at a5: its down gates are 8 apart, those of a0 are 4 apart",
        ),
        (
            // 44 instead of 42 as the first external number: even, above 32, but invalid.
            |s| shift(s, Direction::Up, 2),
            Property::Aligned,
            "alignment (multiples of the difference) is broken at a0-eth2: gate 46 is not a positive multiple of 4",
        ),
        (
            |s| shift(s, Direction::Down, 8192),
            Property::Fits,
            "the tag's bits is broken at e0-eth0: gate 8194 is above 8191, the maximum of a narrow tag",
        ),
        (
            |s| switch(s, "e3").gates[1].flag = None,
            Property::Complete,
            "completeness is broken at e3-eth1: gate 16 to h7 has no flag, expected G_SRV",
        ),
        (
            |s| switch(s, "c0").gates[0].flag = Some(GateFlag::Ext),
            Property::Complete,
            "completeness is broken at c0-eth0: gate 8 to a0 has G_EXT, expected no flag",
        ),
        (
            |s| drop(switch(s, "a2").gates.remove(1)),
            Property::Complete,
            "completeness is broken at a2-eth1: the port to e3 has no gate",
        ),
        (
            |s| switch(s, "e0").gates[2].peer = "a1".to_owned(),
            Property::Complete,
            "completeness is broken at e0-eth2: gate 48 was given for a link to a1, but the link leads to a0",
        ),
        (
            |s| drop(s.remove(0)),
            Property::Complete,
            "completeness is broken at e0: no gates are given for e0",
        ),
    ];
    for (change, property, text) in rows {
        let found = broken(change);
        let named: Vec<String> = found.iter().map(Violation::to_string).collect();
        assert!(named.iter().any(|name| name == text), "{text}\nis none of {named:#?}");
        assert!(
            found.iter().any(|violation| violation.property == property && violation.to_string() == text)
        );
    }
}

#[test]
fn other_things_that_somebody_may_give_are_refused() {
    let named = |change: fn(&mut Vec<SwitchGates>)| broken(change)[0].to_string();
    for (found, text) in [
        (named(|s| switch(s, "e0").layer = Layer::Core), "at e0: it is given as layer core, but is edge"),
        (
            named(|s| switch(s, "e0").gates[0].direction = Direction::Up),
            "at e0-eth0: gate 2 to h0 leads down",
        ),
        (named(|s| switch(s, "e0").gates[0].port.0 = 9), "at e0-eth9: there is no such port"),
        (named(|s| switch(s, "e0").gates[0].port.0 = 1), "at e0-eth1: it has two gates, 2 and 4"),
        (named(|s| switch(s, "c1").down_divisor = 0), "at c1-eth0: gate 8 is not a positive multiple of 0"),
        (
            named(|s| switch(s, "c1").gates[0].gate.0 = 0),
            "at c1-eth0: gate 0 is not a positive multiple of 8",
        ),
    ] {
        assert!(found.ends_with(text), "{found}");
    }
    let refused = |change: fn(&mut Vec<SwitchGates>)| {
        let mut switches = own();
        change(&mut switches);
        GatePlan::given(&paper(), TagWidth::Narrow, switches).unwrap_err().to_string()
    };
    assert_eq!(refused(|s| s.push(s[3].clone())), "the gates of `e3` are given twice");
    assert_eq!(refused(|s| s[0].switch = "h0".to_owned()), "`h0` is a host: only switches have gates");
    assert!(refused(|s| s[0].switch = "e00".to_owned()).ends_with("did you mean `e0`?"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// The properties are sufficient: with any gates that have them, everything arrives. They are also strict: a
    /// single changed number is almost never accepted.
    #[test]
    fn what_is_taken_arrives(
        changes in prop::collection::vec((0..20_usize, any::<prop::sample::Index>(), 0..80_u32), 1..4),
        divisor in prop::option::weighted(0.2, (0..20_usize, any::<bool>(), 0..20_u32)),
    ) {
        let fabric = paper();
        let mut switches = own();
        for (switch, gate, number) in changes {
            let gates = &mut switches[switch].gates;
            let gate = gate.index(gates.len());
            gates[gate].gate = Gate(number);
        }
        if let Some((switch, up, divisor)) = divisor {
            let switch = &mut switches[switch];
            *(if up { &mut switch.up_divisor } else { &mut switch.down_divisor }) = divisor;
        }
        let same = switches == own();
        match GatePlan::given(&fabric, TagWidth::Narrow, switches) {
            Ok(plan) => {
                all_arrive(&fabric, &plan);
            }
            Err(GateError::Broken(violations)) => prop_assert!(!same && !violations.0.is_empty()),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
