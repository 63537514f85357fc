//! Linux kernel captures (`crates/wire/captures.json`) through the parser and SMOC: each subflow must be assigned to its
//! connection and take its own path.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;
use weft_control::Duration;
use weft_control::{Content, Controller, Packet, Settings, Show, Smoc, SwitchPort};
use weft_wire::Mac;

use crate::cases::FOUR;
use crate::net::{Host, Net};

fn captures() -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/captures.json");
    let text = std::fs::read_to_string(file).expect("captures.json of weft-wire");
    let mut all: Value = serde_json::from_str(&text).expect("JSON");
    all["captures"].as_array_mut().map(std::mem::take).expect("captures")
}

fn capture(name: &str) -> Value {
    captures()
        .into_iter()
        .find(|capture| capture["name"] == name)
        .unwrap_or_else(|| panic!("no capture {name:?}"))
}

fn bytes(frame: &Value) -> Vec<u8> {
    let text = frame["frame"].as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The hosts of a capture by MAC address, clients at switch 1 and all others at switch 2; the controller knows the
/// addresses in `known`.
fn network(capture: &Value, known: &BTreeSet<(Mac, IpAddr)>) -> (Net<Smoc>, BTreeMap<Mac, usize>) {
    let mut sides: BTreeMap<Mac, u64> = BTreeMap::new();
    for frame in capture["frames"].as_array().unwrap() {
        let packet = Packet::read(&bytes(frame)).unwrap();
        let client = frame["from"] == "client";
        sides.insert(packet.eth_src, if client { 1 } else { 2 });
        sides.entry(packet.eth_dst).or_insert(if client { 2 } else { 1 });
    }
    let places: Vec<u64> = sides.values().copied().collect();
    let mut net = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
    net.build(5, &FOUR, &places);
    let mut numbers = BTreeMap::new();
    for (number, &mac) in sides.keys().enumerate() {
        let at = net.hosts[number].at;
        net.hosts[number] = Host { at, mac, ip: Ipv4Addr::UNSPECIFIED };
        numbers.insert(mac, number);
        let own: Vec<IpAddr> = known.iter().filter(|(other, _)| *other == mac).map(|&(_, ip)| ip).collect();
        net.tell(|c, now, out| c.host_known(now, at, mac, &own, out));
    }
    (net, numbers)
}

/// Sends a capture's frames one after the other and checks that each arrives once; waits for `gap` before a SYN that
/// reuses the endpoints of an earlier flow.
fn play(capture: &Value, known: &BTreeSet<(Mac, IpAddr)>, gap: Duration) -> Net<Smoc> {
    let (mut net, numbers) = network(capture, known);
    let mut opened: BTreeMap<String, u32> = BTreeMap::new();
    for frame in capture["frames"].as_array().unwrap() {
        let packet = Packet::read(&bytes(frame)).unwrap();
        let Content::Tcp(segment) = packet.content else { panic!("TCP: {frame}") };
        if segment.is_syn() {
            let ends = format!("{} {}", segment.source, segment.destination);
            if opened.insert(ends, segment.sequence).is_some_and(|sequence| sequence != segment.sequence) {
                net.run(gap);
            }
        }
        let sent = net.send_and_run(numbers[&packet.eth_src], packet, 60);
        let deliveries = net.deliveries(sent);
        assert_eq!(deliveries.len(), 1, "{frame}");
        assert_eq!((deliveries[0].host, deliveries[0].packet), (numbers[&packet.eth_dst], packet));
    }
    assert_eq!(net.held(), 0);
    net
}

/// The addresses with which stations in a capture send, except the forger's.
fn all_addresses(capture: &Value) -> BTreeSet<(Mac, IpAddr)> {
    let frames = capture["frames"].as_array().unwrap().iter();
    let packets = frames.map(|frame| Packet::read(&bytes(frame)).unwrap());
    let sent = packets.filter_map(|packet| match packet.content {
        Content::Tcp(segment) => Some((packet.eth_src, segment.source.address)),
        _ => None,
    });
    sent.filter(|(_, address)| address.to_string() != "10.0.0.66").collect()
}

fn ends(subflow: &Value) -> (String, String) {
    let end = |end: &Value| {
        let address: IpAddr = end["address"].as_str().unwrap().parse().unwrap();
        let port = end["port"].as_u64().unwrap() as u16;
        weft_control::End { address, port }.to_string()
    };
    (end(&subflow["from"]), end(&subflow["to"]))
}

/// The tokens of each connection, and its subflows as `source, destination`.
type Table = BTreeSet<(String, String, BTreeSet<(String, String)>)>;

/// The connections listed in the capture; `late` joins arrived before their token was known.
fn expected(capture: &Value, late: bool) -> Table {
    let connections = capture["connections"].as_array().unwrap().iter();
    let real = connections.filter(|connection| connection["mptcp"] == true);
    real.map(|connection| {
        let token = |side: &str| connection[side]["token"].as_str().unwrap().to_owned();
        let first = serde_json::json!({ "from": connection["client"], "to": connection["server"] });
        let subflows = connection["subflows"].as_array().unwrap().iter();
        let joined = subflows.filter(|subflow| subflow["confirmed"] == true && !late);
        (token("client"), token("server"), joined.chain([&first]).map(ends).collect())
    })
    .collect()
}

fn found(net: &Net<Smoc>) -> Table {
    let shown = net.controller.show(net.now, Show::Connections, 100);
    let connections = shown["connections"].as_array().unwrap().iter();
    let established = connections.filter(|connection| connection["state"] == "established");
    established
        .map(|connection| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let subflows = connection["subflows"].as_array().unwrap().iter();
            let confirmed = subflows.filter(|subflow| subflow["confirmed"] == true);
            (
                text(&connection["initiator_token"]),
                text(&connection["listener_token"]),
                confirmed.map(|subflow| (text(&subflow["source"]), text(&subflow["destination"]))).collect(),
            )
        })
        .collect()
}

/// Checks that the subflows of each connection are on different paths.
fn all_apart(net: &Net<Smoc>) {
    let shown = net.controller.show(net.now, Show::Connections, 100);
    for connection in shown["connections"].as_array().unwrap() {
        let subflows = connection["subflows"].as_array().unwrap();
        let paths: BTreeSet<i64> = subflows.iter().map(|subflow| subflow["path"].as_i64().unwrap()).collect();
        assert_eq!(paths.len(), subflows.len(), "{connection}");
    }
}

#[test]
fn every_subflow_of_every_capture_is_known_for_what_it_is() {
    // These two are tested below: endpoints reused too early, and joins before the token was seen.
    let apart = ["addresses and ports used again", "joins by the server before the third ACK"];
    for capture in captures() {
        let name = capture["name"].as_str().unwrap();
        if apart.contains(&name) {
            continue;
        }
        // Joins from addresses unknown to the controller must be verified by the kernel's HMACs.
        for known in [BTreeSet::new(), all_addresses(&capture)] {
            let net = play(&capture, &known, Duration::ZERO);
            assert_eq!(found(&net), expected(&capture, false), "{name}");
            all_apart(&net);
            assert_eq!(net.counter("keys_mismatched"), 0, "{name}");
        }
    }
}

#[test]
fn joins_from_unknown_addresses_are_proven_by_the_kernels_hmacs() {
    for (name, proven, forged) in [
        ("three joins by the client", 3, 0),
        ("joins by the server", 2, 0),
        ("joins to other ports", 1, 0),
        ("IPv6", 2, 0),
        ("version 0", 2, 0),
        ("tokens that collide", 2, 0),
        ("a forged join", 0, 1),
    ] {
        let net = play(&capture(name), &BTreeSet::new(), Duration::ZERO);
        assert_eq!((net.counter("joins_proven"), net.counter("joins_forged")), (proven, forged), "{name}");
    }
    let capture = capture("three joins by the client");
    let net = play(&capture, &all_addresses(&capture), Duration::ZERO);
    assert_eq!(
        (net.counter("joins_proven"), net.counter("joins")),
        (0, 3),
        "its own addresses need no proof"
    );
}

#[test]
fn what_is_not_multipath_tcp_is_plain() {
    for (name, counter, count) in [
        ("Multipath TCP refused by the listener", "refused", 1),
        ("Multipath TCP taken out on the way", "refused", 1),
        ("version 0 refused by a listener of version 1", "refused", 1),
        ("plain TCP", "flows_plain", 1),
        ("a join with an unknown token", "joins_unknown_token", 1),
    ] {
        let net = play(&capture(name), &BTreeSet::new(), Duration::ZERO);
        assert_eq!(net.counter(counter), count, "{name}");
    }
    let malformed = capture("malformed options");
    let net = play(&malformed, &BTreeSet::new(), Duration::ZERO);
    let frames = malformed["frames"].as_array().unwrap();
    let count = frames.len() as u64;
    // A reply to an unseen SYN is forwarded and opens no flow.
    let answers = frames.iter().map(|frame| Packet::read(&bytes(frame)).unwrap());
    let answers =
        answers.filter(|packet| matches!(packet.content, Content::Tcp(segment) if segment.is_syn_ack()));
    let opened = count - answers.count() as u64;
    assert_eq!((net.counter("options_malformed"), net.counter("flows_plain")), (count, opened));
    assert_eq!(net.counter("connections_now"), 0);
}

#[test]
fn joins_by_the_server_before_the_third_ack_have_a_token_that_nobody_knows_yet() {
    let capture = capture("joins by the server before the third ACK");
    let net = play(&capture, &BTreeSet::new(), Duration::ZERO);
    assert_eq!(net.counter("joins_unknown_token"), 2);
    assert_eq!(found(&net), expected(&capture, true));
}

#[test]
fn ends_that_are_used_again_are_another_connection_once_their_rules_have_gone() {
    let capture = capture("addresses and ports used again");
    // A connection with immediately reused endpoints matches the old rules, and only its join is seen.
    let net = play(&capture, &BTreeSet::new(), Duration::ZERO);
    assert_eq!((net.counter("capable"), net.counter("joins_unknown_token")), (1, 1));
    let net = play(&capture, &BTreeSet::new(), Duration::from_secs(15));
    assert_eq!((net.counter("capable"), net.counter("established")), (2, 2));
    let token = &capture["connections"][1]["client"]["token"];
    let second = expected(&capture, false).into_iter().find(|(client, _, _)| client == token).unwrap();
    assert!(found(&net).contains(&second));
}

#[test]
fn arbitrary_bytes_are_read_and_change_nothing() {
    let capture = capture("three joins by the client");
    let (mut net, _) = network(&capture, &BTreeSet::new());
    let mut rng = crate::net::Rng(9);
    for frame in capture["frames"].as_array().unwrap() {
        for _ in 0..40 {
            let mut frame = bytes(frame);
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(frame.len() as u64) as usize;
                frame[at] = rng.below(256) as u8;
            }
            frame.truncate(rng.below(frame.len() as u64 + 1) as usize);
            if let Some(packet) = Packet::read(&frame) {
                net.inject(SwitchPort::new(1, 5), packet);
                net.run(Duration::from_ms(1));
            }
        }
    }
    net.run(Duration::from_secs(200));
    assert_eq!((net.held(), net.counter("flows_now")), (0, 0));
}
