//! [`Gray`]: a link that silently loses packets: a share of all at random, or all packets of a share of flows.
//!
//! Nothing else notices: the link stays up, and no route changes. A packet is lost where it would enter the queue, so
//! lost packets take none of the link's bandwidth. The draw is a hash of the run's seed, the link and the number of the
//! packet among those offered to the link, so results do not depend on the number of threads.

use weft_scenario::LinkChange;
use weft_switching::{DropReason, Header, mix64};
use weft_units::{LinkId, Time};

/// The losses of one link.
#[derive(Clone, Copy, Debug)]
pub struct Gray {
    /// Loss rate, in units of 2^-32.
    loss: u64,
    blackhole: u64,
    /// Hash for random losses: of the seed, the link, and the time of the change.
    draws: u64,
    /// Hash for blackholes: of the seed and the link, so that a given share always affects the same flows.
    flows: u64,
    /// Packets offered.
    offered: u64,
    /// The numbers (from 1) of the events that set the random losses and the blackholes.
    events: [u32; 2],
}

/// The share 1.
const ALL: f64 = 4_294_967_296.0;

impl Gray {
    /// Creates a state without losses, for `link` in the run with `seed`.
    pub const fn new(seed: u64, link: LinkId) -> Self {
        let flows = mix64(seed ^ mix64(link.0 as u64 + 1));
        Self { loss: 0, blackhole: 0, draws: flows, flows, offered: 0, events: [0; 2] }
    }

    /// Changes the shares of packets and of flows that are lost, by the event with this number (from 1).
    pub fn change(&mut self, now: Time, change: &LinkChange, event: u32) {
        if let Some(share) = change.loss {
            (self.loss, self.events[0]) = ((share * ALL).round() as u64, event);
        }
        if let Some(share) = change.blackhole {
            (self.blackhole, self.events[1]) = ((share * ALL).round() as u64, event);
        }
        self.draws = mix64(self.flows ^ mix64(now.ps()));
        self.offered = 0;
    }

    /// Whether nothing is lost.
    pub const fn is_healthy(&self) -> bool {
        self.loss == 0 && self.blackhole == 0
    }

    /// The number of the event that makes the link lose packets for this reason.
    pub fn event_of(&self, reason: DropReason) -> u32 {
        self.events[usize::from(reason == DropReason::Blackhole)]
    }

    /// Draws whether the next packet is lost; returns the reason if it is.
    pub fn draw_loss(&mut self, header: &Header) -> Option<DropReason> {
        self.offered += 1;
        if header.is_of_flow() && mix64(self.flows ^ u64::from(header.flow_hash)) >> 32 < self.blackhole {
            return Some(DropReason::Blackhole);
        }
        (mix64(self.draws ^ mix64(self.offered)) >> 32 < self.loss).then_some(DropReason::LinkLoss)
    }
}
