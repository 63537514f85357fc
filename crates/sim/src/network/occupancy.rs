//! How much waits in the queues of a [`Network`], and counters of its links.

use weft_switching::Header;
use weft_units::{Bytes, Duration, LinkId, Time};

use super::Network;
use crate::deadlock::PausedQueues;
use crate::line::LinkCounters;
use crate::record::FloodCounters;
use crate::served_port::{PortCounters, Service};

impl Network<'_> {
    /// When the last packet accepted by `link` will have left, if flow control does not pause it.
    pub fn departure(&self, link: u32) -> Time {
        let waiting = self.ports.get(link).map_or(Duration::ZERO, |port| port.queues.time());
        self.links.busy_until(link) + waiting
    }

    /// Bytes that have not left the port of `link` yet.
    pub fn backlog(&self, link: u32) -> Bytes {
        match self.ports.get(link) {
            None => self.links.backlog(link, self.now),
            Some(port) if port.service == Service::Coupled => {
                self.links.backlog(link, self.now) + port.queues.bytes()
            }
            // Whichever of them have been served.
            Some(port) => self.links.backlog_with(link, self.now, port.queues.time()),
        }
    }

    /// Bytes of a traffic class that have not left the port of `link` yet, and those of the packet that is leaving.
    pub fn backlog_of(&self, link: u32, class: usize) -> u64 {
        self.links.backlog(link, self.now).0 + self.ports.get(link).map_or(0, |port| port.queues.of(class).0)
    }

    /// The traffic class of packets with this header at the port of `link`.
    pub fn class_at(&self, link: u32, header: &Header) -> usize {
        self.ports.get(link).map_or(0, |port| port.class_of(header))
    }

    /// Bytes and packets waiting at link `id`.
    pub fn waiting(&self, id: LinkId) -> (Bytes, u32) {
        let link = self.numbers[id.index()];
        let packets = match self.ports.get(link) {
            Some(port) => port.queues.packets(),
            None => self.links.waiting(link, self.now),
        };
        (self.backlog(link), packets)
    }

    /// The counters of link `id`.
    pub fn counters_of(&self, id: LinkId) -> LinkCounters {
        let link = self.numbers[id.index()];
        let counters = self.links.counters(link, self.now);
        let longest = self.ports.get(link).map_or(Bytes(0), |port| port.longest);
        LinkCounters { max_backlog: counters.max_backlog.max(longest), ..counters }
    }

    /// The flooded frames on link `id`.
    pub fn floods_of(&self, id: LinkId) -> FloodCounters {
        self.floods[self.numbers[id.index()] as usize]
    }

    /// The counters of the port of link `id`, if it may cut packets or be paused.
    pub fn port_counters(&self, id: LinkId) -> Option<PortCounters> {
        let trims = self.fabric.link(id).queue.trim;
        self.ports.counters(self.numbers[id.index()], trims, self.now)
    }

    /// Adds the queues that the switches of the partition pause, and the buffers of these switches.
    pub fn add_paused(&self, found: &mut PausedQueues) {
        self.ports.accounts.add_paused(self.fabric, &self.ids, found);
    }

    /// Adds the content of the partition's queues whose last pause frame has come. Queues that pause them are known.
    pub fn add_held(&self, found: &mut PausedQueues) {
        self.ports.add_held(self.fabric, &self.ids, found);
    }
}
