//! [`Endpoint`]: one side of a connection: its state, its [`Receiver`] and its [`Sender`], and the application's calls.
//!
//! Four cache lines: the fields used by a receiver, for every segment, by a sender, and the rest.
//! The controller, loss recovery and reassembly are allocated on the heap when first needed.

use weft_units::{Duration, Time};

use crate::config::Config;
use crate::congestion::PacingRate;
use crate::congestion::any::AnyController;
use crate::machine::{Arrival, Machine, tcp_methods};
use crate::reassembly::Reassembly;
use crate::receiver::Receiver;
use crate::recovery::loss::Loss;
use crate::segment::Segment;
use crate::sender::{Sender, fact};
use crate::stats::Stats;
use crate::todo;

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

/// One side of a connection.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    pub(crate) rx: Receiver,
    pub(crate) state: State,
    pub(crate) todo: u8,
    aborted: bool,
    /// Retransmission timeouts, including those of SYNs.
    pub(crate) timeouts: u32,
    pub(crate) tx: Sender,
}

impl Endpoint {
    fn new(cfg: &Config, state: State, isn: u32) -> Self {
        Self {
            rx: Receiver::new(cfg),
            state,
            todo: 0,
            aborted: false,
            timeouts: 0,
            tx: Sender::new(isn.wrapping_add(1)),
        }
    }

    /// A side that opens the connection at `now`: its SYN waits in [`Self::poll_transmit`]. `isn` is
    /// the initial sequence number.
    pub fn connect(cfg: &Config, now: Time, isn: u32) -> Self {
        let mut endpoint = Self::new(cfg, State::SynSent, isn);
        endpoint.todo = todo::SYN;
        endpoint.tx.timed_at = now;
        endpoint.tx.set(fact::TIMED);
        endpoint
    }

    /// A side that waits for the other's SYN.
    pub fn listen(cfg: &Config, isn: u32) -> Self {
        Self::new(cfg, State::Listen, isn)
    }

    /// The application writes `bytes`; ignored after [`Self::close`].
    pub fn write(&mut self, bytes: u64) {
        if !self.tx.is(fact::FINISHED) {
            self.tx.unsent = self.tx.unsent.saturating_add(bytes);
        }
    }

    /// The application has written everything: a FIN follows the data. A listening side closes at once.
    pub fn close(&mut self) {
        if self.state == State::Listen {
            self.state = State::Closed;
        }
        self.tx.set(fact::FINISHED);
        self.note_fin_due();
    }

    /// Schedules a FIN without data if all data was sent and no segment carried the FIN.
    pub(crate) fn note_fin_due(&mut self) {
        let sendable = matches!(self.state, State::Established | State::CloseWait);
        let finished = self.tx.is(fact::FINISHED) && !self.tx.is(fact::FIN_SENT);
        if sendable && finished && self.tx.unsent == 0 {
            self.tx.todo |= todo::FIN;
        }
    }

    /// The application has read all that was delivered: a delayed ACK is sent now, as Linux does (`tcp_cleanup_rbuf`).
    pub fn read_all(&mut self) {
        if self.rx.ack_timer_at != Time::MAX {
            self.rx.ack_timer_at = Time::MAX;
            self.rx.todo |= todo::ACK;
        }
    }

    /// With `small_queues`, call this for each segment of `len` bytes of payload that [`Self::poll_transmit`] returned
    /// at `now`: its last bit leaves the host's interface at `leaves`.
    pub fn leaves_at(&mut self, now: Time, leaves: Time, len: u16) {
        let queue = &mut self.tx.loss.get_or_insert_default().small_queue;
        queue.release(now);
        if now < leaves {
            queue.push(leaves, u32::from(len));
        }
    }

    /// When data held for the interface may be sent: call [`Self::poll_transmit`] again then. [`Time::MAX`]: none is
    /// held.
    #[inline]
    pub fn held_until(&self) -> Time {
        self.tx.held_until
    }

    /// When to call [`Self::on_timeout`] next; [`Time::MAX`]: never. Any other call may change it.
    /// An early call is harmless, so a caller may keep an earlier alarm when this moves later. With `pacing`, it includes
    /// the time at which held data may leave.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.tx.timer_at.min(self.rx.ack_timer_at).min(self.tx.paced_until)
    }

    /// Bytes received in order and delivered to the application.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.rx.delivered
    }

    /// Bytes of this side's data acknowledged by the other.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.tx.acked
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
        self.aborted
    }

    /// The counters.
    #[inline]
    pub fn stats(&self) -> Stats {
        Stats {
            data_segments_sent: self.tx.segments,
            retransmissions: self.tx.retransmissions,
            timeouts: self.timeouts,
            fast_recoveries: self.tx.recoveries,
            first_transmissions_received: self.rx.first_transmissions,
            out_of_order: self.rx.out_of_order,
            ecn_marks: self.rx.marks,
            ..Stats::default()
        }
    }

    /// Congestion window, bytes; before the first data, the initial one.
    #[inline]
    pub fn cwnd(&self, cfg: &Config) -> u32 {
        let congestion = &self.tx.congestion;
        congestion.existing().map_or_else(|| congestion.state(cfg).cwnd(), AnyController::window)
    }

    /// Slow-start threshold, bytes; `u32::MAX`: none yet.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.tx.congestion.existing().map_or(u32::MAX, AnyController::ssthresh)
    }

    /// The controller's pacing rate; `None` before the first data or the first round-trip sample.
    pub fn pacing_rate(&self) -> Option<PacingRate> {
        self.tx.pacing_rate()
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.tx.rtt.srtt()
    }

    /// The current retransmission timeout, including backoff.
    pub fn rto(&self, cfg: &Config) -> Duration {
        self.tx.rtt.timeout(cfg, self.tx.backoff)
    }

    /// Bytes considered in flight.
    pub fn in_flight(&self) -> u32 {
        self.tx.pipe()
    }

    /// DCTCP's estimate of the marked fraction; `None` for other controllers.
    pub fn alpha(&self) -> Option<f64> {
        self.tx.congestion.existing()?.alpha()
    }

    /// Bytes that this side holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let loss = self.tx.loss.as_ref().map_or(0, |loss| size_of::<Loss>() + loss.heap_bytes());
        let held = self.rx.held.as_ref().map_or(0, |held| size_of::<Reassembly>() + held.heap_bytes());
        loss + held + self.tx.congestion.heap_bytes()
    }

    /// Whether the state allows sending data, or at least retransmitting it.
    #[inline]
    pub(crate) fn carries_data(&self) -> bool {
        (self.state as u8).wrapping_sub(State::Established as u8)
            <= State::LastAck as u8 - State::Established as u8
    }

    /// Whether `len` bytes in addition to those waiting would be sent at once, as far as is known before recovery
    /// decides.
    #[inline]
    pub(crate) fn has_room_for(&self, cfg: &Config, len: u32) -> bool {
        self.carries_data() && self.tx.has_room_for(cfg, len)
    }

    /// Whether anything besides data is due.
    pub(crate) fn is_due(&self) -> bool {
        self.todo | self.tx.todo | self.rx.todo != 0
    }

    /// Aborts the connection. A reset that is due is still sent.
    pub(crate) fn abort(&mut self) {
        self.state = State::Closed;
        self.aborted = true;
        self.todo &= todo::RST;
        self.tx.abort();
        self.rx.abort();
    }

    /// Resets the connection: aborts it with a reset.
    pub(crate) fn reset(&mut self) {
        self.todo = todo::RST;
        self.abort();
    }

    /// The connection is closed: nothing is due any more.
    pub(crate) fn end(&mut self) {
        self.state = State::Closed;
        self.todo = 0;
        self.tx.todo = 0;
        self.rx.todo = 0;
    }
}

impl Machine for Endpoint {
    type Config = Config;
    type Packet = Segment;

    tcp_methods!();

    fn window(&self, config: &Config) -> Option<u64> {
        let is_open =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        is_open.then(|| self.cwnd(config).into())
    }

    #[inline(always)]
    fn receive(&mut self, config: &Config, now: Time, segment: &Segment, _arrival: Arrival) {
        self.on_segment(config, now, segment);
    }

    #[inline(always)]
    fn poll_transmit(&mut self, config: &Config, now: Time, segment: &mut Segment) -> bool {
        self.poll_transmit(config, now, segment)
    }

    #[inline]
    fn stats(&self) -> Stats {
        self.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn an_endpoint_is_four_cache_lines_each_with_what_goes_together() {
        assert_eq!(size_of::<Endpoint>(), 256);
        assert_eq!(offset_of!(Endpoint, rx), 0, "the receiver's line");
        let sender = offset_of!(Endpoint, tx);
        assert_eq!((offset_of!(Endpoint, state), sender), (72, 80), "in the line of all segments");
        assert_eq!(sender + offset_of!(Sender, rtt), 128, "the sender's line");
        assert_eq!(sender + offset_of!(Sender, recover), 192, "the rest");
    }
}
