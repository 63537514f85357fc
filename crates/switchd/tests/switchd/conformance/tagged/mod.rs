//! Compares the modes with gates and rules with `TagForwardSwitch`: tagged, untagged and hostile frames, changes of
//! rules and gates, ports that go down, daemons that take over.

mod frames;
mod generator;
mod machine;
mod pair;
mod setting;

use weft_switchd::Mode;
use weft_switchd::layout::{Port, Settings, Test};
use weft_switchd::tags::Tagging;
use weft_switching::exploration::Exploration;
use weft_units::PortId;
use weft_wire::{EtherType, Mac};

use crate::conformance::program::Program;
use crate::conformance::shorten::shorten;
use crate::conformance::tally::Tally;
use generator::Draw;
use pair::{EVENTS, Event, Pair};
use setting::Setting;

/// Steps per sequence.
const LENGTH: u64 = 500;

/// The difference that steps show, if any.
fn replay(setting: &Setting, steps: &[Event]) -> Option<String> {
    let mut pair = Pair::new(setting);
    steps.iter().find_map(|step| pair.step(step).err())
}

#[test]
#[ignore = "needs root and BPF"]
fn programs_with_gates_and_their_state_machine_do_the_same() {
    let steps = std::env::var("WEFT_CONFORMANCE_STEPS").ok().and_then(|steps| steps.parse().ok());
    let sequences = steps.unwrap_or(30_000_u64).div_ceil(LENGTH);
    let mut tally = Tally::default();
    for seed in 0..sequences {
        let setting = Setting::draw(seed);
        let mut pair = Pair::new(&setting);
        let mut draw = Draw::new(&setting, seed);
        let mut steps = Vec::new();
        for _ in 0..LENGTH {
            let step = draw.step();
            let difference = pair.step(&step).err();
            steps.push(step);
            if let Some(difference) = difference {
                println!("seed {seed}, step {}: {difference}\nshortening ...", steps.len());
                let shortest = shorten(steps, |_, _| {}, |steps| replay(&setting, steps).is_some());
                let steps: Vec<String> = shortest.iter().map(|step| format!("    {step:02x?},")).collect();
                let again = replay(&setting, &shortest).unwrap_or_default();
                panic!("seed {seed}: {difference}\n{setting:#?}\nshortened:\n{}\n{again}", steps.join("\n"));
            }
        }
        tally.add(&pair.tally);
    }
    println!("{sequences} sequences of {LENGTH} steps: {tally}");
    if sequences >= 50 {
        assert_eq!(tally.unseen(EVENTS), Vec::<&str>::new(), "never happened in {sequences} sequences");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn frames_without_a_rule_are_reported_no_faster_than_the_limit_of_their_port() {
    let config = Exploration { rate: 1000, burst: 20, ..Exploration::default() };
    let settings = Settings::new(&config).tagging(&Tagging::default());
    let mut program = Program::load(Mode::TagForward, &config, settings).expect("the program loads");
    let ports = [0, 1].map(|_| Port { up: 1, ..Port::decided(false, true) });
    program.tell(ports.into()).expect("a map that can be written");
    program.plane.set_gates(&setting::two_servers()).expect("sound gates");
    let mut misses = program.plane.take_misses().expect("a map").expect("not taken yet");
    let frame = crate::conformance::frames::ethernet(
        Mac([2, 0, 0, 0, 0, 2]),
        Mac([2, 0, 0, 0, 0, 1]),
        1,
        EtherType::IPV4,
        &crate::conformance::frames::ipv4(17, &[7; 2200]),
    );
    for (now, port) in (0..100).map(|_| (1, 0)).chain((0..5).map(|_| (1, 1))).chain([(3_000_001, 0); 9]) {
        let sent = program.run(Test { now, port, ..Test::default() }, &frame).expect("it runs");
        assert_eq!(sent, []);
    }
    let mut reported = Vec::new();
    while let Some(miss) = misses.take() {
        assert_eq!((miss.len, &miss.frame[..]), (frame.len(), &frame[..2048]));
        reported.push(miss.port);
    }
    // The burst of each port, and three more after 3 ms.
    let of = |port| reported.iter().filter(|known| **known == PortId(port)).count();
    assert_eq!((of(0), of(1)), (23, 5));
}
