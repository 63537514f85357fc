//! [`Reduction`]: proportional rate reduction: the window shrinks as data is delivered (RFC 6937).

use crate::config::Config;

/// State of one reduction, in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduction {
    /// Delivered since it began (prr_delivered).
    delivered: u32,
    /// Sent since it began (prr_out).
    out: u32,
    /// In flight when it began (RecoverFS).
    flight: u32,
}

impl Reduction {
    pub(super) fn start(&mut self, flight: u32) {
        *self = Self { delivered: 0, out: 0, flight };
    }

    #[inline]
    pub(crate) fn sent(&mut self, bytes: u32) {
        self.out = self.out.wrapping_add(bytes);
    }

    /// Takes back `bytes` that were counted as sent but were not.
    pub(crate) fn unsent(&mut self, bytes: u32) {
        self.out = self.out.wrapping_sub(bytes);
    }

    /// The window by RFC 6937, section 3, with the slow start reduction bound for a `good` ACK: it advances and reports
    /// no loss.
    pub(super) fn standard(
        &mut self,
        cfg: &Config,
        ssthresh: u32,
        delivered: u32,
        pipe: u32,
        good: bool,
    ) -> u32 {
        let mss = cfg.segment();
        self.delivered = self.delivered.saturating_add(delivered);
        let ahead = self.delivered.saturating_sub(self.out);
        let send = if pipe > ssthresh {
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            let target = share.div_ceil(u64::from(self.flight.max(1)));
            target.saturating_sub(u64::from(self.out)).min(u64::from(u32::MAX)) as u32
        } else {
            let limit = ahead.max(delivered).saturating_add(if good { mss } else { 0 });
            limit.min(ssthresh - pipe)
        };
        pipe.saturating_add(send)
    }

    /// The window as computed by ns-3.37: the product and the differences wrap at 2^32 as unsigned
    /// numbers, so that a window of more than about 65 kB sends far less than the RFC allows.
    pub(super) fn ns3(&mut self, cfg: &Config, ssthresh: u32, delivered: u32, pipe: u32, again: bool) -> u32 {
        let mss = cfg.segment();
        self.delivered = self.delivered.wrapping_add(delivered);
        let send = if pipe > ssthresh {
            let share = f64::from(self.delivered.wrapping_mul(ssthresh)) / f64::from(self.flight.max(1));
            (share.ceil() - f64::from(self.out)) as i32
        } else {
            let room = ssthresh.wrapping_sub(pipe) as i32;
            let limit = if again {
                self.delivered.wrapping_sub(self.out).max(delivered).wrapping_add(mss) as i32
            } else {
                delivered as i32
            };
            limit.min(room)
        };
        let send = send.max(if self.out > 0 { 0 } else { mss as i32 });
        pipe.wrapping_add(send as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_shrinks_in_proportion_to_what_is_delivered() {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let mut reduction = Reduction::default();
        reduction.start(20_000);
        let mut sent = 0;
        let mut pipe = 19_000;
        for _ in 0..10 {
            let window = reduction.standard(&cfg, 10_000, 1000, pipe, false);
            while pipe + 1000 <= window {
                reduction.sent(1000);
                pipe += 1000;
                sent += 1;
            }
            pipe -= 1000;
        }
        assert_eq!(sent, 5, "half of what was delivered");
    }

    #[test]
    fn below_the_threshold_a_good_ack_makes_up_for_losses() {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let mut reduction = Reduction::default();
        reduction.start(20_000);
        reduction.sent(1000);
        let mut window = |good| reduction.standard(&cfg, 10_000, 1000, 4000, good);
        assert_eq!(window(false), 5000, "conservation of packets");
        assert_eq!(window(true), 6000, "one more each ACK");
    }

    #[test]
    fn the_product_of_ns3_wraps() {
        let cfg = Config { mss: 1000, ..Config::profile("ns3-3.37").unwrap() };
        let mut reduction = Reduction::default();
        reduction.start(200_000);
        reduction.sent(1000);
        let mut window = |delivered| reduction.ns3(&cfg, 100_000, delivered, 150_000, false);
        assert_eq!(window(42_000), 150_000 + 21_000 - 1000);
        assert_eq!(window(1000), 150_000, "43 kB * 100 kB > 2^32");
    }
}
