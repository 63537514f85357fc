//! Tests of [`FlowTable`].

use weft_fabric::gates::Gate;

use super::*;

const WAY: Way = Way { gate: Gate(48), up: 48 };

fn table() -> FlowTable {
    FlowTable::new(Limits { rules: 5, kinds: 3, groups: 2, ways: 2 }, TagWidth::Narrow)
}

fn rule(priority: u16, source: &str, destination: &str, down: u32) -> FlowRule {
    let matches = FlowMatch::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap();
    FlowRule { priority, matches, action: FlowAction { queue: 1, down, to: FlowTarget::Way(WAY) } }
}

fn found(table: &mut FlowTable, source: &str, destination: &str) -> Option<u32> {
    let addresses = Addresses { source: source.parse().unwrap(), destination: destination.parse().unwrap() };
    table.find(&addresses, 100).map(|action| action.down)
}

#[test]
fn the_highest_priority_of_exact_rules_and_prefixes_of_both_families_counts() {
    let mut table = FlowTable::new(Limits::default(), TagWidth::Narrow);
    for rule in [
        rule(1, "0.0.0.0/0", "0.0.0.0/0", 2),
        rule(5, "0.0.0.0/0", "10.0.0.0/24", 4),
        rule(9, "10.0.0.1/32", "10.0.0.2/32", 6),
        rule(5, "::/0", "fd00::/16", 8),
        rule(9, "fd00::1/128", "fd00::2/128", 10),
    ] {
        table.add(rule).unwrap();
    }
    for (source, destination, expected) in [
        ("10.0.0.1", "10.0.0.2", Some(6)),
        ("10.0.0.2", "10.0.0.1", Some(4)),
        ("10.0.0.1", "10.0.1.2", Some(2)),
        ("fd00::1", "fd00::2", Some(10)),
        ("fd00::3", "fd00::2", Some(8)),
        ("fd00::3", "fe80::2", None),
        // No packet has addresses of both families.
        ("10.0.0.1", "fd00::2", None),
        ("::", "0.0.0.1", None),
    ] {
        assert_eq!(found(&mut table, source, destination), expected, "{source} to {destination}");
    }
    let counts = |priority| {
        let of = table.entries().filter(|entry| entry.rule.priority == priority);
        of.map(|entry| (entry.packets, entry.bytes)).collect::<Vec<_>>()
    };
    assert_eq!((counts(1), counts(9)), (vec![(1, 100)], vec![(1, 100), (1, 100)]));
}

#[test]
fn rules_that_say_the_same_or_meet_another_of_their_priority_are_refused_with_it() {
    let mut table = FlowTable::new(Limits::default(), TagWidth::Narrow);
    let first = rule(5, "10.0.0.0/8", "10.1.0.0/16", 2);
    table.add(first).unwrap();
    assert_eq!(table.add(first), Err(FlowError::Duplicate(first)));
    for meets in [
        rule(5, "10.0.0.0/8", "10.1.0.0/16", 4),
        rule(5, "10.9.0.0/16", "0.0.0.0/0", 4),
        rule(5, "0.0.0.0/0", "10.1.2.3/32", 4),
        rule(5, "10.0.0.1/32", "10.1.2.3/32", 4),
    ] {
        assert_eq!(table.add(meets), Err(FlowError::Conflict { rule: meets, other: first }), "{meets:?}");
    }
    for beside in [rule(6, "10.0.0.0/8", "10.1.0.0/16", 4), rule(5, "10.0.0.0/8", "10.2.0.0/16", 4)] {
        table.add(beside).unwrap();
    }
    assert_eq!(
        table.add(rule(5, "10.0.0.1/32", "10.1.2.3/32", 4)).unwrap_err().to_string(),
        "priority 5, 10.0.0.1/32 -> 10.1.2.3/32: conflicts with 10.0.0.0/8 -> 10.1.0.0/16 of the same priority, and \
         packets matching both could get either action: change the priority of one, or replace the other"
    );
    let other = FlowRule { action: FlowAction { down: 12, ..first.action }, ..first };
    table.replace(other).unwrap();
    assert_eq!(found(&mut table, "10.0.0.1", "10.1.0.1"), Some(4), "priority 6");
    table.remove(6, &first.matches).unwrap();
    assert_eq!(found(&mut table, "10.0.0.1", "10.1.0.1"), Some(12));
    let absent = FlowError::Absent { priority: 6, matches: first.matches };
    assert_eq!(table.remove(6, &first.matches), Err(absent.clone()));
    assert_eq!(table.replace(FlowRule { priority: 6, ..first }), Err(absent));
}

#[test]
fn a_table_is_bounded_and_a_refusal_changes_nothing() {
    let mut table = table();
    let to = |last: u32| rule(1, "0.0.0.0/0", &format!("10.0.0.{last}/32"), 2);
    table.add(rule(2, "0.0.0.0/0", "10.0.0.0/8", 2)).unwrap();
    table.add(rule(3, "0.0.0.0/0", "10.0.0.0/8", 2)).unwrap();
    table.add(to(1)).unwrap();
    assert_eq!(table.add(rule(4, "0.0.0.0/0", "10.0.0.0/8", 2)), Err(FlowError::Kinds(3)));
    table.add(to(2)).unwrap();
    table.add(to(3)).unwrap();
    assert_eq!(table.add(to(4)), Err(FlowError::Full(5)));
    assert_eq!(table.len(), 5);
    // A kind is freed with its last rule.
    table.remove(3, &rule(3, "0.0.0.0/0", "10.0.0.0/8", 2).matches).unwrap();
    table.add(rule(4, "0.0.0.0/0", "10.0.0.0/8", 2)).unwrap();
    assert_eq!(table.len(), 5);
}

#[test]
fn what_a_tag_cannot_say_is_refused() {
    let mut table = table();
    let error = |rule: FlowRule, table: &mut FlowTable| table.add(rule).unwrap_err().to_string();
    let good = rule(1, "0.0.0.0/0", "10.0.0.1/32", 2);
    let with = |action| FlowRule { action, ..good };
    let way = FlowTarget::Way(Way { gate: Gate(2), up: 0 });
    for (action, what) in [
        (FlowAction { down: 8192, ..good.action }, "does not fit a narrow tag: DOWN"),
        (FlowAction { queue: 8, ..good.action }, "does not fit a narrow tag: QID"),
        (FlowAction { down: 0, to: way, ..good.action }, "does not fit a narrow tag: "),
        (
            FlowAction { to: FlowTarget::Group(GroupId(7)), ..good.action },
            "there is no group 7: set the group",
        ),
    ] {
        let error = error(with(action), &mut table);
        assert!(error.starts_with(what), "{error}");
    }
    assert!(table.is_empty());
    let mut wide = FlowTable::new(Limits::default(), TagWidth::Wide);
    wide.add(with(FlowAction { down: 8192, ..good.action })).unwrap();
    let ways = Arc::new([Way { gate: Gate(2), up: 1 << 23 }]);
    let refused = wide.set_group(GroupId(1), &(ways as Arc<[Way]>)).unwrap_err();
    assert!(refused.to_string().starts_with("does not fit a wide tag: UP"), "{refused}");
}

#[test]
fn a_group_stays_while_rules_name_it() {
    let mut table = table();
    let (id, ways): (_, Arc<[Way]>) = (GroupId(1), Arc::new([WAY, Way { gate: Gate(56), up: 52 }]));
    table.set_group(id, &ways).unwrap();
    let to_group =
        |rule: FlowRule| FlowRule { action: FlowAction { to: FlowTarget::Group(id), ..rule.action }, ..rule };
    let first = rule(1, "0.0.0.0/0", "10.0.0.1/32", 2);
    table.add(to_group(first)).unwrap();
    table.add(to_group(rule(1, "0.0.0.0/0", "10.0.0.2/32", 2))).unwrap();
    assert_eq!(table.remove_group(id), Err(FlowError::GroupInUse { id, rules: 2 }));
    table.replace(first).unwrap();
    assert_eq!(table.remove_group(id), Err(FlowError::GroupInUse { id, rules: 1 }));
    table.set_group(id, &(Arc::new([WAY]) as Arc<[Way]>)).unwrap();
    assert_eq!(table.ways(id), [WAY]);
    table.remove(1, &rule(1, "0.0.0.0/0", "10.0.0.2/32", 2).matches).unwrap();
    assert_eq!((table.remove_group(id), table.remove_group(id)), (Ok(()), Err(FlowError::NoGroup(id))));
    let three: Arc<[Way]> = Arc::new([WAY; 3]);
    assert_eq!(table.set_group(id, &three), Err(FlowError::Ways { id, ways: 3, most: 2 }));
    for id in [1, 2] {
        table.set_group(GroupId(id), &ways).unwrap();
    }
    assert_eq!(table.set_group(GroupId(3), &ways), Err(FlowError::Groups(2)));
}
