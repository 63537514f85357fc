//! [`Subflow`]: an [`Endpoint`] with its connection-level state.

use weft_units::Time;

use super::mapping::Mappings;
use crate::config::Config;
use crate::congestion::Path;
use crate::endpoint::{Endpoint, State};
use crate::sender::fact;
use crate::todo;

/// Progress of a subflow's MPTCP handshake, in addition to its endpoint's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Some options of the handshake are missing.
    Opening,
    /// The third ACK was sent, but its option is not confirmed (RFC 8684, section 3.2, PRE_ESTABLISHED).
    Unconfirmed,
    /// Both sides have authenticated.
    Confirmed,
}

/// One subflow.
#[derive(Clone, Debug)]
pub(crate) struct Subflow {
    pub(crate) endpoint: Endpoint,
    pub(crate) stage: Stage,
    /// It made no progress for too long and gets no data.
    pub(crate) stale: bool,
    /// Consecutive stall checks with data outstanding and nothing received since the previous check.
    pub(crate) misses: u8,
    /// Segments received on it, and their number when the first miss was counted.
    pub(crate) heard: u32,
    heard_before: u32,
    /// It has ended, and its unacknowledged data was reinjected on others.
    pub(crate) buried: bool,
    /// A SYN+ACK arrived: the next ACK carries the option of the third ACK.
    pub(crate) answers_syn: bool,
    /// The next ACK carries the DATA_FIN.
    pub(crate) tells_fin: bool,
    /// How often the third ACK was sent.
    pub(crate) third_acks: u8,
    /// The endpoint uses the connection's coupled controller.
    pub(crate) coupled: bool,
    /// This side opened it.
    pub(crate) opened_here: bool,
    /// The number of this side's address.
    pub(crate) local: u8,
    /// The nonces of a join.
    pub(crate) own_nonce: u32,
    pub(crate) peer_nonce: u32,
    /// Sequence number of the first byte sent.
    pub(crate) first: u32,
    /// Mappings of data assigned to the endpoint and not acknowledged on the subflow.
    pub(crate) sent: Mappings,
    /// Mappings of data received beyond a hole of the subflow.
    pub(crate) held: Mappings,
}

impl Subflow {
    pub(crate) fn new(endpoint: Endpoint, opened_here: bool, local: u8, own_nonce: u32) -> Self {
        Self {
            first: endpoint.tx.snd_una,
            endpoint,
            stage: Stage::Opening,
            stale: false,
            misses: 0,
            heard: 0,
            heard_before: 0,
            buried: false,
            answers_syn: false,
            tells_fin: false,
            third_acks: 0,
            coupled: false,
            opened_here,
            local,
            own_nonce,
            peer_nonce: 0,
            sent: Mappings::default(),
            held: Mappings::default(),
        }
    }

    /// Whether it can send: its handshake is complete and its endpoint open for sending.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        let open = matches!(self.endpoint.state, State::Established | State::CloseWait);
        open && self.stage == Stage::Confirmed && !self.endpoint.tx.is(fact::FINISHED)
    }

    /// Whether it may be assigned data.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.is_open() && !self.stale
    }

    /// Whether `len` bytes of data would leave at once.
    #[inline]
    pub(crate) fn has_room(&self, cfg: &Config, len: u32) -> bool {
        self.is_usable() && self.endpoint.has_room_for(cfg, len)
    }

    /// Whether it has data in the network.
    #[inline]
    pub(crate) fn is_outstanding(&self) -> bool {
        self.endpoint.tx.snd_una != self.endpoint.tx.snd_max || self.endpoint.tx.unsent > 0
    }

    /// Assigns `len` bytes of data from offset `data` to the endpoint.
    pub(crate) fn give(&mut self, cfg: &Config, data: u64, len: u32) {
        if !self.coupled {
            self.coupled = true;
            self.endpoint.tx.congestion.couple(cfg);
        }
        let waiting = self.endpoint.tx.unsent as u32;
        self.sent.push(self.endpoint.tx.snd_max.wrapping_add(waiting), len, data);
        self.endpoint.write(u64::from(len));
    }

    /// Its path as seen by the controllers of the others; `None` before the first round-trip sample.
    pub(crate) fn path(&self, cfg: &Config) -> Option<Path> {
        let srtt = self.endpoint.tx.rtt.srtt().as_secs_f64();
        if !self.is_open() || srtt <= 0.0 {
            return None;
        }
        let congestion = &self.endpoint.tx.congestion;
        let window = congestion.state(cfg);
        // RFC 6356, section 3: in fast recovery, use the window at its end.
        let reducing = self.endpoint.tx.phase.is_reducing();
        let bytes = if reducing { window.ssthresh() } else { window.cwnd() };
        Some(Path {
            window: f64::from(bytes.max(1)),
            rtt: srtt,
            between_losses: congestion
                .existing()
                .map_or(0.0, |own| own.between_losses(self.endpoint.tx.acked)),
        })
    }

    /// The other side acknowledged something.
    #[inline]
    pub(crate) fn progresses(&mut self) {
        self.sent.release(self.endpoint.tx.snd_una);
        if self.endpoint.tx.retries == 0 {
            self.stale = false;
        }
    }

    /// Counts a miss if nothing was received since the last check; returns the number of misses.
    pub(crate) fn count_miss(&mut self) -> u8 {
        if self.misses > 0 && self.heard != self.heard_before {
            self.misses = 0;
        } else {
            self.heard_before = self.heard;
            self.misses = self.misses.saturating_add(1);
        }
        self.misses
    }

    /// Resets the subflow.
    pub(crate) fn reset(&mut self) {
        if self.endpoint.state != State::Closed {
            self.endpoint.reset();
        }
    }

    /// Starts closing the subflow, when the connection has nothing more to send on it.
    pub(crate) fn finish(&mut self) {
        match self.endpoint.state {
            State::Closed => {}
            State::SynSent => self.endpoint.abort(),
            State::SynReceived => self.reset(),
            _ => self.endpoint.close(),
        }
    }

    /// Schedules an ACK with the DATA_FIN.
    pub(crate) fn tell_fin(&mut self) {
        self.tells_fin = true;
        self.endpoint.rx.todo |= todo::ACK;
    }

    /// Arms the timer that retransmits the third ACK if it is not confirmed.
    pub(crate) fn await_confirmation(&mut self, cfg: &Config, now: Time) {
        self.third_acks = self.third_acks.saturating_add(1);
        self.endpoint.rx.ack_timer_at = self.endpoint.tx.rtt.deadline(cfg, now, self.third_acks - 1);
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.endpoint.heap_bytes() + self.sent.heap_bytes() + self.held.heap_bytes()
    }
}
