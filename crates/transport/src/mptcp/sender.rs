//! [`Outgoing`]: the data that a connection sends: assigned to subflows, acknowledged, to be reinjected.

use std::collections::VecDeque;

use weft_units::Time;

use super::Config;

/// A piece of data for one segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) data: u64,
    pub(crate) len: u32,
    /// A reinjection: it was assigned to another subflow before.
    pub(crate) again: bool,
}

/// The next piece to send, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// A piece.
    Piece(Piece),
    /// A piece that does not fit the other side's window.
    Closed,
    /// Nothing, or nothing yet.
    Nothing,
}

/// The data of this side, counted from 0.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// Written by the application.
    pub(crate) written: u64,
    /// The application has closed: a DATA_FIN follows the written data.
    pub(crate) finished: bool,
    /// Assigned to subflows.
    pub(crate) mapped: u64,
    /// Acknowledged by the other side's connection.
    pub(crate) acked: u64,
    /// The right edge of the other side's window.
    edge: u64,
    /// Ranges to reinject on another subflow.
    again: VecDeque<(u64, u64)>,
    /// A DATA_FIN was sent.
    pub(crate) fin_sent: bool,
    /// It was acknowledged.
    pub(crate) fin_acked: bool,
    /// When to retransmit it.
    pub(crate) fin_timer: Time,
    /// Number of retransmissions.
    pub(crate) fin_tries: u8,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self {
            written: 0,
            finished: false,
            mapped: 0,
            acked: 0,
            edge: 0,
            again: VecDeque::new(),
            fin_sent: false,
            fin_acked: false,
            fin_timer: Time::MAX,
            fin_tries: 0,
        }
    }

    /// Whether a DATA_FIN is due: all data was assigned to subflows, and the application has closed.
    #[inline]
    pub(crate) fn fin_is_due(&self) -> bool {
        self.finished && self.mapped == self.written && !self.fin_acked
    }

    /// The next piece for a subflow: first reinjections, then new data, as far as the window and the buffer allow.
    #[inline]
    pub(crate) fn next(&mut self, cfg: &Config) -> Next {
        let mss = u64::from(cfg.subflow.mss);
        if !self.again.is_empty()
            && let Some((from, to)) = self.next_again()
        {
            return Next::Piece(Piece { data: from, len: (to - from).min(mss) as u32, again: true });
        }
        let len = (self.written - self.mapped).min(mss);
        let end = self.mapped + len;
        let waits = cfg.plain.nagle && len < mss && self.acked != self.mapped && !self.finished;
        if len == 0 || waits || end - self.acked > cfg.plain.send_buffer.0 {
            return Next::Nothing;
        }
        if end > self.edge {
            return Next::Closed;
        }
        Next::Piece(Piece { data: self.mapped, len: len as u32, again: false })
    }

    fn next_again(&mut self) -> Option<(u64, u64)> {
        while let Some((from, to)) = self.again.front_mut() {
            *from = self.acked.max(*from);
            if from < to {
                return Some((*from, *to));
            }
            self.again.pop_front();
        }
        None
    }

    /// The piece that [`Self::next`] returned was assigned to a subflow.
    #[inline]
    pub(crate) fn give(&mut self, piece: Piece) {
        if !piece.again {
            self.mapped += u64::from(piece.len);
        } else if let Some(first) = self.again.front_mut() {
            first.0 += u64::from(piece.len);
        }
    }

    /// The range of the first outstanding data, at most `most` bytes.
    pub(crate) fn first(&self, most: u64) -> (u64, u64) {
        (self.acked, self.mapped.min(self.acked + most))
    }

    /// Queues `[from, to)` for reinjection, unless it is acknowledged first.
    pub(crate) fn give_again(&mut self, from: u64, to: u64) {
        let from = from.max(self.acked);
        if from < to {
            self.again.push_back((from, to));
        }
    }

    /// The other side's connection has everything below `next` and accepts `window` bytes from there. Ignores
    /// acknowledgments of data that was never sent.
    #[inline]
    pub(crate) fn on_data_ack(&mut self, next: u64, window: u32) {
        if next > self.mapped {
            if !self.fin_sent || next != self.written + 1 {
                return;
            }
            self.fin_acked = true;
            self.fin_timer = Time::MAX;
        }
        self.acked = self.acked.max(next.min(self.mapped));
        self.edge = self.edge.max(next.saturating_add(u64::from(window)));
    }

    /// Whether no data is outstanding.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.acked == self.mapped
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.again.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Mptcp};

    fn cfg() -> Config {
        let plain =
            config::Config { mss: 1028, mptcp: Mptcp::Fullmesh, ..config::Config::profile("linux").unwrap() };
        Config::new(&plain).unwrap()
    }

    fn piece(data: u64, len: u32, again: bool) -> Next {
        Next::Piece(Piece { data, len, again })
    }

    fn give(out: &mut Outgoing, cfg: &Config) -> Next {
        let next = out.next(cfg);
        if let Next::Piece(piece) = next {
            out.give(piece);
        }
        next
    }

    #[test]
    fn what_may_be_lost_comes_before_new_data_and_not_when_it_has_arrived() {
        let (cfg, mut out) = (cfg(), Outgoing::new());
        out.written = 5000;
        out.on_data_ack(0, 100_000);
        assert_eq!(give(&mut out, &cfg), piece(0, 1000, false));
        assert_eq!(give(&mut out, &cfg), piece(1000, 1000, false));
        out.give_again(0, 1000);
        out.give_again(1000, 2000);
        out.on_data_ack(500, 100_000);
        assert_eq!(give(&mut out, &cfg), piece(500, 500, true));
        out.on_data_ack(1200, 100_000);
        assert_eq!(give(&mut out, &cfg), piece(1200, 800, true));
        assert_eq!(give(&mut out, &cfg), piece(2000, 1000, false));
    }

    #[test]
    fn the_window_of_the_connection_bounds_what_is_given() {
        let (cfg, mut out) = (cfg(), Outgoing::new());
        out.written = 5000;
        assert_eq!(out.next(&cfg), Next::Closed);
        out.on_data_ack(0, 1500);
        assert_eq!(give(&mut out, &cfg), piece(0, 1000, false));
        assert_eq!(out.next(&cfg), Next::Closed);
        out.on_data_ack(4000, 9000);
        assert_eq!(out.next(&cfg), Next::Closed, "what was not sent cannot have arrived");
    }

    #[test]
    fn a_data_fin_is_acknowledged_only_after_it_was_sent() {
        let mut out = Outgoing::new();
        out.finished = true;
        assert!(out.fin_is_due());
        out.on_data_ack(1, 1000);
        assert!(!out.fin_acked);
        out.fin_sent = true;
        out.on_data_ack(1, 1000);
        assert!(out.fin_acked && !out.fin_is_due());
    }
}
