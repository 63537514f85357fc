//! Full tables: how much of a table an outsider can fill, and which entries that can evict.

use weft_switchd::Mode;
use weft_switchd::layout::{Port, Settings, Test};
use weft_switching::exploration::{Exploration, Safeguards};
use weft_switching::path_table::{CONFIRMED, LOCKED};
use weft_wire::{EtherType, Mac, PathType};

use crate::conformance::frames::{arp, ethernet, ipv4, tcp, wrapped};
use crate::conformance::program::Program;

const HERE: Mac = Mac([2, 0, 0, 0, 0, 1]);
const THERE: Mac = Mac([2, 0, 0, 0, 0, 9]);

fn segment(from: Mac, to: Mac, ports: [u16; 2], flags: u8) -> Vec<u8> {
    ethernet(to, from, 0, EtherType::IPV4, &ipv4(6, &tcp(ports[0], ports[1], 1, flags, &[])))
}

#[test]
#[ignore = "needs root and BPF"]
fn a_flood_of_requests_pushes_out_no_flow_that_was_confirmed() {
    const FLOWS: u16 = 300;
    let config =
        Exploration { flows: 4096, rate: 0, burst: u64::from(FLOWS) + 50_000, ..Exploration::default() };
    let settings = Settings { rate_gap: 1, ..Settings::new(&config) };
    let mut program = Program::load(Mode::TcpPath, &config, settings).expect("the program loads");
    let ports = [(false, true), (true, false)];
    let ports = ports.map(|(fabric, host)| Port { up: 1, ..Port::decided(fabric, host) });
    program.tell(ports.into()).expect("a map that can be written");
    let mut now = 1;
    let mut comes_in = |program: &mut Program, port: u32, frame: &[u8]| {
        now += 1000;
        let given = Test { now, port, ..Test::default() };
        program.run(given, frame).expect("it runs")
    };
    let asks = |from, to| ethernet(Mac::BROADCAST, from, 0, EtherType::ARP, &arp(1, from, to));
    comes_in(&mut program, 0, &asks(HERE, THERE));
    comes_in(&mut program, 1, &asks(THERE, HERE));
    for port in 1..=FLOWS {
        assert_eq!(
            comes_in(&mut program, 0, &segment(HERE, THERE, [port, 80], 2)).len(),
            1,
            "the SYN is explored"
        );
        let answer = segment(THERE, HERE, [80, port], 0x12);
        let reply = wrapped(&answer, PathType::Reply, 1);
        assert_eq!(comes_in(&mut program, 1, &reply).len(), 1, "the SYN+ACK is delivered");
    }
    let of_class = |program: &Program, class| {
        let known = program.paths(0).expect("a map").into_iter();
        known.filter(|(_, path)| path.class == class).map(|(flow, _)| flow).collect::<Vec<_>>()
    };
    let confirmed = |program: &Program| {
        let known = of_class(program, CONFIRMED).into_iter();
        known.filter(|flow| flow.host >> 16 == THERE.bits()).count()
    };
    assert_eq!(confirmed(&program), usize::from(FLOWS));
    for number in 0..20_000_u32 {
        let [.., a, b] = (number / 60_000 + 1).to_be_bytes();
        let from = Mac([2, 0, 0, 1, a, b]);
        comes_in(&mut program, 0, &segment(from, THERE, [1000 + (number % 60_000) as u16, 80], 2));
    }
    let locked = of_class(&program, LOCKED).len();
    assert!((512..=1024).contains(&locked), "at most a quarter as many entries may be locked: {locked}");
    assert_eq!(confirmed(&program), usize::from(FLOWS), "no confirmed flow may be evicted");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_full_memory_of_floods_gives_up_those_that_were_not_seen_again() {
    const SIZE: usize = 2048;
    let safeguards = Safeguards { floods: SIZE, ..Safeguards::default() };
    let config = Exploration { safeguards, flood_burst: 100_000, station_rate: 0, ..Exploration::default() };
    let mut program =
        Program::load(Mode::ArpPath, &config, Settings::new(&config)).expect("the program loads");
    let ports = [(false, true), (true, false), (true, false)];
    let ports = ports.map(|(fabric, host)| Port { up: 1, ..Port::decided(fabric, host) });
    program.tell(ports.into()).expect("a map that can be written");
    let mut now = 1;
    let mut asks = |program: &mut Program, port: u32, host: u32| {
        now += 1000;
        let [a, b, c, d] = host.to_be_bytes();
        let from = Mac([2, 0, a, b, c, d]);
        let frame = ethernet(Mac::BROADCAST, from, 0, EtherType::ARP, &arp(1, from, THERE));
        program.run(Test { now, port, ..Test::default() }, &frame).expect("it runs").len()
    };
    assert_eq!(asks(&mut program, 1, 1), 2, "flooded to the host and to the other switch");
    for host in 2..20_000 {
        assert_eq!(asks(&mut program, 0, host), 2, "request {host} is flooded");
        if host % 100 == 0 {
            assert_eq!(
                asks(&mut program, 2, 1),
                0,
                "a copy of the first request is late after {host} others"
            );
        }
    }
    assert!(program.floods(now).expect("a map").len() <= SIZE);
}
