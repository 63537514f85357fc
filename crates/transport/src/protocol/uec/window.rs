//! [`Window`]: the bytes that a sender may have in flight, fixed, by the receiver's [`Credit`], or by network-signalled
//! congestion control, [`Nscc`] (Ultra Ethernet 1.0, section 3.6.13; constants of uet-htsim).
//!
//! Marks and delay together say how the window changes: without a mark it grows, faster below the target delay than above;
//! with a mark it shrinks if the mean delay is above the target. Increases are collected and applied every 8 packets or
//! base round-trip time.

use weft_units::{Duration, Rate, Time};

use super::config::{Config, Congestion};
use super::credit::Credit;

/// The bandwidth-delay product of the reference network of the constants: 100 Gbps and [`Config::REFERENCE_RTT`].
const REFERENCE_BDP: f64 = 150_000.0;
/// Packets between two adjustments.
const ADJUST_PACKETS: f64 = 8.0;
/// Added at each adjustment, in packets of the reference network.
const ETA: f64 = 0.15;
/// Increase above the target delay, per window, in packets of the reference network.
const FAIR: f64 = 5.0;
/// Increase below the target delay, in packets of the reference network for each reference round-trip time below it.
const ALPHA: f64 = 4.0;
/// How strongly a delay above the target reduces the window, and the least that remains.
const GAMMA: f64 = 0.8;
const FLOOR: f64 = 0.5;
/// Weight of a new delay in the mean.
const DELAY_WEIGHT: f64 = 0.0125;
/// After a window with delays below this, the window grows with each byte.
const IDLE: Duration = Duration::from_us(1);
const IDLE_GROWTH: f64 = 0.25;
/// Quick adaptation: after a loss or a delay of four targets, the window becomes the bytes that arrived within a base
/// round-trip time and a target delay, if that is less than an eighth of the largest window.
const QUICK_DELAY: u64 = 4;
const QUICK_SHARE: f64 = 8.0;

/// The congestion signals in an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Bytes that are known to have arrived since the last answer.
    pub bytes: u32,
    /// Whether the packet was marked.
    pub is_marked: bool,
    /// The round-trip time of the packet, if this transmission of it is known.
    pub rtt: Option<Duration>,
    /// Whether it is a full packet: that of a shorter one is no base for others.
    pub is_full: bool,
    /// Bytes in flight.
    pub in_flight: u32,
}

/// The window of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Fixed(u64),
    Nscc(Nscc),
    Rccc(Credit),
    /// On the heap, so that a sender is small.
    NsccRccc(Box<(Nscc, Credit)>),
}

impl Window {
    /// The window of a host whose link has `rate`.
    pub fn new(config: &Config, rate: Rate) -> Self {
        match config.congestion {
            Congestion::Fixed => Self::Fixed(u64::from(config.window) * u64::from(config.mtu)),
            Congestion::Nscc => Self::Nscc(Nscc::new(config, rate)),
            Congestion::Rccc => Self::Rccc(Credit::new(config, rate)),
            Congestion::NsccRccc => {
                Self::NsccRccc(Box::new((Nscc::new(config, rate), Credit::new(config, rate))))
            }
        }
    }

    /// The most bytes in flight, of which `in_flight` are.
    pub fn bytes(&self, in_flight: u32) -> u64 {
        let with = |credit: &Credit| u64::from(in_flight) + credit.bytes();
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Nscc(nscc) => nscc.window(),
            Self::Rccc(credit) => with(credit),
            Self::NsccRccc(both) => with(&both.1).min(both.0.window()),
        }
    }

    /// Whether a packet of `bytes` may be sent while `in_flight` are in flight.
    #[inline]
    pub fn allows(&self, in_flight: u32, bytes: u16) -> bool {
        // Without credit, one packet may always be in flight.
        let fits = |window| in_flight == 0 || u64::from(in_flight) + u64::from(bytes) <= window;
        match self {
            Self::Fixed(window) => fits(*window),
            Self::Nscc(nscc) => fits(nscc.window()),
            Self::Rccc(credit) => credit.allows(),
            Self::NsccRccc(both) => both.1.allows() && fits(both.0.window()),
        }
    }

    /// The credit, if there is some.
    #[inline]
    pub fn credit(&self) -> Option<&Credit> {
        match self {
            Self::Fixed(_) | Self::Nscc(_) => None,
            Self::Rccc(credit) => Some(credit),
            Self::NsccRccc(both) => Some(&both.1),
        }
    }

    /// See [`Self::credit`].
    #[inline]
    pub fn credit_mut(&mut self) -> Option<&mut Credit> {
        match self {
            Self::Fixed(_) | Self::Nscc(_) => None,
            Self::Rccc(credit) => Some(credit),
            Self::NsccRccc(both) => Some(&mut both.1),
        }
    }

    #[inline]
    fn nscc(&mut self) -> Option<&mut Nscc> {
        match self {
            Self::Nscc(nscc) => Some(nscc),
            Self::NsccRccc(both) => Some(&mut both.0),
            Self::Fixed(_) | Self::Rccc(_) => None,
        }
    }

    /// Up to how many quanta a sender with `backlog` bytes to send wants credit.
    pub fn target(&self, config: &Config, backlog: u64) -> u32 {
        let full = config.ip_bytes(config.mtu);
        match self {
            Self::Fixed(_) | Self::Nscc(_) => 0,
            Self::Rccc(credit) => credit.target(backlog, full),
            // No more than NSCC lets it send in a round-trip time.
            Self::NsccRccc(both) => {
                both.1.target(backlog.min(both.0.window().saturating_add(full.into())), full)
            }
        }
    }

    /// Whether a third of NSCC's largest window ends with packet `number`, if a receiver collects more before it answers.
    #[inline]
    pub fn is_third(&self, config: &Config, number: u32) -> bool {
        let nscc = match self {
            Self::Nscc(nscc) => nscc,
            Self::NsccRccc(both) => &both.0,
            Self::Fixed(_) | Self::Rccc(_) => return false,
        };
        let (mtu, third) = (f64::from(config.mtu), nscc.largest(config.mtu.into()) / 3.0);
        let is_small = config.answer_requests && third < config.ack_bytes.0 as f64;
        is_small && (number + 1).is_multiple_of(((third / mtu) as u32).max(1))
    }

    /// By default, as many bytes sent later have arrived when a packet is lost: 1.5 windows, but at most the largest one.
    pub fn distance(&self, mtu: u16) -> u64 {
        let of = |window: u64| window.saturating_add(window / 2);
        match self {
            Self::Fixed(bytes) => of(*bytes),
            Self::Nscc(nscc) => nscc.distance(mtu),
            Self::Rccc(credit) => credit.largest(),
            Self::NsccRccc(both) => both.0.distance(mtu),
        }
    }

    pub fn acknowledged(&mut self, config: &Config, signal: Signal, now: Time) {
        if let Some(nscc) = self.nscc() {
            nscc.acknowledged(config, signal, now);
        }
    }

    pub fn trimmed(&mut self, config: &Config, signal: Signal, now: Time) {
        if let Some(nscc) = self.nscc() {
            nscc.trimmed(config, signal, now);
        }
    }

    /// A packet of `bytes` was lost.
    pub fn lost(&mut self, config: &Config, bytes: u32) {
        if let Some(nscc) = self.nscc() {
            nscc.lost(config, bytes);
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        if matches!(self, Self::NsccRccc(_)) { size_of::<(Nscc, Credit)>() } else { 0 }
    }
}

/// The window by network-signalled congestion control, in bytes, and the state from which it is computed.
///
/// Counts of bytes have 32 bits and saturate at 4 GB. A sender has at most [`SPAN`](super::span::SPAN) packets in flight,
/// less than 0.2 GB, so a window of 4 GB and a larger one are the same.
#[derive(Clone, Debug)]
pub(crate) struct Nscc {
    window: f64,
    bits_per_second: f64,
    base_rtt: Duration,
    /// Mean queueing delay in picoseconds.
    delay: f64,
    /// Increases until the next adjustment, in bytes times bytes.
    increase: f64,
    adjusted: Time,
    decreased: Time,
    /// Bytes acknowledged while the fabric looks idle.
    idle: f64,
    /// Quick adaptation: the end of the period, bytes that arrived in it, whether a packet was trimmed, and how many bytes
    /// that were in flight are still to be ignored.
    period_ends: Option<Time>,
    achieved: u32,
    ignore: u32,
    /// Bytes that arrived since the last adjustment.
    arrived: u32,
    was_trimmed: bool,
    is_idle: bool,
}

/// The constants of a window: the same for all senders whose links have the same rate.
struct Constants {
    mtu: f64,
    target: Duration,
    /// The bandwidth-delay product relative to the reference network's.
    scale: f64,
}

impl Nscc {
    pub fn new(config: &Config, rate: Rate) -> Self {
        let mut nscc = Self {
            window: 0.0,
            bits_per_second: rate.bps() as f64,
            base_rtt: config.delays().0,
            delay: 0.0,
            increase: 0.0,
            adjusted: Time::ZERO,
            decreased: Time::ZERO,
            idle: 0.0,
            period_ends: None,
            achieved: 0,
            ignore: 0,
            arrived: 0,
            was_trimmed: false,
            is_idle: false,
        };
        let mtu = f64::from(config.mtu);
        let first = config.initial_window.map_or(f64::INFINITY, |packets| f64::from(packets) * mtu);
        nscc.window = nscc.largest(mtu).min(first);
        nscc
    }

    #[inline]
    fn constants(&self, config: &Config) -> Constants {
        let (base_rtt, target) = config.delays();
        let scale = self.bits_per_second / 8.0 * base_rtt.as_secs_f64() / REFERENCE_BDP;
        Constants { mtu: config.mtu.into(), target, scale }
    }

    pub fn window(&self) -> u64 {
        self.window as u64
    }

    /// 1.5 windows, but at most the largest one.
    fn distance(&self, mtu: u16) -> u64 {
        (1.5 * self.window).min(self.largest(mtu.into())) as u64
    }

    fn largest(&self, mtu: f64) -> f64 {
        Config::largest_window(mtu, self.bits_per_second, self.base_rtt)
    }

    fn bound(&mut self, mtu: f64) {
        self.window = self.window.clamp(mtu, self.largest(mtu));
    }

    fn average(&mut self, delay: f64) {
        self.delay += DELAY_WEIGHT * (delay - self.delay);
    }

    /// The queueing delay of a round-trip time, which may lower the base if it is a full packet's.
    fn queueing(&mut self, rtt: Duration, is_full: bool) -> Duration {
        if is_full {
            self.base_rtt = self.base_rtt.min(rtt);
        }
        rtt.saturating_sub(self.base_rtt)
    }

    pub fn acknowledged(&mut self, config: &Config, signal: Signal, now: Time) {
        let constants = self.constants(config);
        let Constants { mtu, target, scale } = constants;
        self.achieved = self.achieved.saturating_add(signal.bytes);
        self.arrived = self.arrived.saturating_add(signal.bytes);
        self.ignore = self.ignore.saturating_sub(signal.bytes);
        let delay = match signal.rtt {
            Some(rtt) => {
                let delay = self.queueing(rtt, signal.is_full);
                // A long delay without a mark has passed already.
                let is_past = !signal.is_marked && delay > target;
                self.average(if is_past { self.base_rtt.ps() as f64 / 4.0 } else { delay.ps() as f64 });
                delay
            }
            None => Duration::from_ps(self.delay as u64),
        };
        if self.adapt_quickly(&constants, false, signal.is_marked, delay, signal.in_flight, now) {
            return;
        }
        let bytes = f64::from(signal.bytes);
        match (signal.is_marked, delay >= target) {
            (false, true) => self.increase += FAIR * mtu * scale * bytes,
            (false, false) => self.grow(&constants, bytes, delay),
            (true, true) => self.shrink(target, now),
            (true, false) => {}
        }
        self.bound(mtu);
        let since = now.saturating_since(self.adjusted);
        if f64::from(self.arrived) > ADJUST_PACKETS * mtu || since > self.base_rtt {
            self.window += self.increase / self.window;
            if since >= self.base_rtt {
                self.window += ETA * mtu * scale;
                self.adjusted = now;
            }
            (self.increase, self.arrived) = (0.0, 0);
            self.bound(mtu);
        }
    }

    /// Increase without a mark below the target delay.
    fn grow(&mut self, constants: &Constants, bytes: f64, delay: Duration) {
        let Constants { mtu, target, scale } = *constants;
        if delay < IDLE {
            self.idle += bytes;
            if self.idle > self.window || self.is_idle {
                self.is_idle = true;
                self.window += bytes * IDLE_GROWTH * scale;
                return;
            }
        } else {
            self.idle = 0.0;
        }
        self.is_idle = false;
        let below = target.saturating_sub(delay).ps() as f64 / Config::REFERENCE_RTT.ps() as f64;
        self.increase += ALPHA * mtu * scale * below * bytes;
    }

    /// Decrease with a mark, once a round-trip time.
    fn shrink(&mut self, target: Duration, now: Time) {
        (self.is_idle, self.idle) = (false, 0.0);
        let target = target.ps() as f64;
        if self.delay > target && now.saturating_since(self.decreased) > self.base_rtt {
            self.window *= (1.0 - GAMMA * (self.delay - target) / self.delay).max(FLOOR);
            self.decreased = now;
        }
    }

    pub fn trimmed(&mut self, config: &Config, signal: Signal, now: Time) {
        let constants = self.constants(config);
        self.ignore = self.ignore.saturating_sub(signal.bytes);
        if let Some(rtt) = signal.rtt {
            self.queueing(rtt, signal.is_full);
        }
        // The queue that trims is about a bandwidth-delay product long.
        self.average(self.base_rtt.ps() as f64);
        self.was_trimmed = true;
        if !self.adapt_quickly(&constants, true, true, Duration::ZERO, signal.in_flight, now) {
            self.window -= f64::from(signal.bytes);
            self.bound(constants.mtu);
        }
    }

    pub fn lost(&mut self, config: &Config, bytes: u32) {
        self.window -= f64::from(bytes);
        self.bound(config.mtu.into());
    }

    /// Adapts quickly if enough was lost or delayed. Returns whether that changed the window, or an answer is to be
    /// ignored.
    fn adapt_quickly(
        &mut self,
        constants: &Constants,
        is_loss: bool,
        is_marked: bool,
        delay: Duration,
        in_flight: u32,
        now: Time,
    ) -> bool {
        let Constants { mtu, target, .. } = *constants;
        let mut is_done = self.ignore > 0 && is_marked;
        if !is_done && self.period_ends.is_none_or(|end| now > end) {
            let is_bad = is_loss || self.was_trimmed || delay.ps() > QUICK_DELAY * target.ps();
            if self.period_ends.is_some()
                && is_bad
                && f64::from(self.achieved) < self.largest(mtu) / QUICK_SHARE
            {
                self.window = self.window.min(f64::from(self.achieved));
                self.bound(mtu);
                self.ignore = in_flight;
                self.was_trimmed = false;
                is_done = true;
            }
            self.achieved = 0;
            self.period_ends = Some(now + self.base_rtt + target);
        }
        if is_done {
            (self.increase, self.arrived) = (0.0, 0);
        }
        is_done
    }
}

#[cfg(test)]
mod tests {
    use weft_units::Bytes;

    use super::*;

    fn nscc() -> Nscc {
        Nscc::new(&Config::default(), Rate::from_gbps(100))
    }

    /// Answers to `packets` packets, one every 0.5 us from `from` on.
    fn answers(nscc: &mut Nscc, from: Duration, packets: u64, is_marked: bool, rtt: u64) -> Time {
        let mut now = Time::ZERO + from;
        for _ in 0..packets {
            now += Duration::from_ns(500);
            let rtt = Some(Duration::from_us(rtt));
            nscc.acknowledged(
                &Config::default(),
                Signal { bytes: 4096, is_marked, rtt, is_full: true, in_flight: 40_000 },
                now,
            );
        }
        now
    }

    #[test]
    fn the_window_starts_at_its_largest_value_or_at_less() {
        // 54 packets are 221 184 bytes, 55 are 225 280.
        let cases =
            [(None, 225_000), (Some(1), 4096), (Some(50), 204_800), (Some(54), 221_184), (Some(55), 225_000)];
        for (initial_window, bytes) in cases {
            let config = Config { initial_window, ..Config::default() };
            assert_eq!(Nscc::new(&config, Rate::from_gbps(100)).window(), bytes, "{initial_window:?}");
        }
    }

    #[test]
    fn the_initial_window_does_not_bound_later_ones() {
        let config = Config { initial_window: Some(1), ..Config::default() };
        let mut nscc = Nscc::new(&config, Rate::from_gbps(100));
        answers(&mut nscc, Duration::ZERO, 10_000, false, 12);
        assert_eq!(nscc.window(), 225_000);
    }

    #[test]
    fn the_window_follows_marks_and_delay() {
        // From 100 kB: marked or not, round-trip time, then the range of the window after 40 packets.
        let cases = [
            ("idle", false, 12, 120_000..=225_000),
            ("below the target", false, 16, 101_000..=150_000),
            ("above the target, not marked", false, 30, 101_000..=150_000),
            ("marked below the target", true, 16, 100_000..=103_000),
            ("marked above the target", true, 60, 20_000..=70_000),
        ];
        for (name, is_marked, rtt, range) in cases {
            let mut nscc = nscc();
            nscc.window = 100_000.0;
            nscc.delay = if is_marked && rtt > 21 { 40e6 } else { 0.0 };
            answers(&mut nscc, Duration::ZERO, 40, is_marked, rtt);
            assert!(range.contains(&nscc.window()), "{name}: {}", nscc.window());
        }
    }

    #[test]
    fn a_short_packet_does_not_lower_the_base_round_trip_of_full_ones() {
        let mut nscc = nscc();
        let signal =
            |rtt, is_full| Signal { bytes: 64, is_marked: false, rtt: Some(rtt), is_full, in_flight: 0 };
        let us = Duration::from_us;
        for (rtt, is_full, base) in [(3, false, 12), (9, true, 9), (11, true, 9), (2, false, 9)] {
            nscc.acknowledged(&Config::default(), signal(us(rtt), is_full), Time::ZERO + us(20));
            assert_eq!(nscc.base_rtt, us(base), "after {rtt} us");
        }
    }

    #[test]
    fn a_third_of_a_small_window_ends_with_a_request() {
        // 225 000 bytes at 100 Gbps; at 10 Gbps a third is 7 500 bytes, of four packets of 4 096 bytes that are answered together.
        let thirds = |gbps, config: &Config| -> Vec<u32> {
            let window = Window::new(config, Rate::from_gbps(gbps));
            (0..6).filter(|number| window.is_third(config, *number)).collect()
        };
        assert_eq!(thirds(100, &Config::default()), [0; 0]);
        assert_eq!(thirds(10, &Config::default()), [0, 1, 2, 3, 4, 5]);
        assert_eq!(thirds(10, &Config { mtu: 2500, ..Config::default() }), [2, 5]);
        assert_eq!(thirds(10, &Config { answer_requests: false, ..Config::default() }), [0; 0]);
        assert_eq!(thirds(10, &Config { ack_bytes: Bytes(4096), ..Config::default() }), [0; 0]);
        assert_eq!(thirds(10, &Config { congestion: Congestion::Fixed, ..Config::default() }), [0; 0]);
    }

    #[test]
    fn a_trimmed_packet_takes_its_bytes_from_the_window() {
        let mut nscc = nscc();
        let signal = Signal { bytes: 4096, is_marked: true, rtt: None, is_full: true, in_flight: 200_000 };
        nscc.trimmed(&Config::default(), signal, Time::ZERO + Duration::from_us(20));
        assert_eq!(nscc.window(), 225_000 - 4096);
        nscc.lost(&Config::default(), 4096);
        assert_eq!(nscc.window(), 225_000 - 2 * 4096);
    }

    #[test]
    fn an_incast_makes_the_window_what_arrived_in_a_period() {
        let mut nscc = nscc();
        let signal = Signal { bytes: 4096, is_marked: true, rtt: None, is_full: true, in_flight: 200_000 };
        nscc.trimmed(&Config::default(), signal, Time::ZERO + Duration::from_us(20));
        nscc.achieved = 8192;
        nscc.trimmed(&Config::default(), signal, Time::ZERO + Duration::from_us(50));
        assert_eq!(nscc.window(), 8192);
        // Packets in flight at that time are ignored.
        nscc.trimmed(&Config::default(), signal, Time::ZERO + Duration::from_us(51));
        assert_eq!(nscc.window(), 8192);
    }

    #[test]
    fn the_window_stays_between_a_packet_and_its_largest() {
        let mut nscc = nscc();
        for at in 0..1000 {
            let signal = Signal { bytes: 4096, is_marked: true, rtt: None, is_full: true, in_flight: 0 };
            nscc.trimmed(&Config::default(), signal, Time::ZERO + Duration::from_us(at));
        }
        assert_eq!(nscc.window(), 4096);
        answers(&mut nscc, Duration::from_us(1000), 10_000, false, 12);
        assert_eq!(nscc.window(), 225_000);
    }
}
