//! Messages of a routing daemon: the program passes and refuses the frames that
//! [`weft_switching::routing_message::Router`] passes and refuses.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_switchd::layout::{Port, Settings, Test};
use weft_switchd::{Mode, Reason};
use weft_switching::Mac;
use weft_switching::exploration::Exploration;
use weft_switching::routing_message::{Ends, Message, Router, Verdict};

use crate::conformance::program::Program;

/// Ports 0 and 1 lead to switches, port 2 to a host.
const OWN: [Option<Mac>; 3] = [Some(mac(0x11)), Some(mac(0x12)), None];
const PEERS: [Option<Mac>; 3] = [Some(mac(0x21)), Some(mac(0x22)), None];
const SECOND: u64 = 1_000_000_000;

const fn mac(last: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, last])
}

/// One of these.
fn pick<T: Copy>(random: &mut Xoshiro256PlusPlus, all: &[T]) -> T {
    all[random.next_u32() as usize % all.len()]
}

/// A frame that is a message, or almost one.
fn draw(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let groups = [Mac([0x33, 0x33, 0, 0, 0, 1]), Mac([0x33, 0x33, 0xff, 0, 0, 1]), Mac::BROADCAST];
    let to = pick(
        random,
        &[mac(0x11), mac(0x11), mac(0x12), mac(0x21), mac(0x77), groups[0], groups[1], groups[2]],
    );
    let from = pick(random, &[mac(0x21), mac(0x21), mac(0x22), mac(0x11), mac(0x77), mac(0x21).marked()]);
    let mut frame = [to.0, from.0].concat();
    if random.next_u32().is_multiple_of(8) {
        frame.extend([0x81, 0, 0, 5]);
    }
    frame.extend(pick(random, &[[0x86, 0xdd], [0x86, 0xdd], [0x86, 0xdd], [0x08, 0]]));
    let protocol = pick(random, &[6, 17, 17, 58, 58, 0, 44]);
    let length = pick(random, &[0, 4, 24, 60, 3]);
    frame.extend([0x60, 0, 0, 0, 0, length, protocol, pick(random, &[255, 255, 254, 1])]);
    for group in [false, true] {
        let start = match group {
            false => {
                pick(random, &[[0xfe, 0x80], [0xfe, 0x80], [0xfe, 0x80], [0xfe, 0xbf], [0, 0], [0xfd, 0]])
            }
            true => pick(
                random,
                &[[0xfe, 0x80], [0xfe, 0x80], [0xfe, 0x80], [0xff, 0x02], [0xff, 0x05], [0xfd, 0]],
            ),
        };
        frame.extend(start);
        frame.extend([0; 13]);
        frame.push(if start == [0, 0] { pick(random, &[0, 1]) } else { 1 });
    }
    let ports = [[0, 179], [0x0e, 0xc8], [0x0e, 0xc8], [0x0e, 0xc9]];
    match pick(random, &[0, 1]) {
        0 => frame.extend([pick(random, &[132, 133, 134, 135, 136, 137, 58]), 0, 0, 0]),
        _ => frame.extend([pick(random, &ports), pick(random, &ports)].concat()),
    }
    frame.extend([0; 40]);
    // The kernel runs programs on whole IPv6 headers only.
    frame.truncate(frame.len() - random.next_u32() as usize % 45);
    frame
}

#[test]
#[ignore = "needs root and BPF"]
fn the_program_passes_and_refuses_the_same_frames() {
    let config = Exploration::default();
    let settings = Settings { has_router: 1, ..Settings::new(&config) };
    let mut program = Program::load(Mode::Ecmp, &config, settings).expect("needs root");
    let up = |port| Port { up: 1, may_be_fabric: 1, ..port };
    let ports = [Port::decided(true, false), Port::decided(true, false), Port::decided(false, true)];
    program.tell(ports.map(up).to_vec()).expect("a map");
    program.plane.set_own_addresses(&OWN).expect("a map");
    for (number, peer) in (0..).zip(PEERS) {
        program.plane.set_peer(weft_units::PortId(number), peer.unwrap_or_default()).expect("a map");
    }
    let router = Router { ports: OWN.into_iter().zip(PEERS).map(|(own, peer)| Ends { own, peer }).collect() };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut seen = [0; 5];
    let counts = |program: &Program| {
        let counters = program.plane.counters().expect("a map");
        let untrusted = counters.dropped.iter().find(|(reason, _)| reason.name() == "untrusted");
        (counters.consumed, untrusted.map_or(0, |(_, count): &(Reason, u64)| *count))
    };
    for step in 1..50_000 {
        let (frame, number) = (draw(&mut random), random.next_u32() % 3);
        let is_fabric = number < 2;
        let verdict = router.decide(number as usize, is_fabric, &frame);
        let before = counts(&program);
        let given = Test { now: 2 * step * SECOND, port: number, ..Test::default() };
        program.run(given, &frame).expect("the program runs");
        let (passed, refused) = (counts(&program).0 - before.0, counts(&program).1 - before.1);
        let (at, expected) = match verdict {
            // Hosts may not send frames with the mark of switches.
            Verdict::Forward if !is_fabric && frame[6] & 1 == 1 => continue,
            Verdict::Forward => (0, (0, 0)),
            Verdict::Refuse => (1, (0, 1)),
            Verdict::Consume => (4, (1, 0)),
            Verdict::Pass(Message::Bfd) => (2, (1, 0)),
            Verdict::Pass(Message::Routing) => (3, (1, 0)),
        };
        seen[at] += 1;
        assert_eq!((passed, refused), expected, "step {step}, port {number}, {verdict:?}: {frame:02x?}");
    }
    assert!(seen.iter().all(|count| *count >= 10), "{seen:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn more_messages_than_a_routing_daemon_sends_are_dropped_and_leave_room_for_bfd() {
    let config = Exploration::default();
    let settings = Settings { has_router: 1, ..Settings::new(&config) };
    let mut program = Program::load(Mode::Ecmp, &config, settings).expect("needs root");
    program.tell(vec![Port { up: 1, ..Port::decided(true, false) }]).expect("a map");
    program.plane.set_own_addresses(&OWN[..1]).expect("a map");
    program.plane.set_peer(weft_units::PortId(0), mac(0x21)).expect("a map");
    let frame = |protocol, port: [u8; 2]| {
        let mut frame = [mac(0x11).0, mac(0x21).0].concat();
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, protocol, 255]);
        (0..2).for_each(|_| frame.extend([&[0xfe, 0x80][..], &[0; 13], &[1]].concat()));
        frame.extend([&[200, 0][..], &port, &[0; 20]].concat());
        frame
    };
    let passes = |program: &mut Program, frame: &[u8], count: u64| {
        let before = program.plane.counters().expect("a map").consumed;
        for _ in 0..count {
            program.run(Test { now: 10 * SECOND, ..Test::default() }, frame).expect("the program runs");
        }
        program.plane.counters().expect("a map").consumed - before
    };
    assert_eq!(passes(&mut program, &frame(6, [0, 179]), 6000), 5000);
    assert_eq!(passes(&mut program, &frame(17, [0x0e, 0xc8]), 2000), 1000);
}
