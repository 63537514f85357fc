//! Opening multipath connections and joining subflows: the segments on the wire, refusals, and losses.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::world::{Cable, Packet, World};
use weft_transport::mptcp::{self, Addresses, Capable, Connection, Dss, Join, Options};
use weft_transport::{Config, Flags, Mptcp, Segment, State};
use weft_units::{Duration, Time};
use weft_wire::mptcp::{Key, Party, Version, join_hmac};

fn config(version: u8, subflows: u8) -> Config {
    let linux = Config::profile("linux").unwrap();
    Config { mptcp: Mptcp::Ndiffports, subflows, mptcp_version: version, ..linux }
}

fn of_number(version: u8) -> Version {
    Version::from_number(version).expect("0 or 1")
}

/// Changes a packet in flight, and returns whether it is lost.
type Act = fn(&mut Packet) -> bool;

/// Every packet sent in a run, with whether it was lost.
struct Log(Rc<RefCell<Vec<(Packet, bool)>>>);

impl Log {
    fn of(&self, keep: impl Fn(&Packet) -> bool) -> Vec<Packet> {
        self.0.borrow().iter().map(|(packet, _)| *packet).filter(keep).collect()
    }
}

/// Sends 100 kB over two paths, with `act` between the sides, until both sides have closed, for at most an hour.
fn transfer(cfg: &Config, act: impl FnMut(&mut Packet) -> bool + 'static) -> (World, Log) {
    transfer_of(cfg, 100_000, act)
}

fn transfer_of(cfg: &Config, bytes: u64, mut act: impl FnMut(&mut Packet) -> bool + 'static) -> (World, Log) {
    let mut world =
        World::new(vec![Cable::default(), Cable { delay: Duration::from_ms(8), ..Cable::default() }]);
    let log = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&log);
    world.filter = Some(Box::new(move |_, packet| {
        let lost = act(packet);
        kept.borrow_mut().push((*packet, lost));
        lost
    }));
    let flow = world.open(cfg, &[0, 1], bytes);
    world.run_until(Duration::from_secs(3600), |world| world.flows[flow].is_closed());
    (world, Log(log))
}

fn all_arrived(world: &World, what: &str) {
    let flow = &world.flows[0];
    let [client, server] = [flow.connection(0), flow.connection(1)];
    assert!(server.delivered() >= 100_000, "{what}: {}", server.delivered());
    assert_eq!(server.delivered(), client.acked(), "{what}");
    assert!(flow.is_closed() && !client.is_aborted() && !server.is_aborted(), "{what}");
}

fn is_syn(packet: &Packet) -> bool {
    packet.segment.flags.has(Flags::SYN)
}

/// The options of a subflow's first four segments, with their bytes of TCP options.
fn opening(log: &Log, subflow: usize) -> Vec<(Options, u8)> {
    let packets = log.of(|packet| packet.subflow == subflow);
    packets.iter().take(4).map(|packet| (packet.options, packet.segment.options)).collect()
}

#[test]
fn the_first_handshake_shows_the_keys_where_each_version_has_them() {
    for (version, sizes) in
        [(1, [20 + 4, 20 + 12, 12 + 20, 12 + 24]), (0, [20 + 12, 20 + 12, 12 + 20, 12 + 20])]
    {
        let (world, log) = transfer(&config(version, 1), |_| false);
        all_arrived(&world, "no loss");
        let seen = opening(&log, 0);
        assert_eq!(seen.iter().map(|seen| seen.1).collect::<Vec<_>>(), sizes, "{version}");
        let Options::Capable(Capable { sender_key: Some(server), receiver_key: None, .. }) = seen[1].0 else {
            panic!("{:?}", seen[1])
        };
        let Options::Capable(Capable { sender_key: Some(client), receiver_key, .. }) = seen[2].0 else {
            panic!("{:?}", seen[2])
        };
        assert_eq!(receiver_key, Some(server));
        let key_of_syn = (version == 0).then_some(client);
        let syn = Capable { version, sender_key: key_of_syn, receiver_key: None };
        assert_eq!(seen[0].0, Options::Capable(syn));
        let first_number = Key(client).initial_data_sequence(of_number(version)).wrapping_add(1);
        match (version, seen[3].0) {
            (1, data) => assert_eq!(data, seen[2].0, "both keys again"),
            (_, Options::Dss(dss)) => assert_eq!(dss.dsn, Some(first_number)),
            (_, other) => panic!("{other:?}"),
        }
        let data = log.of(|packet| packet.segment.len > 0);
        let Options::Dss(dss) = data[1].options else { panic!("{:?}", data[1]) };
        assert_eq!(dss.dsn, Some(first_number.wrapping_add(u64::from(data[0].segment.len))));
        // A full segment is as long as in plain TCP.
        let full = data.iter().map(|packet| packet.segment.ip_bytes()).max();
        assert_eq!(full, Some(1500));
    }
}

#[test]
fn a_join_names_the_receiver_by_its_token_and_proves_the_keys() {
    for version in [0, 1] {
        let (world, log) = transfer(&config(version, 3), |_| false);
        all_arrived(&world, "no loss");
        assert_eq!(world.flows[0].connection(0).stats().subflows, 3);
        let keys = log.of(|packet| matches!(packet.options, Options::Capable(c) if c.receiver_key.is_some()));
        let Options::Capable(Capable { sender_key: Some(client), receiver_key: Some(server), .. }) =
            keys[0].options
        else {
            panic!("{keys:?}")
        };
        for subflow in [1, 2] {
            let seen = opening(&log, subflow);
            let sizes: Vec<u8> = seen.iter().map(|seen| seen.1).collect();
            let ack = if version == 1 { 12 } else { 8 };
            assert_eq!(sizes, [20 + 12, 20 + 16, 12 + 24, 12 + ack], "the fourth segment is an ACK");
            let Options::Join(Join::Syn { token, nonce: ours, .. }) = seen[0].0 else { panic!("{seen:?}") };
            assert_eq!(token, Key(server).token(of_number(version)).0);
            let Options::Join(Join::SynAck { hmac, nonce: theirs, .. }) = seen[1].0 else {
                panic!("{seen:?}")
            };
            let client = Party { key: Key(client), nonce: ours };
            let server = Party { key: Key(server), nonce: theirs };
            assert_eq!(hmac.to_be_bytes(), join_hmac(of_number(version), server, client)[..8]);
            let hmac = join_hmac(of_number(version), client, server);
            assert_eq!(seen[2].0, Options::Join(Join::Ack { hmac }));
            assert!(matches!(seen[3].0, Options::Dss(Dss { dsn: None, .. })));
        }
    }
}

#[test]
fn no_join_leaves_before_the_other_side_has_shown_that_it_has_both_keys() {
    let (_, log) = transfer(&config(1, 2), |_| false);
    let all = log.of(|_| true);
    let join = all.iter().position(|packet| matches!(packet.options, Options::Join(_))).unwrap();
    let answer = all.iter().position(|packet| packet.to == 0 && matches!(packet.options, Options::Dss(_)));
    assert!(answer.unwrap() < join);
}

/// Loses the packets with these numbers, counted from 1, among those that `which` selects.
fn lose(which: fn(&Packet) -> bool, numbers: &'static [u32]) -> impl FnMut(&mut Packet) -> bool + 'static {
    let mut count = 0;
    move |packet| {
        count += u32::from(which(packet));
        which(packet) && numbers.contains(&count)
    }
}

#[test]
fn every_segment_of_the_handshakes_may_be_lost() {
    type Which = fn(&Packet) -> bool;
    let third_ack =
        |packet: &Packet| packet.to == 1 && packet.subflow == 0 && packet.segment.len == 0 && !is_syn(packet);
    let data = |packet: &Packet| packet.to == 1 && packet.subflow == 0 && !is_syn(packet);
    let of_join = |packet: &Packet| packet.subflow == 1;
    let cases: [(&str, Which, &[u32]); 9] = [
        ("two SYNs", |packet| is_syn(packet) && packet.to == 1, &[1, 2]),
        ("two SYN+ACKs", |packet| is_syn(packet) && packet.to == 0, &[1, 2]),
        ("the third ACK", third_ack, &[1]),
        ("the third ACK and the first data", data, &[1, 2]),
        ("the third ACK and all first data", data, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("the SYN of the join", of_join, &[1]),
        ("the SYN+ACK of the join", of_join, &[2]),
        ("the third ACK of the join", of_join, &[3, 4]),
        ("the fourth ACK of the join", of_join, &[4, 6]),
    ];
    for version in [0, 1] {
        for (what, which, numbers) in cases {
            // Slow enough that the join completes in time.
            let cfg = Config { send_buffer: weft_units::Bytes(4_000), ..config(version, 2) };
            let (world, log) = transfer_of(&cfg, 2_000_000, lose(which, numbers));
            all_arrived(&world, what);
            let client = world.flows[0].connection(0);
            assert!(!client.is_plain(), "{what}");
            assert_eq!(client.stats().refused + world.flows[0].connection(1).stats().refused, 0, "{what}");
            assert_eq!(client.stats().subflows, 2, "{version} {what}");
            assert!(log.0.borrow().iter().any(|(_, lost)| *lost), "{what}");
        }
    }
}

#[test]
fn a_repeated_syn_opens_nothing_twice() {
    let cfg = config(1, 1);
    let multi = mptcp::Config::new(&cfg).unwrap();
    let now = Time::ZERO;
    let mut client = Connection::connect(&multi, now, 1, 100, Addresses::default());
    let mut server = Connection::listen(&multi, 2, 900);
    let (mut syn, mut options) = (Segment::default(), Options::None);
    assert_eq!(client.poll_transmit(&multi, now, &mut syn, &mut options), Some(0));
    let mut answers = Vec::new();
    for _ in 0..3 {
        server.on_segment(&multi, 0, now, &syn, &options);
        let (mut answer, mut with) = (Segment::default(), Options::None);
        while server.poll_transmit(&multi, now, &mut answer, &mut with).is_some() {
            answers.push((answer.seq, answer.ack, with));
        }
    }
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

/// A client and a listener driven by hand, with or without the client's third ACK delivered.
fn by_hand(third_ack: bool) -> (mptcp::Config, Connection, Connection) {
    let multi = mptcp::Config::new(&config(1, 2)).unwrap();
    let now = Time::ZERO;
    let mut client = Connection::connect(&multi, now, 1, 100, Addresses::default());
    let mut server = Connection::listen(&multi, 2, 900);
    exchange(&multi, &mut client, &mut server, 0);
    exchange(&multi, &mut server, &mut client, 0);
    if third_ack {
        exchange(&multi, &mut client, &mut server, 0);
    }
    (multi, client, server)
}

/// Delivers everything `from` has to send to subflow `to` of the other side; returns it.
fn exchange(
    cfg: &mptcp::Config,
    from: &mut Connection,
    into: &mut Connection,
    to: usize,
) -> Vec<(Segment, Options)> {
    let (mut segment, mut options) = (Segment::default(), Options::None);
    let mut sent = Vec::new();
    while from.poll_transmit(cfg, Time::ZERO, &mut segment, &mut options).is_some() {
        into.on_segment(cfg, to, Time::ZERO, &segment, &options);
        sent.push((segment, options));
    }
    sent
}

fn sent(cfg: &mptcp::Config, side: &mut Connection) -> Vec<(Segment, Options)> {
    let mut none = Connection::listen(cfg, 0, 0);
    exchange(cfg, side, &mut none, usize::MAX)
}

fn join_syn(token: u32) -> (Segment, Options) {
    let syn = Segment { seq: 5000, window: 60_000, flags: Flags::SYN, ..Segment::default() };
    (syn, Options::Join(Join::Syn { token, nonce: 3, address: 1 }))
}

#[test]
fn joins_before_the_third_ack_with_an_unknown_token_or_without_one_are_reset() {
    let good = Key(2).token(Version::V1).0;
    let cases = [
        ("before the third ACK", false, join_syn(good), false),
        ("after it", true, join_syn(good), true),
        ("with another token", true, join_syn(good ^ 1), false),
        ("without MP_JOIN", true, (join_syn(good).0, Options::None), false),
        (
            "with MP_CAPABLE",
            true,
            (
                join_syn(good).0,
                Options::Capable(Capable { version: 1, sender_key: None, receiver_key: None }),
            ),
            false,
        ),
    ];
    for (what, third_ack, (syn, options), accepted) in cases {
        let (cfg, _, mut server) = by_hand(third_ack);
        sent(&cfg, &mut server);
        let number = server.accept(&cfg, 0, 77).unwrap();
        server.on_segment(&cfg, number, Time::ZERO, &syn, &options);
        let answer = sent(&cfg, &mut server);
        assert_eq!(answer.len(), 1, "{what}");
        let (segment, with) = answer[0];
        assert_eq!(segment.ack, 5001, "{what}");
        if accepted {
            assert!(segment.flags.has(Flags::SYN | Flags::ACK) && matches!(with, Options::Join(_)), "{what}");
        } else {
            assert!(segment.flags.has(Flags::RST | Flags::ACK), "{what}: {segment:?}");
            assert_eq!((with, server.stats().refused), (Options::None, 1), "{what}");
            assert!(!server.is_closed(), "{what}");
        }
    }
}

#[test]
fn refused_joins_use_up_no_places() {
    let (cfg, _, mut server) = by_hand(true);
    for _ in 0..100 {
        let number = server.accept(&cfg, 0, 77).expect("a place");
        let (syn, options) = join_syn(0);
        server.on_segment(&cfg, number, Time::ZERO, &syn, &options);
        sent(&cfg, &mut server);
    }
    assert_eq!((server.stats().refused, server.subflows().len()), (100, mptcp::MAX_SUBFLOWS));
}

#[test]
fn a_join_without_the_right_proof_is_reset_and_the_connection_goes_on() {
    let spoilt: [(&str, Act); 3] = [
        ("HMAC of the SYN+ACK", |packet| {
            if let Options::Join(Join::SynAck { hmac, .. }) = &mut packet.options {
                *hmac ^= 1;
            }
            false
        }),
        ("HMAC of the third ACK", |packet| {
            if let Options::Join(Join::Ack { hmac }) = &mut packet.options {
                hmac[19] ^= 1;
            }
            false
        }),
        ("no option on the SYN+ACK", |packet| {
            if matches!(packet.options, Options::Join(Join::SynAck { .. })) {
                packet.options = Options::None;
            }
            false
        }),
    ];
    for (what, spoil) in spoilt {
        let (world, log) = transfer(&config(1, 2), spoil);
        all_arrived(&world, what);
        let [client, server] = [0, 1].map(|side| world.flows[0].connection(side));
        assert_eq!(client.stats().refused + server.stats().refused, 1, "{what}");
        assert_eq!((client.stats().subflows.min(server.stats().subflows)), 1, "{what}");
        let resets = log.of(|packet| packet.segment.flags.has(Flags::RST));
        assert!(!resets.is_empty() && resets.iter().all(|packet| packet.subflow == 1), "{what}");
        let ends = |side: &Connection| side.subflows().nth(1).unwrap().state() == State::Closed;
        assert!(ends(client) && ends(server), "{what}");
    }
}

#[test]
fn without_an_answer_to_mp_capable_the_connection_is_tcp() {
    fn strip(packet: &mut Packet, which: fn(&Packet) -> bool) -> bool {
        if which(packet) {
            packet.options = Options::None;
        }
        false
    }
    let cases: [(&str, Act); 4] = [
        ("removed from the SYN", |packet| strip(packet, |packet| is_syn(packet) && packet.to == 1)),
        ("removed from the SYN+ACK", |packet| strip(packet, is_syn)),
        ("removed from all except SYNs", |packet| strip(packet, |packet| !is_syn(packet))),
        ("removed from all client segments except its SYN", |packet| {
            strip(packet, |packet| packet.to == 1 && !is_syn(packet))
        }),
    ];
    for version in [0, 1] {
        for (what, act) in cases {
            let (world, log) = transfer(&config(version, 3), act);
            all_arrived(&world, what);
            for side in [0, 1] {
                let connection = world.flows[0].connection(side);
                assert!(connection.is_plain(), "{version} {what} {side}");
                assert_eq!(connection.subflows().len(), 1, "{what}");
            }
            let client = world.flows[0].connection(0);
            assert_eq!((client.acked(), client.totals().timeouts), (100_000, 0), "{version} {what}");
            assert!(log.of(|packet| packet.segment.flags.has(Flags::RST)).is_empty(), "{what}");
        }
    }
}

#[test]
fn a_path_that_takes_options_away_later_loses_its_subflow_only() {
    let mut count = 0;
    let (world, _) = transfer_of(&config(1, 2), 2_000_000, move |packet| {
        count += u32::from(packet.subflow == 1 && packet.segment.len > 0);
        if packet.subflow == 1 && count > 5 {
            packet.options = Options::None;
        }
        false
    });
    all_arrived(&world, "options removed");
    let client = world.flows[0].connection(0);
    assert_eq!(client.subflows().nth(1).unwrap().state(), State::Closed);
    assert!(client.stats().reinjected > 0);
}

#[test]
fn a_plain_client_and_a_multipath_listener_speak_tcp() {
    let multi = mptcp::Config::new(&config(1, 2)).unwrap();
    let mut server = Connection::listen(&multi, 2, 900);
    let syn = Segment { seq: 99, window: 60_000, flags: Flags::SYN, ..Segment::default() };
    server.on_segment(&multi, 0, Time::ZERO, &syn, &Options::None);
    let answer = sent(&multi, &mut server);
    assert!(server.is_plain());
    assert_eq!((answer[0].1, answer[0].0.options), (Options::None, 20));
    // A listener that waits for a connection refuses a join.
    let mut server = Connection::listen(&multi, 2, 900);
    let (syn, options) = join_syn(Key(2).token(Version::V1).0);
    server.on_segment(&multi, 0, Time::ZERO, &syn, &options);
    assert!(sent(&multi, &mut server)[0].0.flags.has(Flags::RST));
}
