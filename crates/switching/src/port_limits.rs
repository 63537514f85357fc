//! [`PortLimits`]: limits the effects of frames from one port, with token buckets.

use weft_units::{Duration, PortId, Rate, Time};

use crate::exploration::Exploration;
use crate::rate_limit::RateLimit;

/// Flooded frames that a port may send at once, as the time that its share takes to carry them: longer than the
/// coarsest clock's tick.
pub const FLOODED_AT_ONCE: Duration = Duration::from_ms(50);

/// The time per byte, in ps, at `percent` of a port's rate; at least 1.
pub fn ps_per_byte(rate: Rate, percent: u8) -> u64 {
    (8_000_000_000_000 * 100 / (rate.bps().max(1) * u64::from(percent.max(1)))).max(1)
}

/// The limits of a port.
#[derive(Clone)]
struct Limits {
    floods: RateLimit,
    stations: RateLimit,
    /// The time per byte of flooded frames, in ps; 0: no limit.
    byte_ps: u64,
    /// When the bucket of flooded bytes will be full.
    bytes_full_at: Time,
}

impl Limits {
    /// Takes a flooded frame of this length out of the bucket. Times are those of the kernel program, in whole ns.
    fn take_bytes(&mut self, bytes: u64, now: Time) -> bool {
        let gap = Duration::from_ps(bytes * self.byte_ps / 1000 * 1000);
        let full_at = self.bytes_full_at.max(now) + gap;
        let allowed = self.byte_ps == 0 || full_at <= now + FLOODED_AT_ONCE;
        if allowed && self.byte_ps > 0 {
            self.bytes_full_at = full_at;
        }
        allowed
    }
}

/// The limits of all ports of a switch.
pub(crate) struct PortLimits {
    ports: Vec<Limits>,
}

impl PortLimits {
    /// Full buckets for `count` ports.
    pub(crate) fn new(config: &Exploration, count: usize) -> Self {
        let full = Limits {
            floods: RateLimit::new(config.flood_rate, config.flood_burst),
            stations: RateLimit::new(config.station_rate, config.station_burst),
            byte_ps: config.line_rate.map_or(0, |rate| ps_per_byte(rate, config.safeguards.flood_share)),
            bytes_full_at: Time::ZERO,
        };
        Self { ports: vec![full; count] }
    }

    /// `port` went down and has no stations: its buckets are full.
    pub(crate) fn refill(&mut self, port: PortId) {
        if let Some(limits) = self.ports.get_mut(port.index()) {
            limits.floods.refill();
            limits.stations.refill();
            limits.bytes_full_at = Time::ZERO;
        }
    }

    /// Takes a token of the floods that frames from `port` may start, if any is left.
    pub(crate) fn admit_flood(&mut self, port: PortId, now: Time) -> bool {
        self.ports.get_mut(port.index()).is_some_and(|limits| limits.floods.take(now))
    }

    /// Takes a flooded frame of this length from the share of `port`, if enough of it is left.
    pub(crate) fn admit_bytes(&mut self, port: PortId, bytes: u64, now: Time) -> bool {
        self.ports.get_mut(port.index()).is_some_and(|limits| limits.take_bytes(bytes, now))
    }

    /// Takes a token of the stations that may appear on or move to `port`, if any is left.
    pub(crate) fn admit_station(&mut self, port: PortId, now: Time) -> bool {
        self.ports.get_mut(port.index()).is_some_and(|limits| limits.stations.take(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::Safeguards;

    const PORT: PortId = PortId(0);

    fn limits(line_rate: Option<Rate>, flood_share: u8) -> PortLimits {
        let safeguards = Safeguards { flood_share, ..Safeguards::default() };
        let (station_rate, station_burst) = (0, 3);
        let config =
            Exploration { safeguards, line_rate, station_rate, station_burst, ..Exploration::default() };
        PortLimits::new(&config, 1)
    }

    #[test]
    fn flooded_frames_of_a_port_take_its_share_of_its_rate_and_no_more() {
        for (gbps, percent) in [(1, 20), (10, 20), (10, 50), (400, 1)] {
            let mut limits = limits(Some(Rate::from_gbps(gbps)), percent);
            let (mut taken, seconds) = (0, 2);
            for us in 0..seconds * 100_000 {
                let now = Time::ZERO + Duration::from_us(us * 10);
                // More than the port's whole rate.
                for _ in 0..=gbps {
                    taken += if limits.admit_bytes(PORT, 1500, now) { 1500 * 8 } else { 0 };
                }
            }
            let share = gbps * 1_000_000_000 * u64::from(percent) / 100;
            let allowed = share * seconds + share / 20;
            assert!((allowed * 99 / 100..=allowed * 101 / 100).contains(&taken), "{taken} of {allowed} bits");
        }
    }

    #[test]
    fn a_port_of_unknown_rate_has_no_limit_of_bytes() {
        let mut limits = limits(None, 1);
        assert!((0..1_000_000).all(|_| limits.admit_bytes(PORT, 1500, Time::ZERO)));
    }

    #[test]
    fn a_port_that_went_down_may_have_all_its_stations_again() {
        let mut limits = limits(Some(Rate::from_gbps(1)), 20);
        for _ in 0..2 {
            assert_eq!((0..9).filter(|_| limits.admit_station(PORT, Time::ZERO)).count(), 3);
            limits.refill(PORT);
        }
    }
}
