//! [`Handshakes`] that are being watched: the opening of MPTCP connections, and joins that have to be proven.

use rustc_hash::FxHashMap;

use crate::clock::{Duration, Time};
use crate::list::{Link, Linked, List};
use crate::slab::Slab;

/// A handshake.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    flow: u32,
    /// Of a join: the random number of its opener, and of the other end once that was seen.
    pub nonces: [Option<u32>; 2],
    /// Of a join: what proves it, if that came before everything that it is checked with.
    pub proof: Option<[u8; 20]>,
    /// Of the opening of a connection of version 0: the initiator's key.
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
    /// None yet; each is watched for `patience`.
    pub fn new(patience: Duration) -> Self {
        Self { slab: Slab::default(), by_flow: FxHashMap::default(), in_order: List::default(), patience }
    }

    /// Watches that of a flow, from now on.
    pub fn watch(&mut self, now: Time, flow: u32, nonce: Option<u32>, key: Option<u64>) {
        self.end(flow);
        let until = now + self.patience;
        let index = self.slab.insert(Handshake {
            flow,
            nonces: [nonce, None],
            proof: None,
            key,
            until,
            link: Default::default(),
        });
        self.in_order.push(0, &mut self.slab, index);
        self.by_flow.insert(flow, index);
    }

    /// That of a flow.
    pub fn of(&mut self, flow: u32) -> Option<&mut Handshake> {
        let index = *self.by_flow.get(&flow)?;
        Some(&mut self.slab[index])
    }

    /// Watches that of a flow no longer.
    pub fn end(&mut self, flow: u32) {
        if let Some(index) = self.by_flow.remove(&flow) {
            self.in_order.remove(0, &mut self.slab, index);
            self.slab.remove(index);
        }
    }

    /// When the next one has been watched for long enough.
    pub fn deadline(&self) -> Time {
        self.in_order.first().map_or(Time::MAX, |index| self.slab[index].until)
    }

    /// The flow of one that has been.
    pub fn overdue(&self, now: Time) -> Option<u32> {
        let first = &self.slab[self.in_order.first()?];
        (first.until <= now).then_some(first.flow)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.slab.len()
    }
}
