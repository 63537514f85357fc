//! Messages from switches, and rules and frames encoded in OpenFlow.

use proptest::prelude::*;
use weft_control::Duration;
use weft_control::{
    Command, EXACT, FrameOut, MadeFrame, Match, OffenceKind, PortNo, Rule, RuleAction, RuleChange,
    SouthboundLimits, Stop, SwitchId, SwitchPort, Transaction,
};
use weft_wire::openflow::{Action, FlowCommand, FlowFlags, Masked, Message, PortNumber, RemovedReason};
use weft_wire::{EtherType, IpProtocol, Mac};

use super::scripted::{CoreEvent, FRAME, Network, OWN, packet, removed, rule, written};

#[test]
fn a_rule_has_all_that_the_core_says() {
    let (value, mask) = (Mac([6, 0x57, 0, 0, 0, 0]), Mac([0xff, 0xff, 0, 0, 0, 0]));
    let guard = Rule {
        matches: Match { in_port: Some(PortNo(3)), eth_dst: Some((value, mask)), ..Match::ALL },
        actions: [].into_iter().collect(),
        idle_timeout_s: 0,
        notify_removed: false,
        ..rule(1)
    };
    let flow = Rule {
        matches: Match {
            eth_type: Some(0x86dd),
            ip_proto: Some(6),
            ip_src: Some("fd00::1".parse().unwrap()),
            ip_dst: Some("fd00::2".parse().unwrap()),
            tcp_src: Some(1),
            tcp_dst: Some(2),
            ..Match::ALL
        },
        actions: [
            RuleAction::SetDestination(value),
            RuleAction::Output(PortNo(4)),
            RuleAction::Controller { max_len: 256 },
        ]
        .into_iter()
        .collect(),
        ..rule(1)
    };
    let changes = [
        RuleChange::Add(guard),
        RuleChange::Modify(flow),
        RuleChange::Remove { cookie: OWN, matches: Match::to(value) },
    ];
    let rules = changes.into_iter().map(|change| (SwitchId(1), change)).collect();
    let mut network = Network::new();
    network.packet_in(1, vec![Command::Install(Transaction { id: 0, rules, release: vec![] })]);
    let sent = network.sent();
    let [Message::FlowMod(guard), Message::FlowMod(flow), Message::FlowMod(gone)] = sent.messages(1)[..]
    else {
        panic!("{sent:?}")
    };
    assert_eq!((guard.command, guard.cookie, guard.cookie_mask), (FlowCommand::Add, OWN, 0));
    assert_eq!((guard.priority, guard.idle_timeout, guard.flags), (100, 0, FlowFlags::default()));
    assert_eq!(guard.matching.in_port, Some(PortNumber(3)));
    assert_eq!(guard.matching.eth_dst, Some(Masked::new(value, mask)));
    assert_eq!(guard.actions.iter().count(), 0);
    assert_eq!((flow.command, flow.cookie, flow.cookie_mask), (FlowCommand::ModifyStrict, OWN, u64::MAX));
    assert_eq!((flow.idle_timeout, flow.flags), (10, FlowFlags::SEND_FLOW_REM));
    assert_eq!(flow.matching.eth_type, Some(EtherType(0x86dd)));
    assert_eq!(flow.matching.ip_proto, Some(IpProtocol(6)));
    assert_eq!(flow.matching.ipv6_dst, Some("fd00::2".parse().unwrap()));
    assert_eq!((flow.matching.tcp_src, flow.matching.tcp_dst), (Some(1), Some(2)));
    let wanted = [
        Action::SetEthDst(value),
        Action::output(PortNumber(4)),
        Action::Output { port: PortNumber::CONTROLLER, max_len: 256 },
    ];
    assert_eq!(flow.actions.iter().collect::<Vec<_>>(), wanted);
    assert_eq!((gone.command, gone.cookie, gone.cookie_mask), (FlowCommand::Delete, OWN, u64::MAX));
    assert_eq!((gone.out_port, gone.priority), (PortNumber::ANY, 0));
    assert_eq!(gone.matching.eth_dst, Some(Masked::new(value, EXACT)));
}

#[test]
fn frames_go_where_they_are_said_to_from_the_port_they_came_by_or_from_the_controller() {
    let mut network = Network::new();
    let station = Mac([2, 0, 0, 0, 0, 9]);
    let made = MadeFrame::ArpProbe { station, target: "10.0.0.9".parse().unwrap() };
    let out = |switch, in_port: Option<u32>, ports: &[u32], frame| Command::PacketOut {
        switch: SwitchId(switch),
        in_port: in_port.map(PortNo),
        ports: ports.iter().copied().map(PortNo).collect(),
        frame,
    };
    let held = FrameOut::Held(weft_control::FrameRef(0));
    network.packet_in(1, vec![out(1, Some(3), &[4, 5], held), out(2, None, &[9], FrameOut::Made(made))]);
    network.southbound.send_frame(weft_control::SwitchPort::new(3, 8), &FRAME[..20]);
    network.southbound.send_frame(weft_control::SwitchPort::new(77, 8), &FRAME);
    let sent = network.sent();
    let [Message::PacketOut(first)] = sent.messages(1)[..] else { panic!("{sent:?}") };
    assert_eq!((first.in_port, first.data), (PortNumber(3), &FRAME[..]));
    let ports = [4, 5].map(|port| Action::output(PortNumber(port)));
    assert_eq!(first.actions.iter().collect::<Vec<_>>(), ports);
    let [Message::PacketOut(second)] = sent.messages(2)[..] else { panic!("{sent:?}") };
    assert_eq!((second.in_port, &second.data[..6]), (PortNumber::CONTROLLER, &station.0[..]));
    let [Message::PacketOut(third)] = sent.messages(3)[..] else { panic!("{sent:?}") };
    assert_eq!((third.in_port, third.data), (PortNumber::CONTROLLER, &FRAME[..20]));
    assert_eq!((network.counter("packet_outs"), network.counter("packet_outs_without_switch")), (3, 1));
}

#[test]
fn a_port_that_sends_up_too_much_is_held_to_its_share() {
    let mut network = Network::with(SouthboundLimits {
        packets_per_port_s: 100,
        audit: None,
        ..SouthboundLimits::default()
    });
    for _ in 0..300 {
        network.say(1, &Message::PacketIn(packet(&FRAME)));
    }
    network.say(
        1,
        &Message::PacketIn(weft_wire::openflow::PacketIn { in_port: PortNumber(2), ..packet(&FRAME) }),
    );
    network.say(2, &Message::PacketIn(packet(&FRAME)));
    assert_eq!(network.core.events().len(), 102);
    network.now += Duration::from_secs(1);
    network.say(1, &Message::PacketIn(packet(&FRAME)));
    assert_eq!(network.core.events().len(), 1);
    assert_eq!(
        (network.counter("packet_ins_received"), network.counter("packet_ins_over_limit")),
        (303, 200)
    );
    let named = network.southbound.offences();
    let brief: Vec<_> = named.iter().map(|one| (one.at.switch, one.kind, one.count)).collect();
    assert_eq!(brief, [(SwitchId(1), OffenceKind::Packets, 200)]);
}

#[test]
fn answers_to_the_controllers_own_questions_are_held_to_a_share_of_their_own_and_that_of_packets() {
    let mut answer = FRAME;
    answer[..6].copy_from_slice(&MadeFrame::CONTROLLER.0);
    for (packets_per_port_s, answers_per_port_s, packets, passed) in [(100, 10, 300, 110), (5, 1000, 0, 5)] {
        let limits =
            SouthboundLimits { packets_per_port_s, answers_per_port_s, ..SouthboundLimits::default() };
        let mut network = Network::with(SouthboundLimits { audit: None, ..limits });
        (0..packets).for_each(|_| network.say(1, &Message::PacketIn(packet(&FRAME))));
        (0..20).for_each(|_| network.say(1, &Message::PacketIn(packet(&answer))));
        let over = packets + 20 - passed;
        let counts = (network.core.events().len() as u64, network.counter("packet_ins_over_limit"));
        assert_eq!(counts, (passed, over), "{packets_per_port_s} packets, {answers_per_port_s} answers");
    }
}

#[test]
fn lldp_frames_are_held_to_a_share_of_their_own_before_anything_of_them_is_read() {
    let mut network = Network::with(SouthboundLimits { lldp_per_port_s: 10, ..SouthboundLimits::default() });
    let mut lldp = FRAME;
    lldp[12..14].copy_from_slice(&[0x88, 0xcc]);
    let up = |port| weft_wire::openflow::PacketIn { in_port: PortNumber(port), ..packet(&lldp) };
    let read = |network: &mut Network, port, count| {
        let bytes = written(7, &Message::PacketIn(up(port))).repeat(count);
        let (mut place, mut frames) = (0, 0);
        while place < bytes.len() {
            let (next, stop) = network.southbound.received(network.now, SwitchId(1), &bytes, place);
            frames += u32::from(matches!(stop, Stop::Lldp { .. }));
            place = next;
        }
        frames
    };
    assert_eq!(read(&mut network, 3, 500), 10);
    assert_eq!(read(&mut network, 4, 5), 5, "another port has its own limit");
    assert_eq!((network.counter("lldp_over_limit"), network.counter("packet_ins_received")), (490, 0));
    let named = network.southbound.offences();
    let brief: Vec<_> = named.iter().map(|one| (one.at, one.kind, one.count)).collect();
    assert_eq!(brief, [(SwitchPort::new(1, 3), OffenceKind::Lldp, 490)]);
    network.say(1, &Message::PacketIn(packet(&FRAME)));
    assert_eq!(network.core.events().len(), 1, "the port's other packets are counted separately");
    network.now += Duration::from_secs(1);
    assert_eq!(read(&mut network, 3, 1), 1);
}

#[test]
fn rules_of_its_own_that_idled_out_are_the_cores_and_all_others_somebody_elses() {
    let mut network = Network::new();
    for (reason, cookie) in
        [(RemovedReason::IDLE_TIMEOUT, OWN), (RemovedReason::DELETE, OWN), (RemovedReason::EVICTION, OWN + 1)]
    {
        network.say(2, &removed(cookie, reason));
    }
    let gone = |cookie| CoreEvent::RuleRemoved { switch: 2, cookie, packets: 5, bytes: 500 };
    assert_eq!(network.core.events(), [gone(OWN), gone(OWN + 1)]);
    let bytes = written(7, &removed(1, RemovedReason::IDLE_TIMEOUT));
    assert_eq!(network.southbound.received(network.now, SwitchId(2), &bytes, 0), (0, Stop::Other));
    assert_eq!((network.core.events(), network.counter("rules_idle")), (vec![], 2));
}

#[test]
fn a_stream_is_read_up_to_what_is_somebody_elses() {
    let mut lldp = FRAME;
    lldp[12..14].copy_from_slice(&[0x88, 0xcc]);
    let frame = written(1, &Message::PacketIn(packet(&FRAME)));
    let link = written(2, &Message::PacketIn(packet(&lldp)));
    let echo = written(3, &Message::EchoRequest(b"still there?"));
    let mut broken = frame.clone();
    broken[30] ^= 0xff;
    let mut old = frame.clone();
    old[0] = 1;
    let parts = [&frame, &link, &frame, &echo, &broken, &old, &frame];
    let bytes: Vec<u8> = parts.into_iter().flatten().copied().collect();
    let mut network = Network::new();
    let mut read =
        |place| network.southbound.received(network.now, SwitchId(1), &bytes[..bytes.len() - 1], place);
    let mut end = frame.len() + link.len();
    assert_eq!(read(0), (end, Stop::Lldp { port: PortNo(3), frame: &lldp }));
    assert_eq!(read(end), (end + frame.len(), Stop::Other));
    end += frame.len() + echo.len();
    let (place, stop) = read(end);
    assert!(matches!(stop, Stop::Malformed(_)), "{stop:?}");
    end += broken.len();
    assert_eq!((place, read(end)), (end, (end, Stop::Other)));
    // The last one is truncated by a byte.
    assert_eq!(read(end + old.len()), (end + old.len(), Stop::Rest));
    assert_eq!(network.core.events().len(), 2);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_left(kind in 0..30_u8, body in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = vec![4, kind, 0, (8 + body.len()) as u8, 0, 0, 0, 1];
        bytes.extend(&body);
        let mut network = Network::new();
        let (place, stop) = network.southbound.received(network.now, SwitchId(1), &bytes, 0);
        prop_assert_eq!(place, if stop == Stop::Other { 0 } else { bytes.len() });
        prop_assert!(stop == Stop::Other || [10, 11, 21].contains(&kind));
    }
}
