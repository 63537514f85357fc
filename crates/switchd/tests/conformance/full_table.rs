//! A full table: what an outsider may fill, and what may be pushed out by that.

use weft_switchd::layout::{Settings, Test, address};
use weft_switchd::{Mode, Plane};
use weft_switching::Mac;
use weft_switching::exploration::Exploration;
use weft_switching::hello::Way;
use weft_wire::{EtherType, MacAddr, PATH_HEADER_LEN, PathType, wrap};

use crate::frames::{arp, ethernet, ipv4, tcp};
use crate::pair::unable;

const HERE: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const THERE: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

fn segment(from: MacAddr, to: MacAddr, ports: [u16; 2], flags: u8) -> Vec<u8> {
    ethernet(to, from, 0, EtherType::IPV4, &ipv4(6, &tcp(ports[0], ports[1], 1, flags, &[])))
}

#[test]
fn a_flood_of_requests_pushes_out_no_flow_that_was_confirmed() {
    if let Some(reason) = unable() {
        return println!("skipped: {reason}");
    }
    const FLOWS: u16 = 300;
    let config =
        Exploration { flows: 4096, rate: 0, burst: u64::from(FLOWS) + 50_000, ..Exploration::default() };
    let settings = Settings { testing: 1, rate_gap: 1, ..Settings::new(&config) };
    let mut plane =
        Plane::load(Mode::TcpPath, &config, settings, &[Way::Host, Way::Level]).expect("the kernel takes it");
    let mut now = 1;
    let mut comes_in = |plane: &mut Plane, port: u32, frame: &[u8]| {
        now += 1000;
        let given = Test { now, port, ..Test::default() };
        plane.run(given, frame).expect("it runs")
    };
    let request = arp(1, HERE, THERE);
    comes_in(&mut plane, 0, &ethernet(MacAddr::BROADCAST, HERE, 0, EtherType::ARP, &request));
    for port in 1..=FLOWS {
        assert_eq!(comes_in(&mut plane, 0, &segment(HERE, THERE, [port, 80], 2)).len(), 1, "it is explored");
        let answer = segment(THERE, HERE, [80, port], 0x12);
        let mut reply = vec![0; answer.len() + PATH_HEADER_LEN];
        wrap(&answer, PathType::Reply, 1, EtherType::PATH, &mut reply).expect("a segment");
        assert_eq!(comes_in(&mut plane, 1, &reply).len(), 1, "it is delivered");
    }
    let confirmed = |plane: &Plane| {
        let known = plane.paths().expect("a map").filter(|(_, path)| path.class == 2);
        known.filter(|(flow, _)| flow.host >> 16 == address(Mac(THERE.0))).count()
    };
    assert_eq!(confirmed(&plane), usize::from(FLOWS));
    for number in 0..20_000_u32 {
        let [.., a, b] = (number / 60_000 + 1).to_be_bytes();
        let from = MacAddr([2, 0, 0, 1, a, b]);
        comes_in(&mut plane, 0, &segment(from, THERE, [1000 + (number % 60_000) as u16, 80], 2));
    }
    let locked = plane.paths().expect("a map").filter(|(_, path)| path.class == 0).count();
    assert!((512..=1024).contains(&locked), "a quarter as many entries are locked at most: {locked}");
    assert_eq!(confirmed(&plane), usize::from(FLOWS), "all that were confirmed are there");
}
