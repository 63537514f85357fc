//! How a [`Sender`] finds lost packets before their timeout: a packet is lost once enough packets that were sent later have
//! arrived, as in uet-htsim with `-sleek`.
//!
//! Only first transmissions are found, which are in order of number. The last packets of a flow, and those that are lost
//! again, wait for their timeout.

use std::cmp::Reverse;

use weft_units::Time;

use super::config::Config;
use super::entropy::Feedback;
use super::{Sender, State};

/// The least default of `loss_distance`, as in uet-htsim.
const LEAST: u64 = 5;

impl Sender {
    /// A packet in flight is lost: it is sent again before new ones.
    pub(super) fn lose(&mut self, config: &Config, number: u32, feedback: Feedback, now: Time) {
        let bytes = u32::from(self.size(config, number));
        let Some(sent) = self.sent(number) else { return };
        sent.state = State::Missing;
        let (entropy, asks) = (sent.entropy, sent.asks);
        self.land(bytes, asks);
        self.recovery.get_or_insert_default().missing.push(Reverse(number));
        self.window.lost(config, bytes);
        self.entropies.learn(entropy, feedback, now);
        if let Some(credit) = self.window.credit_mut() {
            credit.ask();
        }
    }

    /// Packets sent later that arrive before a packet counts as lost.
    fn distance(&self, config: &Config) -> u32 {
        let of_window = || {
            let packets = self.window.distance(config.mtu) / u64::from(config.mtu);
            packets.clamp(LEAST, u32::MAX.into()) as u32
        };
        config.loss_distance.unwrap_or_else(of_window)
    }

    /// Loses the first transmissions that enough later packets have overtaken.
    #[inline(never)]
    pub(super) fn find_lost(&mut self, config: &Config, now: Time) {
        if !self.arrivals.has_gap() {
            return;
        }
        self.first = self.first.max(self.cumulative);
        let distance = self.distance(config);
        // Those that have arrived from `first` on.
        let mut later = self.arrivals.count_from(self.first);
        while later >= distance
            && let Some(sent) = self.sent(self.first).copied()
        {
            match sent.state {
                State::Arrived => later -= 1,
                State::InFlight if sent.attempt == 0 => self.lose(config, self.first, Feedback::Trimmed, now),
                State::InFlight | State::Missing => {}
            }
            self.first += 1;
        }
    }
}
