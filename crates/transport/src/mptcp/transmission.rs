//! Transmission: assigns data to subflows that can send it now, and adds the MPTCP option to their endpoints' segments.

use weft_units::Time;
use weft_wire::mptcp::Version;

use super::connection::{Connection, Mode};
use super::scheduler::Scheduler;
use super::sender::Next;
use super::subflow::Stage;
use super::{Config, Options};
use crate::acknowledgement::sack_options;
use crate::config;
use crate::segment::{Flags, Segment};
use crate::transmission::SYN_WINDOW;

/// Maximum bytes of TCP options in a segment (RFC 9293, section 3.1).
const MOST_OPTIONS: u8 = 40;

impl Connection {
    /// Writes the next segment to send and its options, and returns its subflow; `None` if there is none.
    /// Only the first `sack_count` of `out.sacks` are written.
    #[inline]
    pub fn poll_transmit(
        &mut self,
        cfg: &Config,
        now: Time,
        out: &mut Segment,
        options: &mut Options,
    ) -> Option<usize> {
        if cfg.plain.small_queues {
            self.wake_held(now);
        }
        loop {
            if self.due {
                self.due = false;
                self.schedule(cfg, now);
            }
            while let free = self.ready & !self.blocked
                && free != 0
            {
                let number = free.trailing_zeros() as usize;
                let plain = self.mode == Mode::Plain;
                let endpoint = &mut self.subflows[number].endpoint;
                let tcp: &config::Config = if plain { &cfg.plain } else { &cfg.subflow };
                if endpoint.poll_transmit(tcp, now, out) {
                    *options = if plain { Options::None } else { self.label(cfg, now, number, out) };
                    return Some(number);
                }
                self.deadlines[number] = self.subflows[number].endpoint.next_timeout();
                self.ready &= !(1 << number);
            }
            if !self.schedule_data_fin() || !self.may_send() {
                return None;
            }
        }
    }

    /// Marks subflows as ready whose data no longer waits for the interface.
    fn wake_held(&mut self, now: Time) {
        for (number, subflow) in self.subflows.iter().enumerate() {
            if subflow.endpoint.held_until() <= now {
                self.ready |= 1 << number;
            }
        }
    }

    /// Assigns data to subflows that can send it now.
    fn schedule(&mut self, cfg: &Config, now: Time) {
        if self.mode != Mode::Multipath {
            return;
        }
        if self.outgoing.fin_is_due() {
            if !self.outgoing.fin_sent && self.subflows.iter().all(|subflow| subflow.endpoint.tx.unsent == 0)
            {
                self.send_data_fin();
            }
        } else if self.outgoing.mapped < self.outgoing.written {
            self.restart_idle(cfg, now);
        }
        self.give(cfg, now);
    }

    fn restart_idle(&mut self, cfg: &Config, now: Time) {
        for subflow in self.subflows.iter_mut().filter(|subflow| !subflow.is_outstanding()) {
            subflow.endpoint.tx.restart_after_idle(&cfg.subflow, now);
        }
    }

    fn give(&mut self, cfg: &Config, now: Time) {
        loop {
            match self.outgoing.next(cfg) {
                Next::Piece(piece) => {
                    let Some(chosen) = self.scheduler.choose(cfg, &self.subflows, piece.len) else { return };
                    self.outgoing.give(piece);
                    self.stats.reinjected += if piece.again { u64::from(piece.len) } else { 0 };
                    self.subflows[chosen].give(&cfg.subflow, piece.data, piece.len);
                    self.ready |= 1 << chosen;
                    if self.stalled_at == Time::MAX {
                        self.arm_stall(now);
                    }
                }
                Next::Closed => return self.await_window(cfg, now),
                Next::Nothing => return,
            }
        }
    }

    /// The other side's window is closed. With no data outstanding, only a probe can detect that it has opened.
    #[cold]
    fn await_window(&mut self, cfg: &Config, now: Time) {
        if self.outgoing.is_idle()
            && let Some(best) = Scheduler::best(&self.subflows)
        {
            self.subflows[best].endpoint.tx.window_is_full(&cfg.subflow, now);
            self.ready |= 1 << best;
        }
    }

    /// Schedules a DATA_FIN that was not sent with data; returns whether a subflow will send it.
    fn schedule_data_fin(&mut self) -> bool {
        let due = self.mode == Mode::Multipath && self.outgoing.fin_is_due() && !self.outgoing.fin_sent;
        due && self.send_data_fin()
    }

    /// Makes a usable subflow, if there is one, send a DATA_FIN without data.
    fn send_data_fin(&mut self) -> bool {
        let Some(best) = Scheduler::best(&self.subflows) else { return false };
        self.subflows[best].tell_fin();
        self.ready |= 1 << best;
        true
    }

    /// Returns the option of a segment that an endpoint has written, and makes room for it.
    #[inline]
    fn label(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        out.window = self.incoming.window;
        let subflow = &self.subflows[number];
        let usual =
            subflow.stage == Stage::Confirmed && self.confirmed && !out.flags.any(Flags::SYN | Flags::RST);
        let options = if usual {
            self.dss_for(cfg, now, number, out)
        } else {
            self.unusual_option(cfg, now, number, out)
        };
        fit(cfg, out, options.bytes(cfg, out));
        options
    }

    #[cold]
    fn unusual_option(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        if out.flags.has(Flags::RST) {
            return Options::None;
        }
        if out.flags.has(Flags::SYN) {
            out.window = out.window.min(SYN_WINDOW);
            return self.syn_option(cfg, number);
        }
        let subflow = &mut self.subflows[number];
        match subflow.stage {
            // The endpoint answers an unexpected segment before the third ACK: the SYN+ACK's option is harmless.
            Stage::Opening => self.syn_option(cfg, number),
            Stage::Unconfirmed => {
                subflow.await_confirmation(&cfg.subflow, now);
                self.third_ack_option(cfg, number)
            }
            Stage::Confirmed if out.len == 0 && subflow.answers_syn => {
                subflow.answers_syn = false;
                self.third_ack_option(cfg, number)
            }
            // Version 1 repeats the keys on the first data, in case the third ACK is lost.
            Stage::Confirmed if out.len > 0 && out.seq == subflow.first && cfg.version() == Version::V1 => {
                self.third_ack_option(cfg, number)
            }
            Stage::Confirmed => self.dss_for(cfg, now, number, out),
        }
    }

    /// The DSS of a segment: the mapping of its payload, and whether the data ends there.
    #[inline]
    fn dss_for(&mut self, cfg: &Config, now: Time, number: usize, out: &mut Segment) -> Options {
        let ends_at = self.outgoing.written;
        if out.len == 0 {
            let tells = std::mem::take(&mut self.subflows[number].tells_fin) && self.outgoing.fin_is_due();
            if !tells {
                return self.dss(None, false);
            }
            self.fin_leaves(cfg, now);
            return self.dss(Some(ends_at), true);
        }
        let Some((data, left)) = self.subflows[number].sent.find(out.seq) else {
            debug_assert!(false, "an endpoint sent data that was not assigned to it");
            return self.dss(None, false);
        };
        if left < u32::from(out.len) {
            // A segment has one mapping; the rest is sent later.
            self.subflows[number].endpoint.cut(&cfg.subflow, out, left as u16);
        }
        let last = self.outgoing.finished && data + u64::from(out.len) == ends_at;
        if last {
            self.fin_leaves(cfg, now);
        }
        self.dss(Some(data), last)
    }

    fn fin_leaves(&mut self, cfg: &Config, now: Time) {
        self.outgoing.fin_sent = true;
        if self.outgoing.fin_timer == Time::MAX && !self.outgoing.fin_acked {
            self.arm_fin(cfg, now);
        }
    }
}

/// Makes room for an option of `bytes` bytes by removing SACK blocks, as in Linux.
#[inline]
fn fit(cfg: &Config, out: &mut Segment, bytes: u8) {
    while out.options + bytes > MOST_OPTIONS && out.sack_count > 0 {
        out.sack_count -= 1;
        out.options = match out.sack_count {
            0 => cfg.subflow.plain_options(),
            count => sack_options(&cfg.subflow, count),
        };
    }
    out.options += bytes;
}
