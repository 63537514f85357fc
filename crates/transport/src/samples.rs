//! Round-trip samples of the sender (RFC 6298).

use weft_units::Time;

use crate::config::{Config, LossRecovery, RttSource};
use crate::segment::{Flags, Segment};
use crate::sender::{Sender, fact};
use crate::seq::{at_or_before, before};
use crate::timestamp;

impl Sender {
    /// Times the round trip of the segment that ends at `end` and leaves now.
    pub(crate) fn time_segment(&mut self, end: u32, now: Time) {
        self.timed_seq = end;
        self.timed_at = now;
        self.set(fact::TIMED);
    }

    /// A round-trip sample without RACK, in picoseconds; 0 if there is none.
    #[inline]
    pub(crate) fn sample(&mut self, cfg: &Config, now: Time, seg: &Segment, ack: u32) -> u64 {
        let sample = match cfg.rtt_source {
            RttSource::Timestamps => {
                if self.is(fact::HOLD_RTT) {
                    if at_or_before(ack, self.hold) && cfg.loss_recovery != LossRecovery::Standard {
                        return 0;
                    }
                    self.clear(fact::HOLD_RTT);
                }
                if !seg.flags.has(Flags::TS) {
                    return 0;
                }
                timestamp::elapsed(cfg, now, seg.ts_ecr)
            }
            RttSource::SendTimes => {
                if self.is(fact::TIMED) && at_or_before(self.timed_seq, ack) {
                    self.clear(fact::TIMED);
                    now.saturating_since(self.timed_at).ps()
                } else if self.backoff > 0 && seg.flags.has(Flags::TS) {
                    // The acknowledged data was retransmitted.
                    timestamp::elapsed(cfg, now, seg.ts_ecr)
                } else {
                    0
                }
            }
        };
        if sample > 0 {
            self.measured(cfg, sample);
        }
        sample
    }

    /// Takes a round-trip sample, which ends the backoff (RFC 6298, section 5.7).
    #[inline]
    pub(crate) fn measured(&mut self, cfg: &Config, sample: u64) {
        let new_round = before(self.rtt_round, self.snd_una);
        if new_round {
            self.rtt_round = self.snd_nxt;
        }
        self.rtt.sample(cfg, sample, new_round);
        self.backoff = 0;
    }

    /// Takes the first sample from the handshake. With timestamps a retransmitted SYN counts, too: the other side echoes
    /// the one that it answers. ns-3 echoes the first one again after a lost SYN+ACK, so it measures a round trip of
    /// seconds.
    pub(crate) fn first_sample(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let sample = if cfg.loss_recovery == LossRecovery::Ns3v23 {
            // ns-3.23 takes no sample from the handshake.
            0
        } else if cfg.rtt_source == RttSource::Timestamps && seg.flags.has(Flags::TS) {
            timestamp::elapsed(cfg, now, seg.ts_ecr)
        } else if self.is(fact::TIMED) {
            now.saturating_since(self.timed_at).ps()
        } else if cfg.loss_recovery == LossRecovery::Standard && seg.flags.has(Flags::TS) {
            timestamp::elapsed(cfg, now, seg.ts_ecr)
        } else {
            0
        };
        if sample > 0 {
            self.measured(cfg, sample);
        } else if cfg.loss_recovery == LossRecovery::Standard && self.retries > 0 {
            self.rtt.stays_unknown(cfg);
        }
        self.clear(fact::TIMED);
    }
}
