//! [`Rtt`]: round-trip time and retransmission timeout (RFC 6298).

use weft_units::{Duration, Time};

use crate::config::{Config, LossRecovery, RtoFloor};

/// Longer samples come from broken timestamps: 10 min.
const LONGEST_SAMPLE: u64 = 600_000_000_000_000;

/// The estimate of one connection, in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    /// Smoothed; 0 before the first sample.
    srtt: u64,
    /// Mean deviation.
    variance: u64,
    /// Timeout without backoff.
    rto: u64,
}

impl Rtt {
    pub(crate) fn new(cfg: &Config) -> Self {
        Self { srtt: 0, variance: 0, rto: cfg.initial_rto.ps() }
    }

    /// Takes a sample (RFC 6298, sections 2.2 to 2.4).
    #[inline]
    pub(crate) fn sample(&mut self, cfg: &Config, sample: u64) {
        let sample = sample.clamp(1, LONGEST_SAMPLE);
        if self.srtt == 0 {
            self.srtt = sample;
            self.variance = sample / 2;
        } else {
            let error = sample.wrapping_sub(self.srtt) as i64;
            let spread = error.unsigned_abs().wrapping_sub(self.variance) as i64;
            let part = |of: i64, parts: i64| match cfg.loss_recovery {
                // ns-3 counts whole nanoseconds.
                LossRecovery::Ns3v37 => of.div_euclid(1000 * parts) * 1000,
                _ => of.div_euclid(parts),
            };
            self.srtt = self.srtt.wrapping_add_signed(part(error, 8)).max(1);
            self.variance = self.variance.wrapping_add_signed(part(spread, 4));
        }
        let least = cfg.min_rto.ps();
        let variance = (4 * self.variance).max(cfg.rto_granularity.ps());
        self.rto = match cfg.rto_floor {
            RtoFloor::Timeout => (self.srtt + variance).max(least),
            RtoFloor::Variance => self.srtt + variance.max(least),
        };
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(crate) fn srtt(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// The timeout after `backoff` consecutive expiries (RFC 6298, section 5.5).
    #[inline]
    pub(crate) fn timeout(&self, cfg: &Config, backoff: u8) -> Duration {
        if backoff == 0 {
            return Duration::from_ps(self.rto.min(cfg.max_rto.ps()));
        }
        let longer = u128::from(self.rto) << backoff.min(32);
        Duration::from_ps(longer.min(u128::from(cfg.max_rto.ps())) as u64)
    }

    /// The timeout without minimum or backoff: ns-3.37 uses it to repeat the FIN of a passive close.
    pub(crate) fn bare_timeout(&self, cfg: &Config) -> Duration {
        let srtt = if self.srtt == 0 { cfg.initial_rto.ps() } else { self.srtt };
        Duration::from_ps(srtt + (4 * self.variance).max(cfg.rto_granularity.ps()))
    }

    /// When the timeout expires if it starts now.
    #[inline]
    pub(crate) fn deadline(&self, cfg: &Config, now: Time, backoff: u8) -> Time {
        now + self.timeout(cfg, backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_and_the_next_ones_move_by_an_eighth() {
        let cfg = Config { min_rto: Duration::from_us(1), ..Config::profile("ns3-3.37").unwrap() };
        let mut rtt = Rtt::new(&cfg);
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_secs(1));
        rtt.sample(&cfg, Duration::from_ms(100).ps());
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(300), "SRTT + 4 * RTT / 2");
        rtt.sample(&cfg, Duration::from_ms(180).ps());
        assert_eq!(rtt.srtt(), Duration::from_ms(110));
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(340), "variance 3/4 * 50 + 1/4 * 80");
    }

    #[test]
    fn the_timeout_doubles_up_to_its_limit() {
        let cfg = Config::profile("ns3-3.37").unwrap();
        let rtt = Rtt::new(&cfg);
        let seconds = |backoff| rtt.timeout(&cfg, backoff).ps() / 1_000_000_000_000;
        assert_eq!([0, 1, 5, 6, 255].map(seconds), [1, 2, 32, 60, 60]);
    }

    #[test]
    fn linux_adds_its_floor_to_the_round_trip() {
        let cfg = Config::profile("linux").unwrap();
        let mut rtt = Rtt::new(&cfg);
        rtt.sample(&cfg, Duration::from_ms(10).ps());
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(210));
    }
}
