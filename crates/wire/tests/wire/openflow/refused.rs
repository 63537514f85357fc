//! Rejected messages, and the reasons.

use weft_wire::openflow::{Action, FlowCommand, FlowMod, Masked, Match, Message, PortNumber};
use weft_wire::{Error, EtherType, IpProtocol, Mac};

use super::messages::written;

/// A rule.
fn flow_mod(matching: Match, actions: &[Action]) -> Vec<u8> {
    let change = FlowMod { cookie: 1, priority: 1, ..FlowMod::new(FlowCommand::Add, matching, actions) };
    written(&Message::FlowMod(change), 1)
}

fn refused(bytes: &[u8]) -> Error {
    Message::parse(bytes).expect_err("rejected")
}

#[test]
fn a_match_without_what_its_fields_need_is_refused() {
    let ip = Match { eth_type: Some(EtherType::IPV4), ip_proto: Some(IpProtocol::TCP), ..Match::default() };
    let icmpv6 =
        Match { eth_type: Some(EtherType::IPV6), ip_proto: Some(IpProtocol::ICMPV6), ..Match::default() };
    let [echo, advertisement] = [128, 136].map(|kind| Match { icmpv6_type: Some(kind), ..icmpv6 });
    for (matching, field) in [
        (Match { ip_proto: Some(IpProtocol::TCP), ..Match::default() }, "eth_type of IP"),
        (Match { ipv4_dst: Some([10, 0, 0, 1].into()), ..Match::default() }, "eth_type of IPv4"),
        (Match { ipv6_src: Some([0; 16].into()), ..ip }, "eth_type of IPv6"),
        (Match { arp_op: Some(1), ..ip }, "eth_type of ARP"),
        (Match { arp_spa: Some([10, 0, 0, 1].into()), ..ip }, "eth_type of ARP"),
        (Match { arp_tpa: Some([10, 0, 0, 1].into()), ..ip }, "eth_type of ARP"),
        (Match { arp_sha: Some(Mac::default()), ..ip }, "eth_type of ARP"),
        (Match { udp_src: Some(1), ..ip }, "ip_proto of UDP"),
        (Match { tcp_dst: Some(1), ip_proto: None, ..ip }, "ip_proto of TCP"),
        (Match { icmpv6_type: Some(135), ..ip }, "ip_proto of ICMPv6"),
        (Match { ipv6_nd_target: Some([0; 16].into()), ..echo }, "icmpv6_type of neighbour discovery"),
        (
            Match { ipv6_nd_sll: Some(Mac::default()), ..advertisement },
            "icmpv6_type of Neighbour Solicitations",
        ),
        (Match { ipv6_nd_tll: Some(Mac::default()), ..echo }, "icmpv6_type of Neighbour Advertisements"),
    ] {
        assert_eq!(refused(&flow_mod(matching, &[])), Error::Missing { field });
    }
    assert!(Message::parse(&flow_mod(Match { tcp_dst: Some(1), ..ip }, &[])).is_ok());
}

#[test]
fn what_only_other_uses_of_openflow_have_is_refused_by_name() {
    let port = Match { in_port: Some(PortNumber(1)), ..Match::default() };
    let mask = Mac([0xff, 0, 0, 0, 0, 0]);
    let masked = Match { eth_dst: Some(Masked::new(Mac::default(), mask)), ..Match::default() };
    let output = [Action::output(PortNumber(1)), Action::SetEthDst(Mac::default())];
    // The match is at 48, its first field at 52; here instructions are at 64, actions at 72 and 88.
    for (matching, at, value, field, said) in [
        (port, 25, 9, "command of a flow-mod", 9),
        (port, 49, 0, "type of match", 0),
        (port, 53, 1, "class of match field", 0),
        (port, 54, 1 << 1, "match field", 1),
        (port, 54, 1, "mask of a match field", 1),
        (port, 54, 10 << 1, "length of match field", 10),
        (masked, 57, 1, "match field bits outside its mask", 1),
        (port, 65, 1, "instruction", 1),
        (port, 73, 22, "action", 22),
        (port, 89, 22, "action", 22),
        (port, 94, 4 << 1, "field to be set", 4),
    ] {
        let mut bytes = flow_mod(matching, &output);
        bytes[at] = value;
        if at == 53 {
            bytes[52] = 0;
        }
        assert_eq!(refused(&bytes), Error::Unsupported { field, value: said }, "byte {at}");
    }
}

#[test]
fn what_stands_twice_is_refused() {
    let port = Match { in_port: Some(PortNumber(1)), eth_type: Some(EtherType::IPV4), ..Match::default() };
    let mut bytes = flow_mod(port, &[]);
    // The eth_type at offset 60 becomes a second in_port.
    bytes.truncate(60);
    bytes.extend([0x80, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0]);
    let len = bytes.len() as u8;
    (bytes[3], bytes[51]) = (len, 20);
    assert_eq!(refused(&bytes), Error::Repeated { field: "in_port" });
    let mut bytes = flow_mod(Match::default(), &[Action::output(PortNumber(1))]);
    bytes.extend_from_within(56..);
    bytes[3] = bytes.len() as u8;
    assert_eq!(refused(&bytes), Error::Repeated { field: "instruction" });
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let bytes = flow_mod(Match::default(), &[Action::output(PortNumber(1))]);
    for (at, value, error) in [
        (3, 7, Error::HeaderLength { least: 8, given: 7 }),
        (3, 47, Error::Short { need: 48, have: 47 }),
        (51, 3, Error::HeaderLength { least: 4, given: 3 }),
        (51, 7, Error::Short { need: 56, have: 55 }),
        (59, 7, Error::HeaderLength { least: 8, given: 7 }),
        (59, 40, Error::Short { need: 96, have: 80 }),
        (67, 3, Error::HeaderLength { least: 16, given: 3 }),
        (67, 15, Error::Short { need: 79, have: 79 }),
        (67, 24, Error::Short { need: 88, have: 80 }),
    ] {
        let mut spoilt = bytes.clone();
        spoilt[at] = value;
        let said = refused(&spoilt);
        // The offset at which it ends within the message is not compared.
        match (error, said) {
            (Error::Short { .. }, Error::Short { need, have }) => assert!(need > have, "{at}: {said:?}"),
            _ => assert_eq!(said, error, "byte {at}"),
        }
    }
}

#[test]
fn another_version_is_refused_but_in_a_hello() {
    for (message_type, error) in [(2, Some(Error::Version(1))), (99, Some(Error::Version(1))), (0, None)] {
        assert_eq!(Message::parse(&[1, message_type, 0, 8, 0, 0, 0, 0]).err(), error);
    }
    assert_eq!(refused(&[4, 99, 0, 8, 0, 0, 0, 0]), Error::Type(99));
}

#[test]
fn a_message_longer_than_messages_are_is_not_written() {
    let data = vec![0; 65_528];
    let message = Message::EchoRequest(&data);
    let mut out = vec![0; 70_000];
    assert_eq!(message.write(1, &mut out), Err(Error::Buffer { need: 65_536, have: 65_535 }));
    assert_eq!(Message::EchoRequest(&data[1..]).write(1, &mut out), Ok(65_535));
    let mut small = [0xa5; 7];
    assert_eq!(Message::BarrierReply.write(1, &mut small), Err(Error::Buffer { need: 8, have: 7 }));
    assert_eq!(small, [0xa5; 7]);
}
