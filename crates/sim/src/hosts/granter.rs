//! [`Granters`]: the links of hosts whose receivers grant credit, as the `UecPullPacer` of uet-htsim does.
//!
//! A receiver's senders share its link. So the link's receivers wait in one line, and each grants some credit when it is its
//! turn: when the link has had time for the credit before. If no sender waits for credit, they get some in advance, in turn
//! as well: a sender cannot ask before it has more to send.

use std::collections::VecDeque;

use weft_transport::uec::Config;
use weft_units::{Bytes, Duration, Time};

use super::pacer::PacedSource;
use crate::network::Network;
use crate::timer::Timer;
use crate::timer_heap::Order;

/// The time of a credit of 0 bytes, which repeats those before, in bytes.
const LEAST: u32 = 1024;

/// The receivers of one link.
#[derive(Default)]
pub struct Granter {
    ready: VecDeque<PacedSource>,
    /// Those whose senders do not wait; some may be among `ready` as well.
    idle: VecDeque<PacedSource>,
    /// When the link has had time for all credit that was granted.
    free: Time,
    /// Whether the event of the next turn is pending.
    is_called: bool,
}

impl Granter {
    /// A receiver waits for its turn.
    pub fn add(&mut self, receiver: PacedSource) {
        self.ready.push_back(receiver);
    }

    /// A receiver waits for a turn that no other needs.
    pub fn add_idle(&mut self, receiver: PacedSource) {
        self.idle.push_back(receiver);
    }

    /// The event of a turn has come.
    pub fn called(&mut self) {
        self.is_called = false;
    }

    /// The receiver whose turn it is, and whether no other needs it.
    pub fn take(&mut self, now: Time) -> Option<(PacedSource, bool)> {
        if self.free > now {
            return None;
        }
        let ready = self.ready.pop_front().map(|receiver| (receiver, false));
        ready.or_else(|| self.idle.pop_front().map(|receiver| (receiver, true)))
    }

    /// A receiver that hears on the reverse of link `nic` grants so many bytes.
    pub fn grant(&mut self, config: &Config, nic: u32, bytes: u32, net: &Network<'_>) {
        let id = net.id(nic).reverse();
        let full = config.ip_bytes(config.mtu);
        let wire = net.fabric.link(id).overhead.wire_bytes(full.into());
        let packet = net.rate(id).tx_time(Bytes(wire.into())).ps() as f64;
        let time = packet / config.credit_rate * f64::from(bytes.max(LEAST)) / f64::from(full);
        self.free = net.now + Duration::from_ps(time as u64);
    }

    /// Has the next turn on the link `nic`, granter `number`, called, if a receiver waits.
    pub fn call(&mut self, number: u32, nic: u32, net: &mut Network<'_>) {
        let is_waiting = !self.ready.is_empty() || !self.idle.is_empty();
        if is_waiting && !self.is_called {
            self.is_called = true;
            net.schedule(nic, Timer::Credit(number), self.free, Order::Scheduled);
        }
    }
}

/// A [`Granter`] for each link, numbered like its turn and added when a receiver needs it.
#[derive(Default)]
pub struct Granters(Vec<Granter>);

impl Granters {
    /// The granter of this number.
    pub fn at(&mut self, number: u32) -> &mut Granter {
        let at = number as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Granter::default);
        }
        &mut self.0[at]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let places = |granter: &Granter| granter.ready.capacity() + granter.idle.capacity();
        let waiting = |granter| places(granter) * size_of::<PacedSource>();
        self.0.capacity() * size_of::<Granter>() + self.0.iter().map(waiting).sum::<usize>()
    }
}
