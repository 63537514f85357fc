//! [`Rtt`]: round-trip time and retransmission timeout (RFC 6298).

use weft_units::{Duration, Time};

use crate::config::{Config, LossRecovery, RtoFloor, RtoVariance};

/// Longer samples come from broken timestamps: 10 min.
const LONGEST_SAMPLE: u64 = 600_000_000_000_000;

/// The timeout after a handshake without a sample, because its SYN was repeated (RFC 6298, section 5.7).
const UNKNOWN: u64 = 3_000_000_000_000;

/// The estimate of one connection, in picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rtt {
    /// Smoothed; 0 before the first sample.
    srtt: u64,
    /// Mean deviation.
    variance: u64,
    /// The variance term of the timeout; before the first sample, the timeout, 0: the initial one.
    term: u64,
    /// The largest term of this round trip (`rto_variance = "peak"`).
    peak: u64,
}

impl Rtt {
    /// Takes a sample (RFC 6298, sections 2.2 to 2.4). `new_round`: all that was in flight when this was last true has
    /// been acknowledged.
    #[inline]
    pub(crate) fn sample(&mut self, cfg: &Config, sample: u64, new_round: bool) {
        let sample = sample.clamp(1, LONGEST_SAMPLE);
        if self.srtt == 0 {
            self.srtt = sample;
            self.variance = sample / 2;
            self.term = least_term(cfg).max(4 * self.variance);
            self.peak = self.term;
            return;
        }
        let error = sample.wrapping_sub(self.srtt) as i64;
        let mut spread = error.unsigned_abs().wrapping_sub(self.variance) as i64;
        if cfg.rto_variance == RtoVariance::Peak && error < 0 && spread > 0 {
            // Linux: a shorter round trip raises the deviation by an eighth of the rise that a longer one causes.
            spread /= 8;
        }
        let part = |of: i64, parts: i64| match cfg.loss_recovery {
            // ns-3 counts whole nanoseconds.
            LossRecovery::Ns3v37 => of.div_euclid(1000 * parts) * 1000,
            _ => of.div_euclid(parts),
        };
        self.srtt = self.srtt.wrapping_add_signed(part(error, 8)).max(1);
        self.variance = self.variance.wrapping_add_signed(part(spread, 4));
        match cfg.rto_variance {
            RtoVariance::Mean => self.term = least_term(cfg).max(4 * self.variance),
            RtoVariance::Peak => self.follow_peak(cfg, new_round),
        }
    }

    /// Linux (`tcp_rtt_estimator`): the term rises with the deviation at once. Once per round trip, it falls by a quarter
    /// of its excess over the largest deviation of that round trip.
    #[inline]
    fn follow_peak(&mut self, cfg: &Config, new_round: bool) {
        self.peak = self.peak.max(4 * self.variance);
        self.term = self.term.max(self.peak);
        if new_round {
            self.term -= (self.term - self.peak) / 4;
            self.peak = least_term(cfg);
        }
    }

    /// The handshake gave no sample, because its SYN was repeated.
    pub(crate) fn stays_unknown(&mut self, cfg: &Config) {
        self.term = UNKNOWN.max(cfg.initial_rto.ps());
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(crate) fn srtt(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// The timeout without backoff.
    #[inline]
    fn base(&self, cfg: &Config) -> u64 {
        match self.srtt {
            0 if self.term == 0 => cfg.initial_rto.ps(),
            0 => self.term,
            _ if cfg.rto_floor == RtoFloor::Timeout => (self.srtt + self.term).max(cfg.min_rto.ps()),
            _ => self.srtt + self.term,
        }
    }

    /// The timeout, doubled `backoff` times (RFC 6298, section 5.5).
    #[inline]
    pub(crate) fn timeout(&self, cfg: &Config, backoff: u8) -> Duration {
        let base = self.base(cfg);
        if backoff == 0 {
            return Duration::from_ps(base.min(cfg.max_rto.ps()));
        }
        let longer = u128::from(base) << backoff.min(32);
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

/// The least variance term.
#[inline]
fn least_term(cfg: &Config) -> u64 {
    match cfg.rto_floor {
        RtoFloor::Timeout => cfg.rto_granularity.ps(),
        RtoFloor::Variance => cfg.rto_granularity.ps().max(cfg.min_rto.ps()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_and_the_next_ones_move_by_an_eighth() {
        let cfg = Config { min_rto: Duration::from_us(1), ..Config::profile("ns3-3.37").unwrap() };
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_secs(1));
        rtt.sample(&cfg, Duration::from_ms(100).ps(), true);
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(300), "SRTT + 4 * RTT / 2");
        rtt.sample(&cfg, Duration::from_ms(180).ps(), true);
        assert_eq!(rtt.srtt(), Duration::from_ms(110));
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(340), "variance 3/4 * 50 + 1/4 * 80");
    }

    #[test]
    fn the_timeout_doubles_up_to_its_limit() {
        let cfg = Config::profile("ns3-3.37").unwrap();
        let rtt = Rtt::default();
        let seconds = |backoff| rtt.timeout(&cfg, backoff).ps() / 1_000_000_000_000;
        assert_eq!([0, 1, 5, 6, 255].map(seconds), [1, 2, 32, 60, 60]);
    }

    #[test]
    fn linux_adds_its_floor_to_the_round_trip() {
        let cfg = Config::profile("linux").unwrap();
        let mut rtt = Rtt::default();
        rtt.sample(&cfg, Duration::from_ms(10).ps(), true);
        assert_eq!(rtt.timeout(&cfg, 0), Duration::from_ms(210));
    }

    #[test]
    fn the_peak_of_linux_rises_at_once_and_falls_by_a_quarter_a_round_trip() {
        let cfg = Config::profile("linux").unwrap();
        let mut rtt = Rtt::default();
        let mut timeout = |ms: u64, new_round| {
            rtt.sample(&cfg, Duration::from_ms(ms).ps(), new_round);
            rtt.timeout(&cfg, 0).ps() / 1_000_000_000
        };
        assert_eq!(timeout(100, true), 300);
        assert_eq!(timeout(100, true), 300, "not less than the minimum of 200 ms");
        assert_eq!(timeout(1700, false), 300 + 1712, "SRTT 300 ms, deviation 428 ms");
        for _ in 0..5 {
            assert!(timeout(300, false) > 1700, "no less in the same round trip");
        }
        let rounds: Vec<u64> = (0..4).map(|_| timeout(300, true)).collect();
        assert!(rounds.windows(2).all(|pair| pair[1] < pair[0]), "{rounds:?}");
        assert!(rounds[3] > 800, "{rounds:?}");
    }
}
