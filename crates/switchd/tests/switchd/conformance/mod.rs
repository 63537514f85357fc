//! Compares the eBPF program with the state machine: both process the same frames, times and port events.
//! After every step, sent frames (byte for byte) and counters must be identical, and after every fourth
//! step all tables. The daemon's [`weft_switchd::tables::Tables`] sweep the program's pinned maps, break
//! the flows of dead ports and move those of ports whose links lose frames.
//!
//! Sequences are drawn from seeds, `WEFT_CONFORMANCE_STEPS` steps in total; a failing one is shortened and
//! printed, and should be added to `cases.rs`.

mod answer;
mod cases;
mod compare;
mod event;
mod frames;
mod full_table;
mod generator;
mod last_resort;
mod leaving;
mod machine;
mod membership;
mod oracle;
mod pair;
mod program;
mod read;
mod routed;
mod router;
mod setting;
mod shorten;
mod tagged;
mod talk;
mod tally;

use std::time::Instant;

use event::Step;
use generator::sequence;
use pair::Pair;
use setting::Setting;
use shorten::shorten;
use tally::Tally;

/// Steps per sequence.
const LENGTH: u64 = 1000;

#[test]
#[ignore = "needs root and BPF"]
fn program_and_state_machine_do_the_same() {
    let steps = std::env::var("WEFT_CONFORMANCE_STEPS").ok().and_then(|steps| steps.parse().ok());
    let sequences = steps.unwrap_or(50_000_u64).div_ceil(LENGTH);
    let started = Instant::now();
    let mut tally = Tally::default();
    for seed in 0..sequences {
        let setting = Setting::draw(seed);
        let mut pair = Pair::new(&setting);
        pair.every = 4;
        let (steps, difference) = sequence(&setting, seed, LENGTH, &mut pair);
        if let Some(difference) = difference {
            println!("seed {seed}, step {}: {difference}\nshortening ...", steps.len());
            let replay = |steps: &[Step]| {
                let mut pair = Pair::new(&setting);
                steps.iter().find_map(|step| pair.step(step).err())
            };
            let merge =
                |step: &mut Step, gone: &[Step]| step.wait += gone.iter().map(|gone| gone.wait).sum::<u64>();
            let shortest = shorten(steps, merge, |steps| replay(steps).is_some());
            let steps: Vec<String> = shortest.iter().map(|step| format!("    {step:?},")).collect();
            let again = replay(&shortest).unwrap_or_default();
            panic!("seed {seed}: {difference}\n{setting:#?}\nshortened:\n{}\n{again}", steps.join("\n"));
        }
        tally.add(&pair.tally);
    }
    let rate = (sequences * LENGTH) as f64 / started.elapsed().as_secs_f64();
    println!("{sequences} sequences of {LENGTH} steps, {rate:.0} steps per second: {tally}");
    // What never happened was not compared.
    if sequences >= 50 {
        assert_eq!(
            tally.unseen(tally::possible()),
            Vec::<&str>::new(),
            "never happened in {sequences} sequences"
        );
    }
}
