//! Two TCP endpoints exchange segments; some are lost, and after each exchange a slightly altered one
//! arrives. No panic, no endless transmission.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use weft_transport::profile::PROFILES;
use weft_transport::{Config, Ecn, Endpoint, Flags, Segment};
use weft_units::{Duration, Time};

/// More segments than any window allows.
const TOO_MANY: u32 = 1 << 20;

#[derive(Arbitrary, Debug)]
struct Step {
    /// Which side receives.
    to: bool,
    /// Which of the other side's segments are lost.
    lost: u32,
    pause_us: u16,
    seq: i16,
    ack: i16,
    len: u16,
    window: u32,
    flags: u8,
    ecn: u8,
    timestamp: i16,
    sacks: Vec<(i16, u16)>,
}

impl Step {
    /// An altered copy of a segment.
    fn spoil(&self, real: &Segment) -> Segment {
        let moved = |number: u32, by: i16| number.wrapping_add_signed(i32::from(by));
        let mut segment = Segment {
            seq: moved(real.seq, self.seq),
            ack: moved(real.ack, self.ack),
            ts_val: moved(real.ts_val, self.timestamp),
            len: self.len,
            window: self.window,
            flags: Flags(real.flags.0 ^ self.flags),
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][usize::from(self.ecn) % 3],
            sack_count: self.sacks.len() as u8,
            ..*real
        };
        for (block, (from, length)) in segment.sacks.iter_mut().zip(&self.sacks) {
            let from = moved(real.ack, *from);
            *block = (from, from.wrapping_add(u32::from(*length)));
        }
        segment
    }
}

fuzz_target!(|input: (u8, u32, Vec<Step>)| {
    let (profile, isn, steps) = input;
    let (name, _) = PROFILES[usize::from(profile) % PROFILES.len()];
    let cfg = Config::profile(name).expect("known profile");
    let mut now = Time::ZERO;
    let mut sides = [Endpoint::connect(&cfg, now, isn), Endpoint::listen(&cfg, !isn)];
    sides.iter_mut().for_each(|side| side.write(1 << 20));
    let mut segment = Segment::default();
    for step in &steps {
        now += Duration::from_us(u64::from(step.pause_us) * 64);
        let (to, mut sent) = (usize::from(step.to), 0);
        while sides[1 - to].poll_transmit(&cfg, now, &mut segment) {
            if step.lost.rotate_right(sent) & 1 == 0 {
                sides[to].on_segment(&cfg, now, &segment);
            }
            sent += 1;
            assert!(sent < TOO_MANY, "{name} sends forever");
        }
        sides[to].on_segment(&cfg, now, &step.spoil(&segment));
        for side in &mut sides {
            if side.next_timeout() <= now {
                side.on_timeout(&cfg, now);
            }
        }
    }
});
