//! [`Credit`]: the bytes that a sender may send by receiver-credit congestion control (RCCC; Ultra Ethernet 1.0), as the
//! `UecSrc` of uet-htsim counts them.
//!
//! Credit counts bytes of IP packets. Both ends number it in [`QUANTUM`]s from the start of the connection, modulo 2^32, so a
//! credit that is lost is part of the next one. A sender starts with a window without credit. The first answer ends that: from
//! then on, it sends for credit only, and each packet says up to which number it wants some.

use weft_units::{Rate, Time};

use super::config::Config;

/// Bytes in a unit of credit.
pub(crate) const QUANTUM: u32 = 256;

/// The credit of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Credit {
    /// Bytes; below 0 if the last packet took more than there were.
    left: i64,
    /// The most bytes.
    largest: u64,
    /// When the destination was last heard, or the sender last woke to see that it has not been.
    heard: Time,
    /// Quanta that the receiver has granted.
    granted: u32,
    /// How often it woke since the last credit.
    wakes: u32,
    /// Whether the destination has not been heard.
    is_unsolicited: bool,
    /// Whether a request is to be sent.
    is_asking: bool,
}

impl Credit {
    /// The credit of a host whose link has `rate`.
    pub fn new(config: &Config, rate: Rate) -> Self {
        let full = u64::from(config.ip_bytes(config.mtu));
        let largest = config.most_credit(rate);
        let first = config.initial_window.map_or(u64::MAX, |packets| u64::from(packets) * full);
        Self {
            left: first.min(largest) as i64,
            largest,
            heard: Time::ZERO,
            granted: 0,
            wakes: 0,
            is_unsolicited: true,
            is_asking: false,
        }
    }

    /// Bytes that may be sent.
    pub fn bytes(&self) -> u64 {
        self.left.max(0) as u64
    }

    /// The most bytes.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Any credit allows a packet.
    #[inline]
    pub fn allows(&self) -> bool {
        self.left > 0
    }

    /// A packet of so many bytes is sent.
    pub fn spend(&mut self, bytes: u16) {
        self.left -= i64::from(bytes);
    }

    /// The destination was heard, which ends the window without credit.
    pub fn heard(&mut self, now: Time) {
        self.heard = now;
        if self.is_unsolicited {
            self.is_unsolicited = false;
            self.left = self.left.min(0);
        }
    }

    /// The receiver has granted so many quanta in all.
    pub fn grant(&mut self, granted: u32, now: Time) {
        self.heard(now);
        let more = granted.wrapping_sub(self.granted);
        if (1..1 << 31).contains(&more) {
            self.left = (self.left + i64::from(more) * i64::from(QUANTUM)).min(self.largest as i64);
            (self.granted, self.wakes) = (granted, 0);
        }
        self.is_asking = false;
    }

    /// Up to how many quanta the sender wants, with `backlog` bytes to send in packets of at most `full` bytes.
    pub fn target(&self, backlog: u64, full: u16) -> u32 {
        let missing = backlog.min(self.largest) as i64 - self.left;
        // Without it, a flow somewhat longer than its first window would wait for its last packets.
        let least = if self.is_unsolicited { backlog.min(full.into()) as i64 } else { 0 };
        let quanta = (missing.max(least) as u64).div_ceil(u64::from(QUANTUM));
        self.granted.wrapping_add(quanta as u32)
    }

    /// The sender asks for credit unless it has some.
    pub fn ask(&mut self) {
        self.is_asking |= !self.allows();
    }

    /// Whether a request is to be sent.
    #[inline]
    pub fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// A request is sent.
    pub fn asked(&mut self) {
        self.is_asking = false;
    }

    /// When a sender that has nothing in flight wakes.
    pub fn wakes_at(&self, config: &Config) -> Time {
        self.heard + config.rto()
    }

    /// It wakes, and asks less and less often: after one timeout without credit, two, four and so on.
    pub fn wake(&mut self, now: Time) {
        self.heard = now;
        self.wakes = self.wakes.saturating_add(1);
        if self.wakes.is_power_of_two() {
            self.ask();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::Duration;

    fn credit(initial_window: Option<u32>) -> Credit {
        let config = Config { initial_window, ..Config::default() };
        Credit::new(&config, Rate::from_gbps(100))
    }

    #[test]
    fn the_first_answer_ends_the_window_without_credit() {
        // 1.5 times 100 Gbps times 12 us.
        assert_eq!(credit(None).bytes(), 225_000);
        let mut credit = credit(Some(8));
        assert_eq!(credit.bytes(), 8 * 4160);
        (0..3).for_each(|_| credit.spend(4160));
        credit.heard(Time::ZERO);
        assert!(!credit.allows());
        credit.grant(65, Time::ZERO);
        assert_eq!(credit.bytes(), 65 * 256);
        credit.heard(Time::ZERO);
        assert_eq!(credit.bytes(), 65 * 256, "granted");
    }

    #[test]
    fn any_credit_allows_a_packet_and_the_next_credit_pays_for_it() {
        let mut credit = credit(Some(1));
        credit.heard(Time::ZERO);
        credit.grant(1, Time::ZERO);
        assert!(credit.allows());
        credit.spend(4160);
        credit.grant(1 + 15, Time::ZERO);
        assert_eq!((credit.allows(), credit.bytes()), (false, 0), "256 - 4160 + 15 * 256 = -64");
        credit.grant(1 + 15 + 2, Time::ZERO);
        assert_eq!(credit.bytes(), 512 - 64);
    }

    #[test]
    fn credits_that_are_late_lost_or_too_large_do_no_harm() {
        let mut credit = credit(None);
        credit.heard(Time::ZERO);
        // The credit of 20 quanta comes after that of 30, and again.
        [10, 30, 20, 30].iter().for_each(|granted| credit.grant(*granted, Time::ZERO));
        assert_eq!(credit.bytes(), 30 * 256);
        credit.grant(u32::MAX, Time::ZERO);
        assert_eq!(credit.bytes(), 30 * 256, "before 30");
        credit.grant(1 << 30, Time::ZERO);
        assert_eq!(credit.bytes(), 225_000, "the most that a sender keeps");
        // Numbers start again after 2^32.
        credit.spend(60_000);
        let granted = [(1_u32 << 30) * 2, (1 << 30) * 3, 100];
        granted.iter().for_each(|granted| credit.grant(*granted, Time::ZERO));
        assert_eq!((credit.bytes(), credit.target(1 << 40, 4160)), (225_000, 100));
    }

    #[test]
    fn a_sender_wants_credit_for_its_backlog_and_at_most_a_window() {
        let mut credit = credit(None);
        credit.spend(4160);
        // Without credit: as much as it has sent.
        assert_eq!(credit.target(1 << 40, 4160), 17, "4160 bytes");
        credit.spend(4160);
        assert_eq!(credit.target(1 << 40, 4160), 33, "8320 bytes");
        // At least a packet of what is left.
        assert_eq!([0, 100, 4160, 9000].map(|backlog| credit.target(backlog, 4160)), [0, 1, 17, 17]);
        credit.grant(40, Time::ZERO);
        let wanted = [0, 256, 10_240, 10_241, 1 << 40].map(|backlog| credit.target(backlog, 4160));
        assert_eq!(wanted, [40, 40, 40, 41, 879]);
    }

    #[test]
    fn a_sender_without_credit_asks_less_and_less_often() {
        let (config, mut credit) = (Config::default(), credit(Some(1)));
        credit.ask();
        assert!(!credit.is_asking(), "it has some");
        credit.heard(Time::ZERO + Duration::from_us(10));
        credit.spend(1);
        let asked: Vec<_> = (1..20)
            .filter(|_| {
                credit.wake(credit.wakes_at(&config));
                let asks = credit.is_asking();
                credit.asked();
                asks
            })
            .collect();
        assert_eq!(asked, [1, 2, 4, 8, 16]);
        let now = Time::ZERO + Duration::from_us(10 + 19 * 100);
        assert_eq!(credit.wakes_at(&config), now + config.rto());
        credit.ask();
        credit.grant(1, now);
        assert!(!credit.is_asking());
    }
}
