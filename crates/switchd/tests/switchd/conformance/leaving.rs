//! Flows that leave a port whose link loses frames while it still forwards.

use weft_switchd::Mode;
use weft_switchd::recovery::Recovery;
use weft_switching::exploration::Exploration;
use weft_switching::hello::Way;
use weft_switching::leaving::MOST;
use weft_switching::tfe::Classifier;
use weft_units::Bytes;
use weft_wire::{EtherType, Mac, PathFrame, PathType};

use crate::conformance::event::{Event, Step};
use crate::conformance::frames::{arp, ethernet, hello, ipv4, tcp, wrapped};
use crate::conformance::pair::Pair;
use crate::conformance::setting::Setting;
use crate::conformance::tally::Tally;

const SEARCH: &str = "search for a flow that leaves";
const FAIL: &str = "fail of a flow that leaves";
const PASSES: &str = "fails of a flow that passes";

/// Counts the flows that leave `port`.
pub fn count(tally: &mut Tally, port: u16, left: &Recovery) {
    let is_fail = |frame: &[u8]| {
        PathFrame::parse(frame, EtherType::PATH).is_ok_and(|frame| frame.header().path_type == PathType::Fail)
    };
    let fails = || left.frames.iter().filter(|(_, frame)| is_fail(frame));
    // Both ends of a flow that passes are told, over two ports.
    let passes = fails().filter(|(ports, _)| *ports != [port]).count();
    tally.count_many(SEARCH, left.locked.len() as u64);
    tally.count_many(PASSES, passes as u64);
    tally.count_many(FAIL, (fails().count() - 2 * passes) as u64);
}

const HERE: Mac = Mac([2, 0, 0, 0, 0, 1]);
const THERE: Mac = Mac([2, 0, 0, 0, 0, 3]);
const BELOW: Mac = Mac([2, 0, 0, 0, 0, 4]);

/// The ports: a host, a switch below, and two switches above, of which the link to the first loses frames.
const HOST: u16 = 0;
const DOWN: u16 = 1;
const LOSSY: u16 = 2;
const OTHER: u16 = 3;

struct Switch(Pair);

impl Switch {
    fn new(second_up: Way) -> Self {
        let setting = Setting {
            mode: Mode::TcpPath,
            config: Exploration {
                rate: 0,
                burst: 10_000,
                flows: 4096,
                stations: 1024,
                ..Exploration::default()
            },
            ways: vec![Way::Host, Way::Down, Way::Up, second_up],
            may_be_fabric: vec![true; 4],
            classifier: Classifier::Auto(Bytes(1000)),
            calm: true,
            routes: Vec::new(),
        };
        let mut switch = Self(Pair::new(&setting));
        switch.0.every = 100;
        for (port, from) in [(HOST, HERE), (LOSSY, THERE), (DOWN, BELOW)] {
            switch.comes_in(port, ethernet(Mac::BROADCAST, from, 0, EtherType::ARP, &arp(1, from, from)));
        }
        switch
    }

    fn step(&mut self, event: Event) {
        let step = Step { wait: 1000, event };
        self.0.step(&step).unwrap_or_else(|difference| panic!("{step:?}: {difference}"));
    }

    fn comes_in(&mut self, port: u16, frame: Vec<u8>) {
        self.step(Event::Frame(port, frame));
    }

    /// A connection is opened: `from` with its TCP port is behind the first of these ports, `to` behind the second.
    fn open(&mut self, [first, second]: [u16; 2], from: Mac, to: Mac, tcp_port: u16) {
        let segment = |from, to, ports: [u16; 2], flags| {
            ethernet(to, from, 0, EtherType::IPV4, &ipv4(6, &tcp(ports[0], ports[1], 7, flags, &[])))
        };
        let as_sent =
            |port, frame: Vec<u8>, kind| if port == HOST { frame } else { wrapped(&frame, kind, 7) };
        self.comes_in(first, as_sent(first, segment(from, to, [tcp_port, 80], 2), PathType::Request));
        self.comes_in(second, as_sent(second, segment(to, from, [80, tcp_port], 0x12), PathType::Reply));
    }

    /// The link loses frames, another one to a switch does not; returns how many flows have left it.
    fn leaves(&mut self) -> [u64; 3] {
        self.comes_in(OTHER, hello(1, false));
        self.comes_in(LOSSY, hello(1, true));
        self.0.every = 1;
        self.step(Event::Tend);
        [SEARCH, FAIL, PASSES].map(|what| self.0.tally.of(what))
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_that_were_opened_here_and_elsewhere_leave_a_lossy_port() {
    let mut switch = Switch::new(Way::Up);
    switch.open([HOST, LOSSY], HERE, THERE, 1);
    switch.open([LOSSY, HOST], THERE, HERE, 2);
    switch.open([LOSSY, HOST], THERE, HERE, 3);
    assert_eq!(switch.leaves(), [1, 2, 0]);
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_that_pass_on_their_way_up_leave_a_lossy_port_only_for_another_way_up() {
    for (second_up, passes) in [(Way::Up, 2), (Way::Level, 0)] {
        let mut switch = Switch::new(second_up);
        switch.open([DOWN, LOSSY], BELOW, THERE, 1);
        switch.open([LOSSY, DOWN], THERE, BELOW, 2);
        assert_eq!(switch.leaves(), [0, 0, passes], "{second_up:?}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn of_too_many_flows_the_same_ones_leave_a_lossy_port() {
    let mut switch = Switch::new(Way::Up);
    let flows = 3 * MOST as u16 / 2;
    (1..=flows).for_each(|port| switch.open([HOST, LOSSY], HERE, THERE, port));
    assert_eq!(switch.leaves(), [MOST as u64, 0, 0]);
}
