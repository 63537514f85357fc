//! Named corner cases: differences that were found between program and state machine, and likely ones.

use weft_switchd::Mode;
use weft_switching::exploration::{Exploration, Safeguards};
use weft_switching::hello::Way;
use weft_switching::tfe::Classifier;
use weft_units::Bytes;
use weft_wire::{EtherType, Mac, PathHeader, PathType, Tuple};

use crate::conformance::event::{Event, Step};
use crate::conformance::frames::{self, arp, ethernet, ipv4, ipv6, tcp, wrapped};
use crate::conformance::pair::Pair;
use crate::conformance::setting::Setting;

const A: Mac = Mac([2, 0, 0, 0, 0, 1]);
const B: Mac = Mac([2, 0, 0, 0, 0, 2]);
const C: Mac = Mac([2, 0, 0, 0, 0, 3]);
/// A and B as sources of frames that a switch floods because their destination is unknown.
const MARKED_A: Mac = Mac([3, 0, 0, 0, 0, 1]);
const MARKED_B: Mac = Mac([3, 0, 0, 0, 0, 2]);

struct Case {
    name: &'static str,
    mode: Mode,
    /// Ports and frames, a microsecond apart.
    frames: Vec<(u16, Vec<u8>)>,
    /// The counter that each increments.
    counted: Vec<&'static str>,
}

/// A Path frame from A to B.
fn path(path_type: PathType, ports: [u16; 2], hops: u8) -> Vec<u8> {
    let tuple = Tuple { source: A, source_port: ports[0], destination: B, destination_port: ports[1] };
    frames::path(PathHeader { path_type, hops, id: 7, tuple }, 0)
}

/// A segment in a Path frame.
fn segment(from: Mac, to: Mac, ports: [u16; 2], flags: u8, path_type: PathType) -> Vec<u8> {
    let frame = ethernet(to, from, 0, EtherType::IPV4, &ipv4(6, &tcp(ports[0], ports[1], 3, flags, &[])));
    wrapped(&frame, path_type, 3)
}

fn cases() -> Vec<Case> {
    let broadcast = |packet: &[u8]| ethernet(Mac::BROADCAST, A, 0, EtherType::IPV4, packet);
    let request = |from| ethernet(Mac::BROADCAST, from, 0, EtherType::ARP, &arp(1, from, B));
    let mut half_a_tag = ethernet(B, A, 1, EtherType::IPV4, &[]);
    half_a_tag.truncate(14);
    vec![
        Case {
            mode: Mode::ArpPath,
            name: "broadcasts of a source are late on another port whatever they carry",
            frames: vec![
                (2, broadcast(&ipv4(17, &[0; 8]))),
                (3, broadcast(&ipv4(6, &tcp(1, 2, 3, 16, &[])))),
            ],
            counted: vec!["forwarded", "late_copy"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "frames about flows are stale",
            frames: vec![
                (2, path(PathType::RecoveryRequest, [1, 80], 0)),
                (2, path(PathType::Fail, [1, 80], 0)),
            ],
            counted: vec!["stale", "stale"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "a frame with half a tag is forwarded by its addresses, and triggers a frame without tags",
            frames: vec![(0, half_a_tag)],
            counted: vec!["forwarded"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "an IPv6 packet shorter than its header behind a tag is forwarded by its addresses",
            frames: vec![
                (0, request(B)),
                (1, ethernet(B, A, 1, EtherType::IPV6, &ipv6(58, 255, &[135])[..41])),
            ],
            counted: vec!["forwarded", "forwarded"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "a flood goes over 64 switches and no further",
            frames: vec![(2, path(PathType::Fail, [0, 0], 63)), (3, path(PathType::Fail, [0, 0], 64))],
            counted: vec!["forwarded", "too_many_hops"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "copies that return to the edge switch that explores are late",
            frames: vec![(0, request(A)), (0, ethernet(B, A, 0, EtherType::IPV4, &[1])), (2, request(A))],
            counted: vec!["forwarded", "forwarded", "late_copy"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "a source whose frames another switch flooded is searched for from here, even during a repair",
            frames: vec![
                (0, request(A)),
                (1, ethernet(B, C, 0, EtherType::IPV4, &[1])),
                (2, ethernet(B, MARKED_A, 0, EtherType::IPV4, &[1])),
                (0, ethernet(B, A, 0, EtherType::IPV4, &[1])),
            ],
            counted: vec!["forwarded", "forwarded", "forwarded", "forwarded"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "a copy on the port by which a flood left locks that port for 50 ms, not for a second",
            frames: vec![
                (2, ethernet(A, MARKED_B, 0, EtherType::IPV4, &[1])),
                (3, path(PathType::Fail, [0, 0], 1)),
                (2, ethernet(A, MARKED_B, 0, EtherType::IPV4, &[2])),
                (3, ethernet(A, MARKED_B, 0, EtherType::IPV4, &[2])),
            ],
            counted: vec!["forwarded", "forwarded", "forwarded", "late_copy"],
        },
        Case {
            mode: Mode::ArpPath,
            name: "the first flooded frame of a pair is reported, even during a repair",
            frames: vec![
                (0, request(A)),
                (1, ethernet(B, C, 0, EtherType::IPV4, &[1])),
                (0, ethernet(B, A, 0, EtherType::IPV4, &[1])),
                (0, ethernet(B, A, 0, EtherType::IPV4, &[2])),
            ],
            counted: vec!["forwarded", "forwarded", "forwarded", "forwarded"],
        },
        Case {
            name: "a segment that makes its flow an elephant and meets a dead port starts one recovery",
            mode: Mode::Tfe,
            frames: vec![
                (0, request(A)),
                // The flow's entry uses a port that then goes down.
                (2, segment(B, A, [80, 1], 2, PathType::Request)),
                (0, ethernet(B, A, 0, EtherType::IPV4, &ipv4(6, &tcp(1, 80, 3, 16, &[7; 1400])))),
            ],
            counted: vec!["forwarded", "forwarded", "link_down"],
        },
        Case {
            name: "a SYN+RST too long to be wrapped is data",
            mode: Mode::TcpPath,
            frames: vec![
                (0, request(A)),
                (2, segment(B, A, [80, 1], 2, PathType::Request)),
                (0, ethernet(B, A, 0, EtherType::IPV4, &ipv4(6, &tcp(1, 80, 3, 6, &[7; 1455])))),
            ],
            counted: vec!["forwarded", "forwarded", "link_down"],
        },
    ]
}

#[test]
#[ignore = "needs root and BPF"]
fn corners_are_the_same_on_both_sides() {
    for case in cases() {
        let setting = Setting {
            mode: case.mode,
            config: Exploration {
                stations: 1024,
                safeguards: Safeguards { floods: 1024, ..Safeguards::default() },
                ..Exploration::default()
            },
            ways: vec![Way::Host, Way::Host, Way::Level, Way::Level],
            may_be_fabric: vec![true; 4],
            classifier: Classifier::Auto(Bytes(1000)),
            calm: true,
            routes: Vec::new(),
        };
        let mut pair = Pair::new(&setting);
        for (number, ((port, bytes), expected)) in case.frames.into_iter().zip(&case.counted).enumerate() {
            if number == 2 && *expected == "link_down" {
                pair.step(&Step { wait: 1000, event: Event::Up(2, false) }).expect("no difference");
            }
            let before = pair.tally.of(expected);
            let step = Step { wait: 1000, event: Event::Frame(port, bytes) };
            pair.step(&step).unwrap_or_else(|difference| panic!("{}: {difference}", case.name));
            let after = pair.tally.of(expected);
            assert_eq!(after - before, 1, "{}: {expected}, of {:?}", case.name, pair.tally);
        }
    }
}
