//! [`Endpoint`]: the state of one side of a connection, and its public interface.
//!
//! Four cache lines: the fields used for every segment, by a receiver, by a sender, and the rest.
//! The controller, loss recovery and reassembly are allocated on the heap when first needed.

use weft_units::{Duration, Time};

use crate::config::Config;
use crate::congestion::{Congestion, Controller, PacingRate};
use crate::reassembly::Reassembly;
use crate::recovery::Loss;
use crate::rtt::Rtt;
use crate::segment;
use crate::seq::span;
use crate::timers::Timer;

/// The state of a connection (RFC 9293, section 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Open both ways.
    Established,
    /// This side has finished; its FIN is not acknowledged.
    FinWait1,
    /// This side has finished; the other has not.
    FinWait2,
    /// The other side has finished; this has not.
    CloseWait,
    /// Both have finished at once; this side's FIN is not acknowledged.
    Closing,
    /// The other side, then this one has finished; the FIN is not acknowledged.
    LastAck,
    /// Both have finished; answers a repeated FIN for a while.
    TimeWait,
}

/// The congestion state of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    /// No sign of loss or congestion.
    Open,
    /// Duplicate ACKs or SACKs arrived, too few for a loss.
    Disorder,
    /// The window is being reduced after a mark.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// Recovery from a timeout.
    Loss,
}

/// What [`Endpoint::poll_transmit`] must send besides data.
pub(crate) mod todo {
    /// An ACK, unless data carries it.
    pub(crate) const ACK: u8 = 1;
    /// An ACK before all data.
    pub(crate) const ACK_FIRST: u8 = 2;
    /// A SYN, or a SYN+ACK.
    pub(crate) const SYN: u8 = 4;
    /// A FIN without data.
    pub(crate) const FIN: u8 = 8;
    /// A reset.
    pub(crate) const RST: u8 = 16;
    /// A segment that recovery sends regardless of the window.
    pub(crate) const FORCED: u8 = 32;
    /// A zero-window probe.
    pub(crate) const WINDOW_PROBE: u8 = 64;
    /// A tail loss probe.
    pub(crate) const TAIL_PROBE: u8 = 128;
}

/// Flags of a connection.
pub(crate) mod fact {
    /// The application has closed.
    pub(crate) const FINISHED: u16 = 1;
    /// A FIN was sent.
    pub(crate) const FIN_SENT: u16 = 1 << 1;
    /// It was acknowledged.
    pub(crate) const FIN_ACKED: u16 = 1 << 2;
    /// The other side's FIN is known, at `rcv_fin`.
    pub(crate) const PEER_FINISHED: u16 = 1 << 3;
    /// ECN was agreed on.
    pub(crate) const ECN: u16 = 1 << 4;
    /// ACKs carry ECE.
    pub(crate) const ECHO: u16 = 1 << 5;
    /// The next new segment carries CWR.
    pub(crate) const CWR_DUE: u16 = 1 << 6;
    /// No round-trip samples up to `hold` (Karn).
    pub(crate) const HOLD_RTT: u16 = 1 << 7;
    /// `recover` guards against a second reduction.
    pub(crate) const GUARD: u16 = 1 << 8;
    /// A partial ACK was seen in this recovery.
    pub(crate) const PARTIAL_SEEN: u16 = 1 << 9;
    /// `timed_seq` was sent at `timed_at`.
    pub(crate) const TIMED: u16 = 1 << 10;
    /// The connection was aborted or reset.
    pub(crate) const ABORTED: u16 = 1 << 11;
    /// The scoreboard holds single segments.
    pub(crate) const SPLIT: u16 = 1 << 12;
    /// `held` holds something.
    pub(crate) const HOLES: u16 = 1 << 13;
    /// An ACK up to `prior_ack` with the previous mark state is due (DCTCP).
    pub(crate) const PRIOR_ACK: u16 = 1 << 14;
    /// The next ACK reports `duplicate`.
    pub(crate) const DUPLICATE: u16 = 1 << 15;
}

/// Counters of one side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments with payload sent, including retransmissions.
    pub data_segments_sent: u32,
    /// Segments with payload retransmitted.
    pub retransmissions: u32,
    /// Retransmission timeouts, including those of SYNs.
    pub timeouts: u32,
    /// Number of fast recoveries.
    pub fast_recoveries: u32,
    /// Segments with payload received that were not retransmissions.
    pub first_transmissions_received: u32,
    /// First transmissions that arrived below the highest sequence number already received.
    pub out_of_order: u32,
    /// Segments received with a congestion mark.
    pub ecn_marks: u32,
}

impl Stats {
    /// What has been counted since `earlier`, a value of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            data_segments_sent: self.data_segments_sent.wrapping_sub(earlier.data_segments_sent),
            retransmissions: self.retransmissions.wrapping_sub(earlier.retransmissions),
            timeouts: self.timeouts.wrapping_sub(earlier.timeouts),
            fast_recoveries: self.fast_recoveries.wrapping_sub(earlier.fast_recoveries),
            first_transmissions_received: self
                .first_transmissions_received
                .wrapping_sub(earlier.first_transmissions_received),
            out_of_order: self.out_of_order.wrapping_sub(earlier.out_of_order),
            ecn_marks: self.ecn_marks.wrapping_sub(earlier.ecn_marks),
        }
    }
}

/// One side of a connection.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    pub(crate) state: State,
    pub(crate) phase: Phase,
    pub(crate) todo: u8,
    /// Segments in order since the last ACK.
    pub(crate) delayed: u8,
    pub(crate) facts: u16,
    /// Remaining segments to acknowledge at once.
    pub(crate) quick: u8,
    /// How often the timeout is doubled: until the next round-trip sample.
    pub(crate) backoff: u8,
    /// When the sender's timer expires.
    pub(crate) send_timer_at: Time,
    /// When the delayed ACK is due.
    pub(crate) ack_timer_at: Time,
    /// Oldest sequence number not acknowledged; SYN and FIN are not counted among data.
    pub(crate) snd_una: u32,
    /// Next to send.
    pub(crate) snd_nxt: u32,
    /// Lowest number never sent: larger than `snd_nxt` only after going back.
    pub(crate) snd_max: u32,
    /// The other side's window.
    pub(crate) snd_wnd: u32,
    /// When data held by pacing may be sent; [`Time::MAX`]: none is held.
    pub(crate) paced_until: Time,
    /// Bytes written and never sent.
    pub(crate) unsent: u64,
    /// Next sequence number expected.
    pub(crate) rcv_nxt: u32,
    /// Timestamp to echo.
    pub(crate) ts_recent: u32,

    /// Bytes received in order.
    pub(crate) delivered: u64,
    /// Out-of-order ranges; the allocation is kept when empty.
    pub(crate) held: Option<Box<Reassembly>>,
    /// Own window.
    pub(crate) rcv_wnd: u32,
    /// Sequence number after the highest payload received.
    pub(crate) rcv_high: u32,
    pub(crate) last_ack_sent: u32,
    /// The number that an ACK due before the next one acknowledges (DCTCP).
    pub(crate) prior_ack: u32,
    pub(crate) stats: Stats,
    pub(crate) rcv_fin: u32,

    pub(crate) rtt: Rtt,
    pub(crate) congestion: Congestion,
    pub(crate) loss: Option<Box<Loss>>,
    /// Bytes acknowledged.
    pub(crate) acked: u64,
    pub(crate) last_sent: Time,

    /// Sequence number at which recovery ends.
    pub(crate) recover: u32,
    /// Bytes acknowledged that do not yet fill a segment (ns-3).
    pub(crate) remainder: u32,
    /// No round-trip samples up to here.
    pub(crate) hold: u32,
    pub(crate) timed_seq: u32,
    pub(crate) timed_at: Time,
    /// A range received twice.
    pub(crate) duplicate: (u32, u32),
    pub(crate) timer: Timer,
    /// Consecutive timeouts without progress.
    pub(crate) retries: u8,
    /// End of the round trip whose largest deviation counts for the timeout.
    pub(crate) rtt_round: u32,
    /// Marks up to here were answered.
    pub(crate) cwr_end: u32,
    pub(crate) dup_acks: u32,
    /// When data held for the interface may be sent.
    pub(crate) held_until: Time,
    /// When pacing allows the next segment.
    pub(crate) next_send: Time,
}

impl Endpoint {
    fn new(cfg: &Config, state: State, isn: u32) -> Self {
        let first = isn.wrapping_add(1);
        let window = cfg.initial_receive_window.0.min(cfg.receive_buffer.0);
        Self {
            state,
            phase: Phase::Open,
            todo: 0,
            delayed: 0,
            facts: 0,
            quick: cfg.quick_acks,
            backoff: 0,
            send_timer_at: Time::MAX,
            ack_timer_at: Time::MAX,
            snd_una: first,
            snd_nxt: first,
            snd_max: first,
            snd_wnd: 0,
            unsent: 0,
            rcv_nxt: 0,
            ts_recent: 0,
            delivered: 0,
            rcv_wnd: segment::window(window),
            rcv_high: 0,
            last_ack_sent: 0,
            prior_ack: 0,
            duplicate: (0, 0),
            held: None,
            rtt: Rtt::new(),
            loss: None,
            acked: 0,
            last_sent: Time::ZERO,
            recover: first,
            dup_acks: 0,
            remainder: 0,
            hold: first,
            cwr_end: first,
            rcv_fin: 0,
            timed_seq: 0,
            timer: Timer::Retransmit,
            retries: 0,
            rtt_round: first,
            held_until: Time::MAX,
            paced_until: Time::MAX,
            next_send: Time::ZERO,
            timed_at: Time::ZERO,
            congestion: Congestion::default(),
            stats: Stats::default(),
        }
    }

    /// A side that opens the connection at `now`: its SYN waits in [`Self::poll_transmit`]. `isn` is
    /// the initial sequence number.
    pub fn connect(cfg: &Config, now: Time, isn: u32) -> Self {
        let mut endpoint = Self::new(cfg, State::SynSent, isn);
        endpoint.todo = todo::SYN;
        endpoint.timed_at = now;
        endpoint.facts |= fact::TIMED;
        endpoint
    }

    /// A side that waits for the other's SYN.
    pub fn listen(cfg: &Config, isn: u32) -> Self {
        Self::new(cfg, State::Listen, isn)
    }

    /// The application writes `bytes`; ignored after [`Self::close`].
    pub fn write(&mut self, bytes: u64) {
        if self.facts & fact::FINISHED == 0 {
            self.unsent = self.unsent.saturating_add(bytes);
        }
    }

    /// The application has written everything: a FIN follows the data. A listening side closes at once.
    pub fn close(&mut self) {
        if self.state == State::Listen {
            self.state = State::Closed;
        }
        self.facts |= fact::FINISHED;
        self.note_fin_due();
    }

    /// The application has read all that was delivered: a delayed ACK is sent now, as Linux does (`tcp_cleanup_rbuf`).
    pub fn read_all(&mut self) {
        if self.ack_timer_at != Time::MAX {
            self.ack_timer_at = Time::MAX;
            self.todo |= todo::ACK;
        }
    }

    /// When to call [`Self::on_timeout`] next; [`Time::MAX`]: never. Any other call may change it.
    /// An early call is harmless, so a caller may keep an earlier alarm when this moves later. With `pacing`, it includes
    /// the time at which held data may leave.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.send_timer_at.min(self.ack_timer_at).min(self.paced_until)
    }

    /// Bytes received in order and delivered to the application.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes of this side's data acknowledged by the other.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// The state of the connection.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether this side is done: closed, or in TIME-WAIT, where it only answers repeated FINs. Once
    /// both sides are done, the connection can be removed.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Whether the other side has finished and all its data was delivered.
    pub fn is_finished_by_peer(&self) -> bool {
        matches!(self.state, State::CloseWait | State::Closing | State::LastAck | State::TimeWait)
    }

    /// Whether the connection was aborted after too many timeouts, or reset.
    pub fn is_aborted(&self) -> bool {
        self.facts & fact::ABORTED != 0
    }

    /// The counters.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Congestion window, bytes; 0 before the first data.
    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.congestion.existing().map_or(0, Controller::window)
    }

    /// Slow-start threshold, bytes; `u32::MAX`: none yet.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.congestion.existing().map_or(u32::MAX, Controller::ssthresh)
    }

    /// The controller's pacing rate; `None` before the first data or the first round-trip sample.
    pub fn pacing_rate(&self) -> Option<PacingRate> {
        let flight = span(self.snd_una, self.snd_nxt);
        self.congestion.existing()?.pacing_rate(flight, self.rtt.srtt())
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.rtt.srtt()
    }

    /// The current retransmission timeout, including backoff.
    pub fn rto(&self, cfg: &Config) -> Duration {
        self.rtt.timeout(cfg, self.backoff)
    }

    /// Bytes considered in flight.
    pub fn in_flight(&self) -> u32 {
        self.pipe()
    }

    /// DCTCP's estimate of the marked fraction; `None` for other controllers.
    pub fn alpha(&self) -> Option<f64> {
        self.congestion.existing()?.alpha()
    }

    /// Bytes that this side holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let loss = self.loss.as_ref().map_or(0, |loss| size_of::<Loss>() + loss.heap_bytes());
        let held = self.held.as_ref().map_or(0, |held| size_of::<Reassembly>() + held.heap_bytes());
        loss + held + self.congestion.heap_bytes()
    }

    #[inline]
    pub(crate) fn is(&self, facts: u16) -> bool {
        self.facts & facts != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, facts: u16) {
        self.facts |= facts;
    }

    #[inline]
    pub(crate) fn clear(&mut self, facts: u16) {
        self.facts &= !facts;
    }

    /// Aborts the connection.
    pub(crate) fn abort(&mut self) {
        self.state = State::Closed;
        self.facts |= fact::ABORTED;
        self.todo &= todo::RST;
        self.send_timer_at = Time::MAX;
        self.ack_timer_at = Time::MAX;
        self.held_until = Time::MAX;
        self.paced_until = Time::MAX;
        self.loss = None;
        self.held = None;
        self.unsent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_four_cache_lines_each_with_what_goes_together() {
        assert_eq!(size_of::<Endpoint>(), 256);
        assert_eq!(std::mem::offset_of!(Endpoint, delivered), 64, "the receiver's line");
        assert_eq!(std::mem::offset_of!(Endpoint, rtt), 128, "the sender's line");
        assert_eq!(std::mem::offset_of!(Endpoint, recover), 192, "the rest");
    }
}
