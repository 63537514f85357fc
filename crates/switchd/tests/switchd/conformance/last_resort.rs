//! Last-resort ports: floods use them after all other ports, and routes only if no other next hop is left.

use std::collections::BTreeSet;

use rand_core::RngCore;
use weft_switchd::Mode;
use weft_switchd::layout::{Port, Route, Settings, Test};
use weft_switching::exploration::{Exploration, FloodOrder};
use weft_switching::hello::{Hosts, Ports, Way};
use weft_switching::{Action, Actions, stream};
use weft_units::{PortId, Time};
use weft_wire::{EtherType, Mac};

use crate::conformance::frames::{arp, ethernet, ipv4, tcp};
use crate::conformance::machine::Ctx;
use crate::conformance::program::Program;

const HERE: Mac = Mac([2, 0, 0, 0, 0, 1]);
const THERE: Mac = Mac([2, 0, 0, 0, 0, 9]);

/// A host port, and fabric ports; those in the bit set `last` are last-resort ports.
fn ports(count: u16, last: u64) -> Vec<Port> {
    let fabric = |number: u16| Port {
        up: 1,
        last_resort: (last >> number & 1) as u8,
        ..Port::decided(number > 0, number == 0)
    };
    (0..count).map(fabric).collect()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_flood_leaves_by_ports_of_the_last_resort_behind_all_others() {
    let config = Exploration { order: FloodOrder::Fixed, ..Exploration::default() };
    let mut program =
        Program::load(Mode::ArpPath, &config, Settings::new(&config)).expect("the program loads");
    let mut random = stream(7, "last resort", 0);
    for round in 0..200_u64 {
        let last = random.next_u64() & random.next_u64() & !1;
        let count = 2 + (random.next_u64() % 62) as u16;
        let mut entries = ports(count, last);
        entries.resize(64, Port::decided(false, false));
        program.tell(entries).expect("a map that can be written");
        let mut ways = vec![Way::Host];
        ways.resize(count.into(), Way::Level);
        let mut expected = Ports::new(ways, &config);
        (1..count).filter(|port| last >> port & 1 == 1).for_each(|port| expected.keep(PortId(port)));
        let mut out = Actions::default();
        let ctx = &mut Ctx { now: Time::ZERO, random: &mut random };
        expected.flood(ctx, &config, PortId(0), Hosts::All, &mut out);
        let port = |action| match action {
            Action::Send(port) => Some(port),
            _ => None,
        };
        let expected: Vec<_> = out.all().filter_map(port).collect();
        let now = 1 + round * 20_000_000_000;
        let frame = ethernet(Mac::BROADCAST, HERE, 0, EtherType::ARP, &arp(1, HERE, THERE));
        let sent = program.run(Test { now, port: 0, ..Test::default() }, &frame).expect("it runs");
        let sent: Vec<_> = sent.into_iter().map(|(port, _)| port).collect();
        assert_eq!(sent, expected, "{count} ports, last resort {last:b}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn routes_use_a_port_of_the_last_resort_only_where_no_other_next_hop_is_left() {
    let config = Exploration::default();
    for mode in [Mode::Ecmp, Mode::Spray] {
        let mut program = Program::load(mode, &config, Settings::new(&config)).expect("the program loads");
        let route = Route::new([1, 2, 3]);
        program.plane.set_routes(&[(THERE.bits(), route)]).expect("a map that can be written");
        let mut random = stream(7, "next hops", 0);
        let cases: [(u64, u64, &[u16]); 7] = [
            (0b0000, 0, &[1, 2, 3]),
            (0b0010, 0, &[2, 3]),
            (0b0110, 0, &[3]),
            (0b1110, 0, &[1, 2, 3]),
            // The only normal port is down.
            (0b0110, 0b1000, &[1, 2]),
            // One still delivers, one is silent, one has no carrier.
            (0b0110, 0b1100, &[1]),
            (0b0110, 0b1110, &[1, 2]),
        ];
        for (last, down, expected) in cases {
            let mut entries = ports(4, last);
            for (number, port) in entries.iter_mut().enumerate().filter(|(number, _)| down >> number & 1 == 1)
            {
                let last_resort = (last >> number & 1) as u8;
                *port = Port { last_resort, up: last_resort, ..Port::decided(false, false) };
            }
            program.tell(entries).expect("a map that can be written");
            let mut used = BTreeSet::new();
            for port in 1..200 {
                let frame = ethernet(THERE, HERE, 0, EtherType::IPV4, &ipv4(6, &tcp(port, 80, 1, 16, &[])));
                let given = Test { now: 1, port: 0, random: [random.next_u32(); 4], ..Test::default() };
                let sent = program.run(given, &frame).expect("it runs");
                used.extend(sent.into_iter().map(|(port, _)| port.0));
            }
            let expected: BTreeSet<u16> = expected.iter().copied().collect();
            assert_eq!(used, expected, "{}: last resort {last:b}, silent or down {down:b}", mode.word());
        }
    }
}
