//! Rules, barriers, replies, and frames that wait for them.

use proptest::prelude::*;
use weft_control::{Command, FrameRef, SouthboundLimits, SwitchId, Trouble};
use weft_control::{Duration, Time};

use super::scripted::{CoreEvent, Network, install};

fn failed(transaction: u64, switch: u64, reason: &str) -> CoreEvent {
    CoreEvent::Failed { transaction, switch, reason: reason.into() }
}

const CAME_UP: CoreEvent = CoreEvent::PacketIn { switch: 1, port: 3, cookie: super::scripted::OWN };

#[test]
fn rules_go_before_one_barrier_a_switch_and_the_frame_when_all_have_confirmed() {
    let mut network = Network::new();
    network.packet_in(1, vec![install(5, &[(2, 7), (1, 6), (2, 8)], Some(1))]);
    let sent = network.sent();
    assert_eq!(sent.words(2), ["rule 7", "rule 8", "barrier"]);
    assert_eq!(sent.words(1), ["rule 6", "barrier"]);
    let (one, two) = (sent.xids(1), sent.xids(2));
    network.now += Duration::from_ms(3);
    network.confirm(1, one[1]);
    assert!(network.sent().words(1).is_empty() && network.core.events() == [CAME_UP]);
    assert_eq!(network.southbound.installing(), 1);
    network.now += Duration::from_ms(1);
    network.confirm(2, two[2]);
    assert_eq!(network.sent().words(1), ["frame of 60 bytes"]);
    assert_eq!(network.core.events(), [CoreEvent::Installed(5)]);
    assert_eq!(network.southbound.set_ups().collect::<Vec<_>>(), [Duration::from_ms(4)]);
    assert_eq!((network.southbound.installing(), network.counter("transactions_installed")), (0, 1));
}

#[test]
fn commands_returned_on_an_event_follow_commands_returned_before() {
    let mut network = Network::new();
    network.core.on_installed.lock().unwrap().insert(5, vec![install(0, &[(1, 9)], None)]);
    // It has no rules, so it is installed immediately.
    network.packet_in(1, vec![install(5, &[], None), install(0, &[(1, 8)], None)]);
    assert_eq!(network.sent().words(1), ["rule 8", "rule 9"]);
    assert_eq!(network.core.events(), [CAME_UP, CoreEvent::Installed(5)]);
}

#[test]
fn an_error_fails_the_transaction_once_and_its_frame_stays() {
    let mut network = Network::new();
    network.packet_in(1, vec![install(5, &[(1, 6), (1, 7), (2, 8)], Some(1))]);
    let sent = network.sent();
    let (one, two) = (sent.xids(1), sent.xids(2));
    network.southbound.refused(network.now, SwitchId(1), one[1], "table full");
    network.southbound.refused(network.now, SwitchId(1), one[0], "table full");
    network.southbound.refused(network.now, SwitchId(2), one[0] - 1, "none of its messages");
    network.confirm(1, one[2]);
    network.confirm(2, two[1]);
    assert_eq!(network.core.events(), [CAME_UP, failed(5, 1, "table full")]);
    assert!(network.sent().words(1).is_empty());
    assert_eq!((network.counter("transactions_refused"), network.counter("transactions_installed")), (1, 0));
}

#[test]
fn a_switch_that_is_gone_before_or_meanwhile_fails_the_transaction() {
    let mut network = Network::new();
    network.southbound.switch_down(network.now, SwitchId(2), false);
    network.packet_in(1, vec![install(5, &[(2, 6), (1, 7)], Some(1))]);
    assert_eq!(
        network.core.events(),
        [CoreEvent::SwitchDown(2), CAME_UP, failed(5, 2, "switch not connected")]
    );
    network.packet_in(1, vec![install(6, &[(3, 6), (1, 7)], Some(1))]);
    network.southbound.switch_down(network.now, SwitchId(3), true);
    let gone = failed(6, 3, "switch disconnected");
    assert_eq!(network.core.events(), [CAME_UP, CoreEvent::LeftAlone(3), gone, CoreEvent::SwitchDown(3)]);
    assert_eq!((network.counter("transactions_switch_gone"), network.southbound.installing()), (2, 0));
    assert!(!network.sent().words(1).contains(&"frame of 60 bytes".into()));
}

#[test]
fn a_switch_that_connects_again_before_it_was_gone_fails_what_it_has_not_confirmed() {
    let mut network = Network::new();
    network.packet_in(1, vec![install(5, &[(2, 7), (1, 6)], Some(1))]);
    network.southbound.switch_up(network.now, SwitchId(2), &[], &[]);
    let gone = failed(5, 2, "switch disconnected");
    assert_eq!(network.core.events(), [CAME_UP, gone, CoreEvent::SwitchDown(2), CoreEvent::SwitchUp(2)]);
    assert_eq!((network.counter("transactions_switch_gone"), network.southbound.installing()), (1, 0));
    network.sent();
    network.packet_in(1, vec![install(6, &[(2, 8)], None)]);
    assert_eq!(network.sent().words(2), ["rule 8", "barrier"]);
}

#[test]
fn a_switch_that_does_not_confirm_in_time_fails_the_transaction() {
    let mut network = Network::new();
    assert_eq!(network.southbound.next_deadline(), Time::MAX);
    network.packet_in(1, vec![install(5, &[(1, 6), (2, 7)], Some(1))]);
    let one = network.sent().xids(1);
    network.confirm(1, one[1]);
    let deadline = network.now + Duration::from_secs(2);
    assert_eq!(network.southbound.next_deadline(), deadline);
    network.southbound.on_deadline(network.now + Duration::from_ms(1999));
    assert_eq!(network.core.events(), [CAME_UP]);
    network.southbound.on_deadline(deadline);
    assert_eq!(network.core.events(), [failed(5, 2, "install timed out")]);
    assert_eq!(network.southbound.troubles().collect::<Vec<_>>(), [Trouble::Late(SwitchId(2))]);
    assert_eq!((network.southbound.next_deadline(), network.counter("transactions_late")), (Time::MAX, 1));
}

#[test]
fn a_switch_that_leaves_too_many_barriers_unanswered_is_reported() {
    let mut network =
        Network::with(SouthboundLimits { backlog: 3, audit: None, ..SouthboundLimits::default() });
    for id in 1..=4 {
        assert_eq!(network.southbound.troubles().count(), 0);
        network.packet_in(1, vec![install(id, &[(2, 7)], None)]);
    }
    assert_eq!(network.southbound.troubles().collect::<Vec<_>>(), [Trouble::Backlog(SwitchId(2))]);
}

#[test]
fn lldp_frames_do_not_wait_behind_rules_and_a_switch_has_so_many_rules_to_read() {
    let mut network = Network::new();
    for id in 1..=2000 {
        network.packet_in(1, vec![install(id, &[(2, 7)], None)]);
    }
    network.southbound.send_frame(weft_control::SwitchPort::new(2, 8), &super::scripted::FRAME);
    let sent = network.sent();
    let rules = |words: &[String]| words.iter().filter(|word| *word == "rule 7").count();
    let words = sent.words(2);
    assert_eq!((rules(&words), words.last().unwrap().as_str()), (512, "frame of 60 bytes"));
    assert_eq!(network.counter("rules_waiting_now"), 1488);
    assert!(network.sent().words(2).is_empty());
    // Each reply makes room for the rules it confirms, in order.
    let barriers: Vec<u32> = sent
        .xids(2)
        .into_iter()
        .zip(words)
        .filter(|(_, word)| word == "barrier")
        .map(|(xid, _)| xid)
        .collect();
    network.core.events();
    network.confirm(2, barriers[0]);
    network.confirm(2, barriers[1]);
    assert_eq!(network.core.events(), [CoreEvent::Installed(1), CoreEvent::Installed(2)]);
    assert_eq!(network.sent().words(2), ["rule 7", "barrier", "rule 7", "barrier"]);
    // Transactions waiting for a disconnected switch fail, whether sent or not.
    network.southbound.switch_down(network.now, SwitchId(2), false);
    assert_eq!(network.counter("transactions_switch_gone"), 1998);
    assert_eq!((network.southbound.installing(), network.counter("rules_waiting_now")), (0, 0));
}

#[test]
fn a_frame_that_is_forgotten_is_not_sent() {
    let mut network = Network::new();
    network.packet_in(1, vec![install(5, &[(1, 6)], Some(1)), Command::Forget(FrameRef(0))]);
    let one = network.sent().xids(1);
    network.confirm(1, one[1]);
    assert_eq!(network.core.events(), [CAME_UP, CoreEvent::Installed(5)]);
    assert!(network.sent().words(1).is_empty());
}

/// An event at a switch.
#[derive(Clone, Copy, Debug)]
enum Event {
    Confirm,
    Refuse(usize),
    Reconnect,
    Wait,
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        3 => Just(Event::Confirm),
        1 => (0..20_usize).prop_map(Event::Refuse),
        1 => Just(Event::Reconnect),
        1 => Just(Event::Wait),
    ];
    prop::collection::vec((1..=3_u64, event), 0..5)
}

proptest! {
    #[test]
    fn every_transaction_ends_once_whatever_switches_do(
        script in prop::collection::vec((prop::collection::vec((1..=3_u64, 1..9_u32), 0..6), events()), 1..12),
    ) {
        let mut network = Network::new();
        // The transaction ids of unanswered barrier requests, and of all unanswered messages.
        let mut barriers: [Vec<u32>; 4] = Default::default();
        let mut all: [Vec<u32>; 4] = Default::default();
        for (id, (rules, events)) in (1..).zip(&script) {
            network.packet_in(1, vec![install(id, rules, Some(1))]);
            for (switch, event) in events {
                let sent = network.sent();
                for at in 1..=3 {
                    for (xid, word) in sent.xids(at).into_iter().zip(sent.words(at)) {
                        all[at as usize].push(xid);
                        if word == "barrier" {
                            barriers[at as usize].push(xid);
                        }
                    }
                }
                let at = *switch as usize;
                match *event {
                    Event::Confirm if !barriers[at].is_empty() => network.confirm(*switch, barriers[at].remove(0)),
                    Event::Confirm => {}
                    Event::Refuse(which) => {
                        let xid = all[at].get(which).copied().unwrap_or(7);
                        network.southbound.refused(network.now, SwitchId(*switch), xid, "no");
                    }
                    Event::Reconnect => {
                        network.southbound.switch_down(network.now, SwitchId(*switch), false);
                        network.southbound.switch_up(network.now, SwitchId(*switch), &[], &[]);
                        barriers[at].clear();
                        all[at].clear();
                    }
                    Event::Wait => {
                        network.now += Duration::from_ms(800);
                        network.southbound.on_deadline(network.now);
                    }
                }
            }
        }
        network.now += Duration::from_secs(2);
        network.southbound.on_deadline(network.now);
        let mut ended: Vec<u64> = network.core.events().iter().filter_map(|event| match event {
            CoreEvent::Installed(id) | CoreEvent::Failed { transaction: id, .. } => Some(*id),
            _ => None,
        }).collect();
        ended.sort_unstable();
        prop_assert_eq!(ended, (1..=script.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(network.southbound.installing(), 0);
        prop_assert_eq!(network.southbound.next_deadline(), Time::MAX);
    }
}
