//! [`Handshakes`] being watched: MPTCP connection openings, and joins to be verified.

use rustc_hash::FxHashMap;

use crate::clock::{Duration, Time};
use crate::list::{Link, Linked, List};
use crate::slab::Slab;

/// A handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    flow: u32,
    /// For a join: the nonces of its opener and, once seen, of the other end.
    pub nonces: [Option<u32>; 2],
    /// For a join: its HMAC, if it arrived before the data needed to check it.
    pub proof: Option<[u8; 20]>,
    /// For a version 0 connection: the initiator's key.
    pub key: Option<u64>,
    until: Time,
    link: [Link; 1],
}

impl Linked for Handshake {
    fn links(&self) -> &[Link] {
        &self.link
    }
    fn links_mut(&mut self) -> &mut [Link] {
        &mut self.link
    }
}

/// All handshakes.
#[derive(Clone, Debug)]
pub(crate) struct Handshakes {
    slab: Slab<Handshake>,
    by_flow: FxHashMap<u32, u32>,
    in_order: List,
    patience: Duration,
}

impl Handshakes {
    /// An empty table; each handshake is watched for `patience`.
    pub fn new(patience: Duration) -> Self {
        Self { slab: Slab::default(), by_flow: FxHashMap::default(), in_order: List::default(), patience }
    }

    /// Starts watching a flow's handshake.
    pub fn watch(&mut self, now: Time, flow: u32, nonce: Option<u32>, key: Option<u64>) {
        self.end(flow);
        let until = now + self.patience;
        let handshake = Handshake { flow, nonces: [nonce, None], key, until, ..Handshake::default() };
        let index = self.slab.insert(handshake);
        self.in_order.push(0, &mut self.slab, index);
        self.by_flow.insert(flow, index);
    }

    /// A flow's handshake.
    pub fn of(&mut self, flow: u32) -> Option<&mut Handshake> {
        let index = *self.by_flow.get(&flow)?;
        Some(&mut self.slab[index])
    }

    /// Stops watching a flow's handshake.
    pub fn end(&mut self, flow: u32) {
        if let Some(index) = self.by_flow.remove(&flow) {
            self.in_order.remove(0, &mut self.slab, index);
            self.slab.remove(index);
        }
    }

    /// When the next handshake times out.
    pub fn deadline(&self) -> Time {
        self.in_order.first().map_or(Time::MAX, |index| self.slab[index].until)
    }

    /// The flow of a handshake that has timed out.
    pub fn overdue(&self, now: Time) -> Option<u32> {
        let first = &self.slab[self.in_order.first()?];
        (first.until <= now).then_some(first.flow)
    }

    /// The number of handshakes.
    pub fn len(&self) -> usize {
        self.slab.len()
    }
}
