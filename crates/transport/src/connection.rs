//! Segments in: RFC 9293, section 3.10.7, segment arrives.

use weft_units::Time;

use crate::config::{Config, LossRecovery};
use crate::endpoint::{Endpoint, State};
use crate::segment::{Flags, Segment};
use crate::sender::fact;
use crate::seq::{before, span};
use crate::todo;

impl Endpoint {
    /// Processes a segment from the other side. Never panics, whatever the segment contains; ignores segments
    /// that RFC 9293 and RFC 5961 require to be ignored.
    #[inline]
    pub fn on_segment(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let usual = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST | Flags::ACK).0 == Flags::ACK.0;
        if usual && self.state == State::Established {
            self.on_usual(cfg, now, seg);
        } else {
            self.on_unusual(cfg, now, seg);
        }
    }

    /// An ACK, with or without data, on an open connection.
    #[inline]
    fn on_usual(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let (rx, tx) = (&mut self.rx, &mut self.tx);
        if !rx.is_acceptable(seg) {
            rx.on_unacceptable(cfg, seg);
            return;
        }
        if seg.flags.has(Flags::TS) && !rx.check_timestamp(cfg, seg) {
            return;
        }
        let ahead = span(tx.snd_una, seg.ack);
        let flight = span(tx.snd_una, tx.snd_max);
        rx.take_timestamp(cfg, seg, ahead <= flight);
        if ahead <= flight {
            // A duplicate may be reported after everything was acknowledged.
            if ahead > 0 || flight > 0 || seg.window != tx.snd_wnd || seg.sack_count > 0 {
                tx.on_ack(cfg, now, seg, seg.ack);
            }
        } else if before(tx.snd_una, seg.ack) {
            // It acknowledges data that was never sent.
            rx.todo |= todo::ACK;
            return;
        }
        if seg.len > 0 {
            rx.on_ecn(cfg, seg);
            if rx.on_data(cfg, now, seg) {
                self.on_fin(cfg, now, seg);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        match self.state {
            // In ns-3 the listener silently absorbs segments of a closed connection.
            State::Closed if cfg.loss_recovery == LossRecovery::Ns3v37 => {}
            State::Closed => self.refuse(seg),
            State::Listen => self.on_listen(cfg, now, seg),
            State::SynSent => self.on_syn_sent(cfg, now, seg),
            _ => self.on_synchronised(cfg, now, seg),
        }
    }

    /// RFC 9293, section 3.10.7.4, for everything except plain ACKs in ESTABLISHED.
    fn on_synchronised(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        if cfg.loss_recovery == LossRecovery::Ns3v37 && self.is_past_caring(seg) {
            return;
        }
        if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && !seg.flags.has(Flags::RST) {
            self.on_syn_again(cfg, seg);
            return;
        }
        if seg.flags.has(Flags::SYN | Flags::ACK) && cfg.loss_recovery != LossRecovery::Standard {
            // ns-3 does not answer a repeated SYN+ACK: the next data completes the other side's handshake.
            if cfg.loss_recovery == LossRecovery::Ns3v37 {
                // But it resets the windows to their initial values, even after a timeout. Data that they allow is sent
                // at once here, in ns-3 with the next ACK.
                if let Some(controller) = self.tx.congestion.existing_mut() {
                    controller.on_restart(cfg);
                }
                self.tx.snd_wnd = seg.window;
            }
            return;
        }
        if !self.rx.is_acceptable(seg) {
            if self.state == State::TimeWait {
                self.wait_before_closing(cfg, now);
            }
            self.rx.on_unacceptable(cfg, seg);
            return;
        }
        if seg.flags.has(Flags::RST) {
            // RFC 5961, section 3: only the exact number resets; others in the window get a challenge ACK.
            if seg.seq == self.rx.rcv_nxt {
                self.abort();
            } else {
                self.rx.todo |= todo::ACK;
            }
            return;
        }
        if seg.flags.has(Flags::SYN) {
            // RFC 5961, section 4.
            self.rx.todo |= todo::ACK;
            return;
        }
        if !seg.flags.has(Flags::ACK) {
            return;
        }
        let early =
            self.state == State::SynReceived && seg.flags.has(Flags::FIN) && seg.seq != self.rx.rcv_nxt;
        if early && cfg.loss_recovery == LossRecovery::Ns3v37 {
            // ns-3.37 drops a FIN that overtook the end of the handshake, with its data.
            return;
        }
        if seg.flags.has(Flags::TS) && !self.rx.check_timestamp(cfg, seg) {
            return;
        }
        let flight = span(self.tx.snd_una, self.tx.snd_max) + u32::from(self.tx.is(fact::FIN_SENT));
        self.rx.take_timestamp(cfg, seg, span(self.tx.snd_una, seg.ack) <= flight);
        if !self.take_ack(cfg, now, seg) || (seg.len == 0 && !seg.flags.has(Flags::FIN)) {
            return;
        }
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            self.rx.todo |= todo::ACK;
            return;
        }
        self.rx.on_ecn(cfg, seg);
        let finishes =
            if seg.len > 0 { self.rx.on_data(cfg, now, seg) } else { self.rx.on_odd_data(cfg, now, seg) };
        if finishes {
            self.on_fin(cfg, now, seg);
        }
    }

    /// Whether ns-3.37 ignores a segment without data because the connection is closing: all of them in TIME-WAIT, in
    /// LAST-ACK all but the next expected. (It also ignores data in TIME-WAIT, which the peer then retransmits
    /// forever.)
    fn is_past_caring(&self, seg: &Segment) -> bool {
        let other = self.state == State::LastAck && seg.seq != self.rx.rcv_nxt;
        seg.len == 0 && (self.state == State::TimeWait || other)
    }

    /// Processes the ACK of a segment, in any state. Returns whether to process the rest of it.
    fn take_ack(&mut self, cfg: &Config, now: Time, seg: &Segment) -> bool {
        let tx = &mut self.tx;
        let ahead = span(tx.snd_una, seg.ack);
        let flight = span(tx.snd_una, tx.snd_max);
        let of_fin = tx.awaits_fin_ack() && ahead == flight + 1;
        if tx.is(fact::FIN_ACKED) && seg.ack == tx.snd_max.wrapping_add(1) {
            return true;
        }
        if ahead > flight && !of_fin {
            if before(tx.snd_una, seg.ack) {
                self.rx.todo |= todo::ACK;
                return false;
            }
            return self.state != State::SynReceived;
        }
        if self.state == State::SynReceived {
            tx.snd_wnd = seg.window;
            tx.first_sample(cfg, now, seg);
            self.establish();
        }
        if of_fin {
            self.fin_acked();
        }
        let ack = if of_fin { self.tx.snd_max } else { seg.ack };
        self.tx.on_ack(cfg, now, seg, ack);
        if of_fin {
            self.after_fin_acked(cfg, now);
        }
        true
    }
}
