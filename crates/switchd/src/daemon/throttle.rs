//! [`Throttle`]: how often something may happen that others cause: the first time at once, then with pauses that double
//! until all is quiet.

/// The first pause, in ns.
const FIRST: u64 = 10_000_000;

/// The pauses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttle {
    /// Not before.
    next: u64,
    pause: u64,
}

impl Throttle {
    /// If it may happen at `now`, counts it. Otherwise returns when it may. The pauses grow up to `longest`, and start again
    /// when nothing has happened for as long.
    pub fn take(&mut self, now: u64, longest: u64) -> Result<(), u64> {
        if now < self.next {
            return Err(self.next);
        }
        let is_quiet = now >= self.next + longest;
        self.pause = if is_quiet { FIRST } else { (2 * self.pause).clamp(FIRST, longest) };
        self.next = now + self.pause;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn it_happens_at_once_and_then_less_and_less_often() {
        let (mut throttle, mut now, mut times) = (Throttle::default(), 1000 * MS, Vec::new());
        while now < 1600 * MS {
            match throttle.take(now, 100 * MS) {
                Ok(()) => times.push(now / MS - 1000),
                Err(next) => now = next,
            }
        }
        assert_eq!(times, [0, 10, 30, 70, 150, 250, 350, 450, 550]);
        assert_eq!(throttle.take(1649 * MS, 100 * MS), Err(1650 * MS));
        assert_eq!(throttle.take(1750 * MS, 100 * MS), Ok(()));
        assert_eq!(throttle.take(1750 * MS, 100 * MS), Err(1760 * MS), "it was quiet");
    }
}
