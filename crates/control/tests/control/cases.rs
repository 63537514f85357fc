//! Named handshake cases, as sequences of segments between hosts.

use weft_control::{Content, Join, Mptcp, Settings, Smoc};
use weft_control::{Controller, Duration, Time};
use weft_wire::mptcp::Version;

use crate::net::{Host, Net};
use crate::talk::{ACK, Connection, Flow, SYN, SYN_ACK, flow};

/// Four disjoint paths between two edge switches, one of them a single link: 1-2, 1-3-2, 1-4-2, 1-5-2.
pub const FOUR: [(u64, u64); 7] = [(1, 2), (1, 3), (3, 2), (1, 4), (4, 2), (1, 5), (5, 2)];

pub fn four(hosts: &[u64]) -> Net<Smoc> {
    four_with(Settings::default(), hosts)
}

pub fn four_with(settings: Settings, hosts: &[u64]) -> Net<Smoc> {
    let mut net = Net::new(Smoc::new(settings).unwrap(), 1);
    net.build(5, &FOUR, hosts);
    net.announce();
    net
}

/// The same network, and its hosts.
pub fn four_hosts<const N: usize>(places: [u64; N]) -> (Net<Smoc>, [Host; N]) {
    let net = four(&places);
    let hosts = std::array::from_fn(|host| net.hosts[host]);
    (net, hosts)
}

/// Checks that segments in both directions of a flow are not copied to the controller.
fn is_not_copied(net: &mut Net<Smoc>, flow: Flow, option: Option<Mptcp>) {
    let copied = net.counter("packet_ins_copied");
    for direction in [0, 1, 0] {
        net.say(flow, direction, ACK, option);
    }
    assert_eq!(net.counter("packet_ins_copied"), copied, "nothing more is copied");
}

fn v1(port: u16) -> Connection {
    Connection::new(flow(0, 1, port), Version::V1, port.into())
}

/// The same network, and a connection of its first two hosts.
pub fn four_open(hosts: &[u64]) -> (Net<Smoc>, Connection) {
    let (mut net, connection) = (four(hosts), v1(4000));
    net.open(&connection);
    (net, connection)
}

#[test]
fn each_subflow_takes_a_path_of_its_own_and_its_answers_come_back_on_it() {
    for version in [Version::V0, Version::V1] {
        let mut net = four(&[1, 2]);
        let connection = Connection::new(flow(0, 1, 4000), version, 9);
        let [syn, syn_ack, ack] = net.open(&connection);
        assert_eq!((syn, syn_ack, ack), (vec![1, 2], vec![2, 1], vec![1, 2]));
        let ways: Vec<_> = (1..=5).map(|n| net.join(&connection, flow(0, 1, 4000 + n), 0)).collect();
        assert_eq!(ways, [vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2], vec![1, 2], vec![1, 3, 2]]);
        for (name, count) in [("established", 1), ("joins", 5), ("flows_new", 6), ("joins_unknown_token", 0)]
        {
            assert_eq!(net.counter(name), count, "{name}");
        }
        assert_eq!(net.held(), 0);
    }
}

#[test]
fn a_controller_that_has_run_for_a_hundred_years_does_what_it_did_at_first() {
    // Around the range of 64 bits of picoseconds, and a century.
    for seconds in [0, 18_446_744 - 3, 36_525 * 86_400] {
        let mut net = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
        net.now = Time::ZERO + Duration::from_secs(seconds);
        net.build(5, &FOUR, &[1, 2]);
        net.announce();
        let connection = v1(4000);
        net.open(&connection);
        let ways: Vec<_> = (1..=3).map(|n| net.join(&connection, flow(0, 1, 4000 + n), 0)).collect();
        assert_eq!(ways, [vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]], "after {seconds} s");
        // Rules idle out, flows become dormant, and are then forgotten.
        net.run(Duration::from_secs(15));
        assert_eq!(net.counter("flows_dormant_now"), 4, "after {seconds} s");
        net.run(Duration::from_secs(120));
        assert_eq!((net.counter("flows_now"), net.counter("paths_now")), (0, 0), "after {seconds} s");
        assert!(net.controller.next_deadline() == Time::MAX || net.controller.next_deadline() > net.now);
    }
}

#[test]
fn the_next_paths_are_there_before_anyone_asks_and_a_join_costs_two_rules() {
    let (mut net, connection) = four_open(&[1, 2]);
    let before = net.log.len();
    net.join(&connection, flow(0, 1, 4001), 0);
    assert_eq!(net.changes(before).len(), 2);
}

#[test]
fn joins_by_the_server_take_the_next_paths_of_the_same_set() {
    for version in [Version::V0, Version::V1] {
        let mut net = four(&[1, 2]);
        let connection = Connection::new(flow(0, 1, 4000), version, 5);
        net.open(&connection);
        assert_eq!(net.join(&connection, flow(1, 0, 6001), 1), [2, 3, 1]);
        assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 4, 2]);
        assert_eq!(net.join(&connection, flow(1, 0, 6002), 1), [2, 5, 1]);
        assert_eq!((net.counter("joins"), net.counter("joins_by_listener")), (3, 2));
    }
}

#[test]
fn a_join_before_the_third_ack_is_known_by_the_listeners_token() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.shake(&connection, [0, 1]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
    net.shake(&connection, [2]);
    // The initiator's key is known only now.
    assert_eq!(net.join(&connection, flow(1, 0, 6001), 1), [2, 4, 1]);
}

#[test]
fn a_third_ack_that_overtakes_the_listeners_answer_is_enough() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.shake(&connection, [0, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
    net.shake(&connection, [1]);
    assert_eq!(net.join(&connection, flow(0, 1, 4002), 0), [1, 4, 2]);
    assert_eq!((net.counter("established"), net.counter("keys_mismatched")), (1, 0));
}

#[test]
fn a_third_ack_that_comes_up_by_an_old_rule_ends_the_copies_like_any_other() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.shake(&connection, [0, 1]);
    let ack = net.straggle(connection.first, 0, ACK, Some(connection.capable(2)));
    assert_eq!(net.way(ack), [2], "the controller delivers it at the other end");
    is_not_copied(&mut net, connection.first, Some(Mptcp::Other));
    // The initiator's key is known.
    assert_eq!(net.join(&connection, flow(1, 0, 6001), 1), [2, 3, 1]);
}

#[test]
fn what_the_listener_says_of_its_key_counts_and_not_what_others_say() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.shake(&connection, [0]);
    let Mptcp::Capable { version, sender_key, .. } = connection.capable(2) else { unreachable!() };
    net.say(connection.first, 0, ACK, Some(Mptcp::Capable { version, sender_key, receiver_key: Some(666) }));
    net.shake(&connection, [1]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
    assert_eq!(net.counter("keys_mismatched"), 1);
}

#[test]
fn lost_and_repeated_syns_change_nothing() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    let syn = net.segment(connection.first, 0, SYN, Some(connection.capable(0)));
    // Three before the rules are installed: they are one flow, and only the first reaches the other end.
    let sent: Vec<u64> = (0..3).map(|_| net.send(0, syn)).collect();
    net.run(Duration::from_ms(60));
    let heard: Vec<usize> = sent.iter().map(|&frame| net.deliveries(frame).len()).collect();
    assert_eq!(heard, [1, 0, 0]);
    assert_eq!((net.counter("flows_new"), net.counter("syns_repeated"), net.counter("capable")), (1, 2, 1));
    // One more, then the reply is lost and repeated: the copies are not forwarded again.
    net.shake(&connection, [0]);
    for _ in 0..2 {
        assert_eq!(net.say_on(connection.first, 1, SYN_ACK, Some(connection.capable(1))), [2, 1]);
    }
    net.say(connection.first, 0, ACK, Some(connection.capable(2)));
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
    assert_eq!((net.counter("capable"), net.counter("established"), net.held()), (1, 1, 0));
}

#[test]
fn a_repeated_join_is_one_subflow() {
    let (mut net, connection) = four_open(&[1, 2]);
    let syn = Mptcp::Join(Join::Syn { token: connection.token(1), nonce: 4001 });
    let packet = net.segment(flow(0, 1, 4001), 0, SYN, Some(syn));
    net.send(0, packet);
    net.send_and_run(0, packet, 60);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4002), 0), [1, 4, 2]);
    assert_eq!(net.counter("joins"), 2);
}

#[test]
fn an_unknown_token_goes_the_shortest_path() {
    let (mut net, connection) = four_open(&[1, 2]);
    let stranger = v1(5000);
    assert_eq!(net.join(&stranger, flow(0, 1, 4001), 0), [1, 2]);
    assert_eq!((net.counter("joins_unknown_token"), net.counter("joins")), (1, 0));
    assert_eq!(net.join(&connection, flow(0, 1, 4002), 0), [1, 3, 2], "and takes no path");
}

#[test]
fn a_listener_without_mptcp_makes_it_plain_tcp() {
    for answer in [None, Some(Mptcp::Malformed)] {
        let (mut net, connection) = (four(&[1, 2]), v1(4000));
        net.say(connection.first, 0, SYN, Some(connection.capable(0)));
        assert_eq!(net.say_on(connection.first, 1, SYN_ACK, answer), [2, 1]);
        assert_eq!(net.say_on(connection.first, 0, ACK, None), [1, 2]);
        assert_eq!((net.counter("refused"), net.counter("connections_now")), (1, 0));
        assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 2], "no host has that token");
        is_not_copied(&mut net, connection.first, None);
    }
}

#[test]
fn an_initiator_that_falls_back_makes_it_plain_tcp() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.shake(&connection, [0, 1]);
    net.say(connection.first, 0, ACK, None);
    assert_eq!((net.counter("refused"), net.counter("connections_now")), (1, 0));
}

#[test]
fn a_listener_may_choose_the_older_version() {
    let mut net = four(&[1, 2]);
    let (new, old) = (v1(4000), Connection { version: Version::V0, ..v1(4000) });
    net.shake(&new, [0]);
    net.shake(&old, [1, 2]);
    assert_eq!(net.join(&old, flow(0, 1, 4001), 0), [1, 3, 2], "by the SHA-1 of its key");
}

#[test]
fn ends_that_are_used_again_are_another_connection() {
    let mut net = four(&[1, 2]);
    let first = v1(4000);
    net.open(&first);
    net.join(&first, flow(0, 1, 4001), 0);
    // Its rules have idled out but the flow is remembered; then the endpoints are reused with other keys.
    net.run(Duration::from_secs(15));
    assert_eq!((net.counter("connections_now"), net.counter("flows_dormant_now")), (1, 2));
    let second = Connection::new(flow(0, 1, 4000), Version::V1, 77);
    net.open(&second);
    assert_eq!(net.join(&second, flow(0, 1, 4002), 0), [1, 3, 2]);
    assert_eq!(net.counter("connections_now"), 2, "the first one's other subflow is still remembered");
    net.run(Duration::from_secs(120));
    assert_eq!((net.counter("connections_now"), net.counter("flows_now")), (0, 0));
}

#[test]
fn tokens_that_collide_are_distinguished_by_their_hosts() {
    // Two listeners with the same key, drawn independently.
    let mut net = four(&[1, 2, 2, 1]);
    let one = Connection { first: flow(0, 1, 4000), version: Version::V1, keys: [1, 99] };
    let two = Connection { first: flow(3, 2, 4000), version: Version::V1, keys: [2, 99] };
    net.open(&one);
    net.open(&two);
    net.join(&two, flow(3, 2, 4001), 0);
    net.join(&two, flow(3, 2, 4002), 0);
    assert_eq!(net.join(&one, flow(0, 1, 4001), 0), [1, 3, 2], "the first join of this one");
    assert_eq!(net.join(&two, flow(3, 2, 4003), 0), [1, 5, 2], "the third of that one");
    // The host draws the key again only after the connection that had it is gone.
    let three = Connection { first: flow(3, 1, 5000), version: Version::V1, keys: [3, 99] };
    net.open(&three);
    assert_eq!(net.join(&three, flow(3, 1, 5001), 0), [1, 3, 2]);
    assert_eq!(net.join(&two, flow(3, 2, 4004), 0), [1, 2], "its fourth");
}

#[test]
fn malformed_options_are_counted_and_plain_tcp() {
    let mut net = four(&[1, 2]);
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, SYN, Some(Mptcp::Malformed)), [1, 2]);
    assert_eq!(net.say_on(flow(0, 1, 4000), 1, SYN_ACK, Some(Mptcp::Malformed)), [2, 1]);
    // An option that belongs in another segment is ignored as well.
    let misplaced = Mptcp::Join(Join::Ack { hmac: [0; 20] });
    assert_eq!(net.say_on(flow(0, 1, 4001), 0, SYN, Some(misplaced)), [1, 2]);
    assert_eq!((net.counter("options_malformed"), net.counter("flows_plain")), (1, 2));
    assert_eq!((net.counter("connections_now"), net.counter("joins")), (0, 0));
}

#[test]
fn a_handshake_that_does_not_end_is_not_watched_for_ever() {
    let (mut net, connection) = (four(&[1, 2]), v1(4000));
    net.say(connection.first, 0, SYN, Some(connection.capable(0)));
    assert_eq!((net.counter("connections_pending_now"), net.counter("handshakes_now")), (1, 1));
    net.run(Duration::from_secs(4));
    assert_eq!((net.counter("connections_now"), net.counter("handshakes_now")), (0, 0));
    assert_eq!(net.counter("handshakes_unfinished"), 1);
    let copied = net.counter("packet_ins_copied");
    let frame = net.say(connection.first, 1, SYN_ACK, Some(connection.capable(1)));
    assert_eq!((net.way(frame), net.counter("packet_ins_copied")), (vec![2, 1], copied));
}

#[test]
fn a_subflow_that_was_idle_keeps_its_path() {
    let (mut net, connection) = four_open(&[1, 2]);
    net.join(&connection, flow(0, 1, 4001), 0);
    let joined = net.join(&connection, flow(0, 1, 4002), 0);
    assert_eq!(joined, [1, 4, 2]);
    net.run(Duration::from_secs(30));
    assert_eq!(net.counter("flows_dormant_now"), 3);
    // They wake up in another order, and no two of them share a path.
    let ways = [4002, 4000, 4001].map(|port| net.say_on(flow(0, 1, port), 0, ACK, Some(Mptcp::Other)));
    assert_eq!(ways, [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2]]);
    assert_eq!((net.counter("flows_dormant_now"), net.counter("connections_now")), (0, 1));
}

#[test]
fn a_subflow_of_another_interface_is_proven_by_its_hmac() {
    // Hosts 0 and 2 are two interfaces of one machine, on different switches.
    let (mut net, connection) = four_open(&[1, 2, 3]);
    assert_eq!(net.join(&connection, flow(2, 1, 7000), 0), [3, 2]);
    assert_eq!((net.counter("joins"), net.counter("joins_proven"), net.counter("joins_forged")), (1, 1, 0));
    is_not_copied(&mut net, flow(2, 1, 7000), Some(Mptcp::Other));
    let Content::Tcp(_) = net.delivered.last().unwrap().packet.content else { panic!("TCP") };
}

#[test]
fn a_subflows_hmac_may_be_seen_before_the_answer_that_it_is_about() {
    let (mut net, connection) = four_open(&[1, 2, 3]);
    let (late, nonces) = (flow(2, 1, 7000), [7000, 77]);
    let syn = Join::Syn { token: connection.token(1), nonce: nonces[0] };
    net.say(late, 0, SYN, Some(Mptcp::Join(syn)));
    net.say(late, 0, ACK, Some(Mptcp::Join(Join::Ack { hmac: connection.hmac(0, nonces) })));
    assert_eq!(net.counter("joins_proven"), 0);
    net.say(late, 1, SYN_ACK, Some(Mptcp::Join(Join::SynAck { hmac: 0, nonce: nonces[1] })));
    assert_eq!((net.counter("joins_proven"), net.counter("joins_forged")), (1, 0));
    is_not_copied(&mut net, late, Some(Mptcp::Other));
}

#[test]
fn a_join_that_is_proven_too_late_is_moved_off_a_path_that_was_given_away() {
    // Host 2 is another interface of host 0's machine, at the same switch.
    let (mut net, connection) = four_open(&[1, 2, 1]);
    let late = flow(2, 1, 7000);
    let nonces = [7000, 77];
    let syn = Mptcp::Join(Join::Syn { token: connection.token(1), nonce: nonces[0] });
    assert_eq!(net.say_on(late, 0, SYN, Some(syn)), [1, 3, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2], "unverified joins take no path");
    let back = connection.hmac(1, [nonces[1], nonces[0]]);
    let hmac = u64::from_be_bytes(back[..8].try_into().unwrap());
    net.say(late, 1, SYN_ACK, Some(Mptcp::Join(Join::SynAck { hmac, nonce: nonces[1] })));
    net.say(late, 0, ACK, Some(Mptcp::Join(Join::Ack { hmac: connection.hmac(0, nonces) })));
    assert_eq!(net.say_on(late, 0, ACK, Some(Mptcp::Other)), [1, 4, 2]);
    assert_eq!(net.say_on(late, 1, ACK, Some(Mptcp::Other)), [2, 4, 1]);
    assert_eq!(net.counter("flows_moved"), 1);
}
