//! Switches and hosts without a controller: the test sends its messages.

use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_ofload::{Connections, Delays, Network, Offer, Offered, RunError, Settings, World, run};
use weft_wire::mptcp::{Handshake, Version};
use weft_wire::openflow::{
    Action, FlowCommand, FlowMod, Hello, List, Masked, Match, Message, Messages, PacketOut, PortNumber,
};
use weft_wire::{Ethernet, Mac, TcpFrame};

const MS: u64 = 1_000_000;

fn world(fabric: &str, subflows: usize) -> World {
    let network = Network::parse(fabric).unwrap();
    let is_local = network.directions() == 0;
    let offer = Offer { version: Some(Version::V1), subflows, fresh_addresses: false, is_local };
    let connections = Connections::new(&network, offer, Xoshiro256PlusPlus::seed_from_u64(7));
    World::new(network, connections, Delays { join: MS, give_up: 1000 * MS })
}

fn written(message: &Message) -> Vec<u8> {
    let mut bytes = vec![0; message.encoded_len()];
    message.write(1, &mut bytes).unwrap();
    bytes
}

/// Sends a controller's message to a switch.
fn say(world: &mut World, switch: usize, message: &Message) {
    world.message(switch, &written(message));
}

fn add(world: &mut World, switch: usize, priority: u16, matching: Match, actions: &[Action]) {
    let change = FlowMod { cookie: 9, priority, ..FlowMod::new(FlowCommand::Add, matching, actions) };
    say(world, switch, &Message::FlowMod(change));
}

/// Drains a switch's output: its packet-ins, with their ports.
fn asked(world: &mut World, switch: usize) -> Vec<(PortNumber, Vec<u8>)> {
    let said = std::mem::take(&mut world.agents[switch].out);
    let packet = |bytes: &[u8]| match Message::parse(bytes).unwrap().1 {
        Message::PacketIn(packet) => Some((packet.in_port, packet.data.to_vec())),
        _ => None,
    };
    Messages::new(&said).filter_map(|message| packet(message.unwrap())).collect()
}

fn up() -> [Action; 1] {
    [Action::Output { port: PortNumber::CONTROLLER, max_len: Action::WHOLE }]
}

fn to(mac: Mac) -> Match {
    Match { eth_dst: Some(Masked::exact(mac)), ..Match::default() }
}

/// Two hosts on a switch that sends table misses to the controller.
fn pair(subflows: usize) -> World {
    let mut world = world("alone:1", subflows);
    add(&mut world, 0, 0, Match::default(), &up());
    world
}

/// Sends a packet out of a switch's port.
fn send_out(world: &mut World, switch: usize, in_port: PortNumber, port: PortNumber, data: &[u8]) {
    let actions = [Action::output(port)];
    let packet = PacketOut { buffer: None, in_port, actions: List::new(&actions), data };
    say(world, switch, &Message::PacketOut(packet));
}

#[test]
fn a_connection_has_its_subflows_when_each_syn_was_released() {
    let mut world = pair(4);
    world.now = 5 * MS;
    world.open();
    let [(in_port, syn)] = &asked(&mut world, 0)[..] else { panic!("expected a packet-in of the SYN") };
    world.now = 7 * MS;
    for host in 0..2 {
        let mac = world.network.hosts[host].mac;
        add(&mut world, 0, 1, to(mac), &[Action::output(PortNumber(host as u32 + 1))]);
    }
    send_out(&mut world, 0, *in_port, PortNumber::TABLE, syn);
    let connections = &world.connections;
    assert_eq!((connections.capable.len(), connections.capable.max() / 1000), (1, 2000));
    // Its joins need no packet-in: the rules exist. They follow after their delay.
    assert_eq!(world.connections.completed, 0);
    assert_eq!(world.on_time(), Some(8 * MS));
    world.now = 8 * MS;
    world.on_time();
    let connections = &world.connections;
    assert_eq!((connections.completed, connections.unasked, connections.failures.repeated), (1, 3, 0));
    assert_eq!(
        (connections.alive(), connections.whole.max() / 1000, connections.distinct_paths),
        (1, 3000, 1)
    );
    assert_eq!((world.counts.packet_ins, world.counts.packet_ins_of_syns), (1, 1));
}

#[test]
fn handshakes_are_those_of_multipath_tcp() {
    let mut world = pair(2);
    world.open();
    let mut seen = Vec::new();
    for _ in 0..9 {
        for (in_port, frame) in asked(&mut world, 0) {
            let out = if in_port == PortNumber(1) { PortNumber(2) } else { PortNumber(1) };
            send_out(&mut world, 0, in_port, out, &frame);
            seen.push(frame);
        }
        world.now += MS;
        world.on_time();
    }
    assert_eq!(world.connections.completed, 1);
    let read: Vec<Handshake> = seen
        .iter()
        .map(|frame| Handshake::read(TcpFrame::parse(frame).unwrap().tcp()).unwrap().expect("an option"))
        .collect();
    let [
        Handshake::Capable(syn),
        Handshake::Capable(syn_ack),
        Handshake::Capable(ack),
        Handshake::Join(join),
        Handshake::Join(granted),
        Handshake::Join(confirmed),
    ] = read[..]
    else {
        panic!("{read:?}")
    };
    assert_eq!((syn.sender_key(), syn_ack.sender_key(), ack.receiver_key()), {
        let server = syn_ack.sender_key();
        (None, server, server)
    });
    let (client, server) = (ack.sender_key().unwrap(), ack.receiver_key().unwrap());
    let weft_wire::mptcp::Join::Syn { token, nonce: a, .. } = join else { panic!("{join:?}") };
    let weft_wire::mptcp::Join::SynAck { nonce: b, .. } = granted else { panic!("{granted:?}") };
    assert_eq!(token, server.token(Version::V1));
    let party = |key, nonce| weft_wire::mptcp::Party { key, nonce };
    assert!(granted.verify(Version::V1, party(server, b), party(client, a)));
    assert!(confirmed.verify(Version::V1, party(client, a), party(server, b)));
}

#[test]
fn a_rule_that_leads_elsewhere_is_found_out() {
    let mut world = pair(1);
    world.open();
    let [(in_port, syn)] = &asked(&mut world, 0)[..] else { panic!("expected a packet-in of the SYN") };
    let (client, server) = (in_port.0, 3 - in_port.0);
    // To the right port, with the wrong address.
    let wrong = [Action::SetEthDst(Mac([6, 0x57, 0, 0, 0, 1])), Action::output(PortNumber(server))];
    let from_client = Match { in_port: Some(*in_port), ..Match::default() };
    add(&mut world, 0, 2, from_client, &wrong);
    send_out(&mut world, 0, *in_port, PortNumber::TABLE, syn);
    assert_eq!((world.connections.failures.misdelivered, world.connections.capable.len()), (1, 0));
    // Back to where it came from.
    add(&mut world, 0, 3, from_client, &[Action::output(PortNumber(client))]);
    send_out(&mut world, 0, *in_port, PortNumber::TABLE, syn);
    assert_eq!(world.counts.misdirected, 1);
    // Dropped.
    add(&mut world, 0, 4, from_client, &[]);
    send_out(&mut world, 0, *in_port, PortNumber::TABLE, syn);
    assert_eq!(world.counts.dropped, 1);
    world.now = 1000 * MS;
    world.on_time();
    let connections = &world.connections;
    assert_eq!((connections.failed, connections.failures.syn, connections.in_progress()), (1, 1, 0));
}

#[test]
fn frames_that_go_in_circles_are_stopped() {
    let mut world = world("spine-leaf:1x2x1", 1);
    // Leaf to spine and back.
    let actions = [Action::output(PortNumber::IN_PORT)];
    add(&mut world, 2, 1, Match::default(), &actions);
    for leaf in 0..2 {
        let uplink = Match { in_port: Some(PortNumber(2)), ..Match::default() };
        add(&mut world, leaf, 2, uplink, &actions);
        add(&mut world, leaf, 1, Match::default(), &[Action::output(PortNumber(2))]);
    }
    world.open();
    assert_eq!((world.counts.looped, world.connections.completed), (1, 0));
}

#[test]
fn hosts_answer_arp_and_lldp_crosses_cables() {
    let mut world = world("spine-leaf:1x2x1", 1);
    for switch in 0..3 {
        add(&mut world, switch, 0, Match::default(), &[Action::output(PortNumber::FLOOD)]);
    }
    world.resolve(0, 1);
    assert_eq!(world.resolved, [true, false]);
    world.announce(1);
    assert_eq!(world.resolved, [true, false]);
    let mut lldp = vec![0; 60];
    lldp[12..14].copy_from_slice(&[0x88, 0xcc]);
    add(&mut world, 2, 5, Match { eth_type: Some(weft_wire::EtherType(0x88cc)), ..Match::default() }, &up());
    send_out(&mut world, 0, PortNumber::CONTROLLER, PortNumber(2), &lldp);
    let came = asked(&mut world, 2);
    assert_eq!((came.len(), came[0].0, world.directions_crossed()), (1, PortNumber(1), 1));
    assert_eq!(Ethernet::parse(&came[0].1).unwrap().ethertype().0, 0x88cc);
    assert_eq!((world.counts.packet_ins_of_lldp, world.counts.packet_outs_of_lldp), (1, 1));
}

#[test]
fn two_hosts_that_have_used_all_ports_open_no_further_connection_until_others_end() {
    let network = Network::parse("alone:1").unwrap();
    let offer = Offer { version: Some(Version::V1), subflows: 32, fresh_addresses: false, is_local: true };
    let mut connections = Connections::new(&network, offer, Xoshiro256PlusPlus::seed_from_u64(7));
    let opened = std::iter::from_fn(|| connections.open(0)).count() as u64;
    assert!((1735..=2 * 1735).contains(&opened), "{opened} connections with 32 of 55 536 ports each");
    assert_eq!((connections.opened, connections.in_progress()), (opened, opened));
    (0..opened).for_each(|connection| connections.give_up(connection));
    assert!(connections.open(0).is_some());
}

#[test]
fn a_run_ends_with_an_error_when_two_hosts_have_used_all_ports() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = Settings {
        controller: listener.local_addr().unwrap(),
        process: None,
        offer: Offer { version: Some(Version::V1), subflows: 32, fresh_addresses: false, is_local: true },
        offered: Offered::InProgress(u64::MAX),
        warm_up: 0,
        connections: u64::MAX,
        alive: u64::MAX,
        delays: Delays { join: MS, give_up: 1_000_000 * MS },
        patience: Duration::from_secs(60),
        seed: 7,
    };
    // A controller that has the switch flood ARP and drop everything else.
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let arp = Match { eth_type: Some(weft_wire::EtherType::ARP), ..Match::default() };
        let flood = [Action::output(PortNumber::FLOOD)];
        let flood = FlowMod::new(FlowCommand::Add, arp, &flood);
        for message in [Message::Hello(Hello::ONLY_1_3), Message::FeaturesRequest, Message::FlowMod(flood)] {
            stream.write_all(&written(&message)).unwrap();
        }
        std::io::copy(&mut stream, &mut std::io::sink())
    });
    let outcome = run(Network::parse("alone:1").unwrap(), &settings).map(|_| "a report");
    assert!(matches!(outcome, Err(RunError::Ports)), "{outcome:?}");
}
