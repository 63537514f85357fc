//! [`Keys`]: the keys of a connection, and where its data sequence numbers begin.

use weft_wire::mptcp::Key;

use super::Config;

/// A connection's keys, as far as one side knows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) own: u64,
    /// Data sequence number of the first byte that this side sends.
    pub(crate) own_first: u64,
    pub(crate) peer: Option<u64>,
    /// Data sequence number of the first byte that the other side sends.
    pub(crate) peer_first: u64,
}

impl Keys {
    pub(crate) fn new(cfg: &Config, own: u64) -> Self {
        let own_first = first_number(cfg, own);
        Self { own, own_first, peer: None, peer_first: 0 }
    }

    pub(crate) fn learn(&mut self, cfg: &Config, peer: u64) {
        self.peer = Some(peer);
        self.peer_first = first_number(cfg, peer);
    }
}

/// Data sequence number of the first byte that the side with `key` sends.
fn first_number(cfg: &Config, key: u64) -> u64 {
    Key(key).initial_data_sequence(cfg.version()).wrapping_add(1)
}
