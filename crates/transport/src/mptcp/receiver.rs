//! [`Incoming`]: the data that a connection receives, reassembled from the in-order data of its subflows.

use super::Config;
use super::reassembly::Reassembly;
use crate::segment::window;

/// The data of the other side, counted from 0.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// Bytes received in order and delivered to the application.
    pub(crate) delivered: u64,
    /// The receive window, announced by every segment.
    pub(crate) window: u32,
    /// The end of the data, once a DATA_FIN has arrived.
    end: Option<u64>,
    /// Everything up to the DATA_FIN was received.
    pub(crate) finished: bool,
    held: Reassembly,
    /// Pieces received out of order.
    pub(crate) early: u32,
    /// Bytes received twice.
    pub(crate) twice: u64,
}

impl Incoming {
    pub(crate) fn new(cfg: &Config) -> Self {
        let plain = &cfg.plain;
        let window = window(plain.initial_receive_window.0.min(plain.receive_buffer.0));
        Self {
            delivered: 0,
            window,
            end: None,
            finished: false,
            held: Reassembly::default(),
            early: 0,
            twice: 0,
        }
    }

    /// The data acknowledgment: the next offset expected, with the DATA_FIN counted as a byte.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.delivered + u64::from(self.finished)
    }

    /// `len` bytes from `data` on arrive.
    #[inline]
    pub(crate) fn receive(&mut self, cfg: &Config, data: u64, len: u32) {
        let limit = (self.delivered + u64::from(self.window)).min(self.end.unwrap_or(u64::MAX));
        let (start, end) = (data.max(self.delivered), data.saturating_add(u64::from(len)).min(limit));
        if start >= end {
            self.twice += u64::from(len);
        } else if start > self.delivered {
            self.early += 1;
            if !self.held.insert(start, end) {
                self.twice += end - start;
            }
        } else if self.held.is_empty() {
            self.take(cfg, end);
        } else {
            let end = self.held.advance(end);
            self.take(cfg, end);
        }
    }

    /// Processes a DATA_FIN: the data ends at `end`. The first valid one counts.
    pub(crate) fn on_data_fin(&mut self, end: u64) {
        let highest = self.held.end().unwrap_or(0).max(self.delivered);
        let limit = self.delivered + u64::from(self.window);
        if self.end.is_none() && highest <= end && end <= limit {
            self.end = Some(end);
            self.finished = end == self.delivered;
        }
    }

    /// Delivers everything below `next`; the window grows like an endpoint's.
    #[inline]
    fn take(&mut self, cfg: &Config, next: u64) {
        let bytes = window(next - self.delivered);
        self.delivered = next;
        self.finished = self.end == Some(next);
        let most = window(cfg.plain.receive_buffer.0);
        if self.window < most {
            self.window = self.window.saturating_add(bytes.saturating_mul(2)).min(most);
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.held.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Mptcp};

    #[test]
    fn data_of_several_subflows_is_delivered_once_and_in_order() {
        let plain = config::Config { mptcp: Mptcp::Fullmesh, ..config::Config::profile("linux").unwrap() };
        let cfg = Config::new(&plain).unwrap();
        let mut incoming = Incoming::new(&cfg);
        incoming.receive(&cfg, 2000, 1000);
        incoming.on_data_fin(2500);
        assert_eq!(incoming.expected(), 0, "an end below received data is ignored");
        incoming.on_data_fin(4000);
        incoming.receive(&cfg, 500, 500);
        incoming.receive(&cfg, 0, 1000);
        assert_eq!(incoming.delivered, 1000);
        incoming.receive(&cfg, 0, 3500);
        assert_eq!((incoming.delivered, incoming.finished), (3500, false));
        incoming.receive(&cfg, 3000, 5000);
        assert_eq!((incoming.delivered, incoming.finished, incoming.expected()), (4000, true, 4001));
        incoming.receive(&cfg, 0, 1000);
        incoming.receive(&cfg, u64::MAX - 10, 1000);
        assert_eq!(incoming.delivered, 4000);
    }
}
