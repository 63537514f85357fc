//! How a [`Sender`] spends its [`Credit`], and asks for more.

use weft_units::Time;

use super::Sender;
use super::config::Config;
use super::credit::Credit;
use super::receiver::{CreditUpdate, Data};

impl Sender {
    /// Bytes of the IP packets that are to be sent.
    fn backlog(&self, config: &Config) -> u64 {
        let full = u64::from(config.ip_bytes(config.mtu));
        let again = self.recovery.as_ref().map_or(0, |recovery| recovery.missing.len());
        let last = if self.next() < self.packets { u64::from(config.mtu - self.last) } else { 0 };
        (u64::from(self.packets - self.next()) + again as u64) * full - last
    }

    /// Whether a request for credit is to be sent.
    #[inline]
    pub(super) fn is_asking(&self) -> bool {
        self.window.credit().is_some_and(Credit::is_asking)
    }

    /// A request for credit.
    #[cold]
    pub(super) fn request(&mut self, config: &Config) -> Option<Data> {
        let target = self.window.target(config, self.backlog(config));
        self.window.credit_mut()?.asked();
        Some(Data { target, entropy: self.entropies.choose(), is_request: true, ..Data::default() })
    }

    /// Takes the credit for a packet of `bytes`; returns up to where the sender wants some.
    pub(super) fn spend(&mut self, config: &Config, bytes: u16) -> u32 {
        if let Some(credit) = self.window.credit_mut() {
            credit.spend(config.ip_bytes(bytes));
        }
        self.window.target(config, self.backlog(config))
    }

    /// When a sender wakes that has nothing in flight and no credit: a credit may have been lost.
    pub(super) fn wakes_at(&self, config: &Config) -> Time {
        let has_more = self.missing().is_some() || self.next() < self.packets;
        let waiting = self
            .window
            .credit()
            .filter(|credit| has_more && self.in_flight == 0 && !credit.allows() && !credit.is_asking());
        waiting.map_or(Time::MAX, |credit| credit.wakes_at(config))
    }

    /// Such a sender wakes.
    pub(super) fn wake(&mut self, now: Time) {
        if let Some(credit) = self.window.credit_mut() {
            credit.wake(now);
        }
    }

    /// Credit arrives.
    pub(super) fn credited(&mut self, update: &CreditUpdate, now: Time) {
        if let Some(credit) = self.window.credit_mut() {
            credit.grant(update.granted, now);
        }
    }
}
