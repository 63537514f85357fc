//! `std::mt19937_64`, which the reference program uses for spraying (Matsumoto and Nishimura,
//! "Mersenne twister", 1998, and the 64-bit parameters of Nishimura, 2000).

const LEN: usize = 312;
const HALF: usize = 156;

/// The generator.
pub struct Mersenne {
    state: [u64; LEN],
    at: usize,
}

impl Mersenne {
    /// The generator, seeded with one number as in C++.
    pub fn new(seed: u64) -> Self {
        let mut state = [seed; LEN];
        for i in 1..LEN {
            let last = state[i - 1];
            state[i] = 6_364_136_223_846_793_005_u64.wrapping_mul(last ^ (last >> 62)).wrapping_add(i as u64);
        }
        Self { state, at: LEN }
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        if self.at == LEN {
            for i in 0..LEN {
                let joined = self.state[i] & !0 << 31 | self.state[(i + 1) % LEN] & ((1 << 31) - 1);
                let twist = if joined & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                self.state[i] = self.state[(i + HALF) % LEN] ^ (joined >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut x = self.state[self.at];
        self.at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    }
}
