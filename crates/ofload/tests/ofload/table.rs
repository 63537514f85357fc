//! A switch's table behaves like a linear search over a list of rules.

use proptest::prelude::*;
use proptest::sample::select;
use weft_ofload::{Expiry, RuleId, Table};
use weft_wire::openflow::{Action, FlowCommand, FlowMod, Masked, Match, PortNumber};
use weft_wire::{EtherType, IpProtocol, Mac};

/// A rule in the list.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    matching: Match,
    priority: u16,
    cookie: u64,
    port: PortNumber,
}

/// Few values, so that rules overlap.
fn fields() -> impl Strategy<Value = Match> {
    let mac = || (0..3_u8).prop_map(|last| Mac([6, 0x57, 0, 0, 0, last]));
    let mask = select(vec![Mac::BROADCAST, Mac([0xff, 0xff, 0, 0, 0, 0]), Mac([0, 0, 0, 0, 0, 1])]);
    let option = proptest::option::of::<std::ops::Range<u16>>;
    (option(0..3), proptest::option::of((mac(), mask)), option(0..3), option(0..2)).prop_map(
        |(in_port, eth_dst, tcp_src, ip)| {
            let ip = ip.is_some() || tcp_src.is_some();
            Match {
                in_port: in_port.map(|port| PortNumber(port.into())),
                eth_dst: eth_dst.map(|(value, mask)| Masked::new(value, mask)),
                eth_type: ip.then_some(EtherType::IPV4),
                ip_proto: ip.then_some(IpProtocol::TCP),
                tcp_src,
                ..Match::default()
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Step {
    Change {
        command: FlowCommand,
        matching: Match,
        priority: u16,
        cookie: u64,
        mask: u64,
        port: u32,
        any_port: bool,
    },
    Packet(Match),
}

fn step() -> impl Strategy<Value = Step> {
    use FlowCommand::{Add, Delete, DeleteStrict, Modify, ModifyStrict};
    let command = select(vec![Add, Add, Add, Modify, ModifyStrict, Delete, DeleteStrict]);
    let mask = select(vec![0, 1, u64::MAX]);
    prop_oneof![
        (command, fields(), 0..4_u16, 0..4_u64, mask, 1..4_u32, any::<bool>()).prop_map(
            |(command, matching, priority, cookie, mask, port, any_port)| Step::Change {
                command,
                matching,
                priority,
                cookie,
                mask,
                port,
                any_port
            }
        ),
        fields().prop_map(Step::Packet),
    ]
}

fn flow_mod<'a>(command: FlowCommand, matching: Match, priority: u16, actions: &'a [Action]) -> FlowMod<'a> {
    FlowMod { priority, ..FlowMod::new(command, matching, actions) }
}

proptest! {
    #[test]
    fn a_table_does_what_a_list_of_rules_does(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut table, mut list) = (Table::default(), Vec::<Row>::new());
        for step in steps {
            match step {
                Step::Change { command, matching, priority, cookie, mask, port, any_port } => {
                    let output = [Action::output(PortNumber(port))];
                    let out_port = if any_port { PortNumber::ANY } else { PortNumber(port) };
                    let change = flow_mod(command, matching, priority, &output);
                    let change = FlowMod { cookie, cookie_mask: mask, out_port, ..change };
                    let mut gone = Vec::new();
                    prop_assert_eq!(table.change(1, &change, &mut gone), None);
                    let same = |row: &Row| row.matching == matching && row.priority == priority;
                    let within = |row: &Row| row.matching.cut(&matching) == Some(matching);
                    let cookies = |row: &Row| (row.cookie ^ cookie) & mask == 0;
                    let goes_there = |row: &Row| any_port || row.port == PortNumber(port);
                    let mut before = list.clone();
                    match command {
                        FlowCommand::Add => {
                            list.retain(|row| !same(row));
                            list.push(Row { matching, priority, cookie, port: PortNumber(port) });
                            before = list.clone();
                        }
                        FlowCommand::Modify | FlowCommand::ModifyStrict => {
                            let strict = command == FlowCommand::ModifyStrict;
                            for row in &mut list {
                                if cookies(row) && if strict { same(row) } else { within(row) } {
                                    row.port = PortNumber(port);
                                }
                            }
                            before = list.clone();
                        }
                        FlowCommand::Delete => list.retain(|row| !(within(row) && cookies(row) && goes_there(row))),
                        FlowCommand::DeleteStrict => list.retain(|row| !(same(row) && cookies(row) && goes_there(row))),
                    }
                    prop_assert_eq!(gone.len(), before.len() - list.len());
                    prop_assert_eq!(table.len(), list.len());
                    for row in &list {
                        let kept = table.iter().any(|rule| {
                            let actions = [Action::output(row.port)];
                            (rule.matching, rule.priority, rule.cookie) == (row.matching, row.priority, row.cookie)
                                && *rule.actions == actions
                        });
                        prop_assert!(kept, "{row:?}");
                    }
                }
                Step::Packet(packet) => {
                    let highest = list.iter().filter(|row| packet.cut(&row.matching) == Some(row.matching));
                    let highest = highest.map(|row| row.priority).max();
                    let found = table.lookup(2, &packet, 60).map(|rule| (rule.priority, rule.matching));
                    prop_assert_eq!(found.map(|(priority, _)| priority), highest);
                    if let Some((_, matching)) = found {
                        prop_assert_eq!(packet.cut(&matching), Some(matching));
                    }
                }
            }
        }
    }
}

const SECOND: u64 = 1_000_000_000;

/// A table with one rule with these timeouts, added at time 0.
fn with_timeouts(idle_timeout: u16, hard_timeout: u16) -> (Table, RuleId, u64) {
    let mut table = Table::default();
    let change =
        FlowMod { idle_timeout, hard_timeout, ..flow_mod(FlowCommand::Add, Match::default(), 1, &[]) };
    let (rule, at) = table.change(0, &change, &mut Vec::new()).expect("it has a timeout");
    (table, rule, at)
}

#[test]
fn a_rule_goes_when_it_was_idle_for_long_enough_and_not_while_it_is_used() {
    let (mut table, rule, at) = with_timeouts(10, 0);
    assert_eq!(at, 10 * SECOND);
    table.lookup(4 * SECOND, &Match::default(), 100);
    assert!(matches!(table.expire(at, rule, |_| false), Expiry::Later(later) if later == 14 * SECOND));
    assert!(
        matches!(table.expire(14 * SECOND, rule, |_| true), Expiry::Later(later) if later == 24 * SECOND)
    );
    match table.expire(24 * SECOND, rule, |_| false) {
        Expiry::Expired(gone) => assert_eq!((gone.packets, gone.bytes), (1, 100)),
        other => panic!("{other:?}"),
    }
    assert!(table.is_empty() && matches!(table.expire(30 * SECOND, rule, |_| false), Expiry::Gone));
}

#[test]
fn a_hard_timeout_spares_no_rule_and_another_rule_in_its_place_none_of_its_time() {
    let (mut table, rule, at) = with_timeouts(10, 15);
    assert!(matches!(table.expire(at, rule, |_| true), Expiry::Later(later) if later == 15 * SECOND));
    assert!(matches!(table.expire(15 * SECOND, rule, |_| true), Expiry::Expired(_)));
    let change = FlowMod { idle_timeout: 5, ..flow_mod(FlowCommand::Add, Match::default(), 1, &[]) };
    let (next, _) = table.change(16 * SECOND, &change, &mut Vec::new()).expect("it has a timeout");
    assert_ne!(next, rule);
    assert!(matches!(table.expire(30 * SECOND, rule, |_| false), Expiry::Gone));
    assert!(matches!(table.expire(30 * SECOND, next, |_| false), Expiry::Expired(_)));
}
