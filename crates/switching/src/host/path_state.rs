//! [`PathState`]: a host's knowledge about one path to a leaf (Hermes, sections 3.1 and 3.2).

use weft_units::{Duration, Time};

/// Share of retransmissions above which a path that is not congested has failed: a switch that drops at random.
const RESENT: f64 = 0.01;
/// Shortest window in which retransmissions are counted.
const LOSS_WINDOW: Duration = Duration::from_ms(10);
/// Packets from which the share of retransmissions means something; Weft's value.
const LEAST_PACKETS: u32 = 100;
/// After this time a failed path is tried again, because the failure may have been mended; Weft's value.
const FAILED_FOR: Duration = Duration::from_secs(1);
/// Weights of a new sample in the averages of round-trip times and marks; the paper does not state them.
const TIME_WEIGHT: f64 = 1.0 / 8.0;
const MARK_WEIGHT: f64 = 1.0 / 16.0;
/// Window of the rate of a path.
const RATE_WINDOW: Duration = Duration::from_us(500);

/// The thresholds (table 3 of the paper).
pub(crate) struct Limits {
    /// Share of marks above which a path is congested.
    pub(crate) marked: f64,
    /// Delay over the shortest round-trip time below which a path is good.
    pub(crate) low: Duration,
    /// Delay over the shortest round-trip time above which a path is congested.
    pub(crate) high: Duration,
    /// Difference of round-trip times that makes a path notably better.
    pub(crate) better_by: Duration,
    /// Difference of shares of marks that does.
    pub(crate) better_marked: f64,
}

/// The condition of a path (table 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Good,
    Gray,
    Congested,
    Failed,
}

/// A host's measurements of one path.
#[derive(Clone, Default)]
pub(crate) struct PathState {
    /// Average round-trip time, if any was measured.
    pub(super) time: Option<Duration>,
    /// Average share of marks.
    pub(super) marked: f64,
    /// Bytes sent recently, decaying, and when the last were sent.
    bytes: f64,
    sent_at: Time,
    /// The window in which losses are counted, with the packets and the retransmissions in it.
    window: Time,
    packets: u32,
    resent: u32,
    /// The path counts as failed until this time.
    pub(super) failed_until: Time,
}

impl PathState {
    /// Algorithm 1; `base` is the shortest round-trip time of all paths.
    pub(crate) fn condition(&self, base: Option<Duration>, limits: &Limits, now: Time) -> Condition {
        if self.has_failed(now) {
            return Condition::Failed;
        }
        let (Some(time), Some(base)) = (self.time, base) else { return Condition::Gray };
        if self.marked < limits.marked && time < base + limits.low {
            Condition::Good
        } else if self.marked > limits.marked && time > base + limits.high {
            Condition::Congested
        } else {
            Condition::Gray
        }
    }

    /// Whether it has failed.
    pub(crate) fn has_failed(&self, now: Time) -> bool {
        now < self.failed_until
    }

    /// Bytes that decay with the window of the rate.
    pub(crate) fn load(&self, now: Time) -> f64 {
        let passed = now.saturating_since(self.sent_at).ps() as f64 * (1.0 / RATE_WINDOW.ps() as f64);
        self.bytes * (1.0 - passed).max(0.0)
    }

    /// A packet of `bytes` is sent.
    pub(crate) fn sends(&mut self, bytes: u64, now: Time) {
        self.bytes = self.load(now) + bytes as f64;
        self.sent_at = now;
        self.packets += 1;
    }

    /// A packet was there and back after `time`.
    pub(crate) fn measured(&mut self, time: Duration) {
        let average = self.time.map_or(time, |before| {
            Duration::from_ps(
                (before.ps() as f64 * (1.0 - TIME_WEIGHT) + time.ps() as f64 * TIME_WEIGHT) as u64,
            )
        });
        self.time = Some(average);
    }

    /// A packet was acknowledged, with a mark or without. Losses are counted in windows: those of a path with marks or
    /// long queues are no sign of a failure.
    pub(crate) fn acked(&mut self, is_marked: bool, base: Option<Duration>, limits: &Limits, now: Time) {
        self.marked += (f64::from(u8::from(is_marked)) - self.marked) * MARK_WEIGHT;
        if now.saturating_since(self.window) < LOSS_WINDOW || self.packets < LEAST_PACKETS {
            return;
        }
        let is_lossy = f64::from(self.resent) > RESENT * f64::from(self.packets);
        let is_slow = self.time.zip(base).is_some_and(|(time, base)| time > base + limits.high);
        if is_lossy && self.marked < MARK_WEIGHT && !is_slow {
            self.failed_until = now + FAILED_FOR;
        }
        (self.window, self.packets, self.resent) = (now, 0, 0);
    }

    /// A packet was lost.
    pub(crate) fn lost(&mut self) {
        self.resent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;
    const BASE: Option<Duration> = Some(Duration::from_us(20));
    const LIMITS: Limits = Limits {
        marked: 0.4,
        low: Duration::from_us(30),
        high: Duration::from_us(120),
        better_by: Duration::from_us(80),
        better_marked: 0.05,
    };

    /// A path with this round-trip time, and with marks or without.
    fn path(time: u64, is_marked: bool) -> PathState {
        let mut path = PathState::default();
        path.measured(US(time));
        (0..100).filter(|_| is_marked).for_each(|_| path.acked(true, BASE, &LIMITS, Time::ZERO));
        path
    }

    #[test]
    fn conditions_are_those_of_table_2() {
        use Condition::{Congested, Failed, Good, Gray};
        for (time, is_marked, expected) in [
            (20, false, Good),
            (49, false, Good),
            (50, false, Gray),
            (220, false, Gray),
            (20, true, Gray),
            (140, true, Gray),
            (141, true, Congested),
        ] {
            let found = path(time, is_marked).condition(BASE, &LIMITS, Time::ZERO);
            assert_eq!(found, expected, "{time} us, marks: {is_marked}");
        }
        assert_eq!(PathState::default().condition(BASE, &LIMITS, Time::ZERO), Gray, "nothing is known");
        let failed = PathState { failed_until: Time::ZERO + US(5), ..path(20, false) };
        let at = |us| failed.condition(BASE, &LIMITS, Time::ZERO + US(us));
        assert_eq!((at(4), at(5)), (Failed, Good));
    }

    #[test]
    fn it_fails_if_it_loses_packets_without_marks_and_without_delay() {
        for (is_marked, time, resent, fails) in
            [(false, 20, 2, true), (false, 20, 1, false), (true, 20, 2, false), (false, 500, 2, false)]
        {
            let mut path = path(time, is_marked);
            (0..99).for_each(|_| path.sends(1500, Time::ZERO));
            (0..resent).for_each(|_| path.lost());
            let end = Time::ZERO + LOSS_WINDOW;
            path.acked(false, BASE, &LIMITS, end);
            assert!(!path.has_failed(end), "too few packets to tell");
            path.sends(1500, Time::ZERO);
            path.acked(false, BASE, &LIMITS, end);
            assert_eq!(path.has_failed(end), fails, "{resent} of 100 lost, {time} us, marks: {is_marked}");
            assert!(!path.has_failed(end + FAILED_FOR), "it is tried again");
        }
    }
}
