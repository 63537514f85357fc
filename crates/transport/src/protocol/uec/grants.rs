//! [`Grants`]: the credit that a receiver has granted its sender, as the `UecSink` of uet-htsim counts it.

use super::config::Config;
use super::credit::QUANTUM;

/// The credit of one connection, in [`QUANTUM`]s from its start, modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grants {
    /// Up to where the sender wants credit.
    wanted: u32,
    granted: u32,
    /// Whether the sender waits for a credit, even for one that it has been granted before.
    is_owed: bool,
}

impl Grants {
    /// A packet says that its sender wants credit up to `target`.
    #[inline]
    pub fn want(&mut self, target: u32) {
        if target.wrapping_sub(self.wanted) < 1 << 31 {
            self.wanted = target;
        }
    }

    /// A packet of `full` bytes at most is to be sent again: its sender may have no other that could say so.
    pub fn want_again(&mut self, full: u16) {
        let again = u32::from(full).div_ceil(QUANTUM);
        self.wanted = self.granted.wrapping_add(self.open()).wrapping_add(again);
    }

    /// The sender asks for credit.
    pub fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Whether the sender waits for credit.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_owed || self.open() > 0
    }

    /// Whether the sender may have credit that it has not asked for: so far, less than `most` bytes of that.
    pub fn may_idle(&self, most: u64) -> bool {
        let ahead = self.granted.wrapping_sub(self.wanted);
        ahead < 1 << 31 && u64::from(ahead) * u64::from(QUANTUM) < most
    }

    /// Quanta that the sender wants and has not been granted.
    fn open(&self) -> u32 {
        let open = self.wanted.wrapping_sub(self.granted);
        if open < 1 << 31 { open } else { 0 }
    }

    /// Grants some of what the sender wants or, if it does not wait, more: how many quanta, and how many in all.
    pub fn grant(&mut self, config: &Config) -> (u32, u32) {
        let most = (config.credit_bytes.0 / u64::from(QUANTUM)) as u32;
        let more = if self.is_due() { self.open().min(most) } else { most };
        self.granted = self.granted.wrapping_add(more);
        self.is_owed = false;
        (more, self.granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_granted_in_parts_up_to_what_is_wanted() {
        let (config, mut grants) = (Config::default(), Grants::default());
        assert!(!grants.is_due());
        // 16 KiB are 64 quanta. A target that comes late changes nothing.
        [150, 20].iter().for_each(|target| grants.want(*target));
        let granted: Vec<_> = std::iter::from_fn(|| grants.is_due().then(|| grants.grant(&config))).collect();
        assert_eq!(granted, [(64, 64), (64, 128), (22, 150)]);
    }

    #[test]
    fn a_trimmed_packet_and_a_request_are_credited() {
        let (config, mut grants) = (Config::default(), Grants::default());
        grants.want_again(4160);
        assert_eq!((grants.is_due(), grants.grant(&config), grants.is_due()), (true, (17, 17), false));
        grants.owe();
        assert_eq!((grants.is_due(), grants.grant(&config), grants.is_due()), (true, (0, 17), false));
    }

    #[test]
    fn a_sender_that_does_not_wait_is_granted_some_in_advance() {
        let (config, mut grants) = (Config::default(), Grants::default());
        grants.want(10);
        assert_eq!(grants.grant(&config), (10, 10));
        // 40 000 bytes are 156 quanta and some more.
        let granted: Vec<_> =
            std::iter::from_fn(|| grants.may_idle(40_000).then(|| grants.grant(&config))).collect();
        assert_eq!(granted, [(64, 74), (64, 138), (64, 202)]);
        grants.want(190);
        assert_eq!((grants.is_due(), grants.may_idle(3072), grants.may_idle(3073)), (false, false, true));
        grants.want(210);
        assert_eq!((grants.is_due(), grants.grant(&config)), (true, (8, 210)));
    }

    #[test]
    fn numbers_may_start_again() {
        let (config, mut grants) = (Config::default(), Grants::default());
        for target in [1 << 30, 1 << 31, 3 << 30, u32::MAX] {
            grants.want(target);
            grants.granted = target;
        }
        grants.want(9);
        assert_eq!((grants.grant(&config), grants.is_due()), ((10, 9), false));
    }
}
