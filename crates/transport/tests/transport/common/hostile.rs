//! Segments that no honest side sends.

use super::Random;
use weft_transport::{Ecn, Flags, Segment};

/// A number near a real one, or a random one.
pub fn number(random: &mut Random, near: u64) -> u64 {
    match random.next() % 6 {
        0 => random.next(),
        1 | 2 => near,
        3 => near.wrapping_add(random.next() % 5000),
        4 => near.wrapping_sub(random.next() % 5000),
        _ => near.wrapping_add(random.next() % 200_000),
    }
}

/// A segment near a real one, or a random one.
pub fn mutate(random: &mut Random, near: &Segment) -> Segment {
    let mut small = |near: u32| number(random, u64::from(near)) as u32;
    let (seq, ack, ts_val, ts_ecr) =
        (small(near.seq), small(near.ack), small(near.ts_val), small(near.ts_ecr));
    let mut sacks = [(0, 0); 4];
    for block in &mut sacks {
        let left = small(near.ack);
        *block = (left, small(left));
    }
    let flags = match random.next() % 4 {
        0 => Flags(random.next() as u8),
        1 => near.flags,
        _ => Flags::ACK | Flags::TS,
    };
    Segment {
        seq,
        ack,
        ts_val,
        ts_ecr,
        window: if random.hit(500) { near.window } else { random.next() as u32 },
        len: if random.hit(500) { near.len } else { (random.next() % 3000) as u16 },
        flags,
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][(random.next() % 3) as usize],
        sack_count: (random.next() % 6) as u8,
        options: 12,
        retransmission: random.hit(300),
        sacks,
    }
}
