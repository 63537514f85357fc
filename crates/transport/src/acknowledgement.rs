//! The report of received data in a segment: the ACK, its timestamp and its SACK blocks.

use weft_units::Time;

use crate::config::{Config, LossRecovery};
use crate::receiver::{Receiver, fact};
use crate::segment::{Flags, Segment};
use crate::timestamp;

impl Receiver {
    /// Writes the ACK and the timestamps into `out`, which is sent now. No other ACK is due then.
    #[inline]
    pub(crate) fn write_ack(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        let mut flags = Flags::ACK;
        if cfg.timestamps {
            flags |= Flags::TS;
            out.ts_val = timestamp::clock(cfg, now);
            out.ts_ecr = self.ts_recent;
        }
        if self.is(fact::ECHO) {
            flags |= Flags::ECE;
        }
        out.flags = flags;
        out.ack = self.rcv_nxt;
        out.window = self.rcv_wnd;
        self.todo = 0;
        self.delayed = 0;
        self.ack_timer_at = Time::MAX;
        self.last_ack_sent = self.rcv_nxt;
    }

    /// Adds SACK blocks for out-of-order data to the ACK in `out`, which carries no data.
    #[inline]
    pub(crate) fn write_sacks(&mut self, cfg: &Config, out: &mut Segment) {
        self.quick = self.quick.saturating_sub(1);
        if cfg.sack && self.is(fact::HOLES | fact::DUPLICATE) {
            self.report(cfg, out);
        }
    }

    /// RFC 2018, section 4, with a duplicate first (RFC 2883).
    #[cold]
    fn report(&mut self, cfg: &Config, out: &mut Segment) {
        let most = if cfg.timestamps { 3 } else { 4 };
        let mut count = 0;
        let is_repeated = self.is(fact::DUPLICATE);
        self.clear(fact::DUPLICATE);
        if let Some(held) = &self.held {
            if is_repeated {
                out.sacks[0] = held.duplicate;
                count = 1;
            }
            for &block in held.blocks().iter().take(most - count) {
                out.sacks[count] = block;
                count += 1;
            }
        }
        if count > 0 {
            out.sack_count = count as u8;
            out.options = sack_options(cfg, count as u8);
        }
    }
}

/// Option bytes of an ACK with `count` SACK blocks: Linux aligns timestamps and blocks, ns-3 only the sum.
pub(crate) fn sack_options(cfg: &Config, count: u8) -> u8 {
    if cfg.loss_recovery == LossRecovery::Standard {
        cfg.plain_options() + 4 + 8 * count
    } else {
        let bytes = if cfg.timestamps { 10 } else { 0 } + 2 + 8 * count;
        (bytes + 3) & !3
    }
}
