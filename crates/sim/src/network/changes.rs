//! How links of a [`Network`] go down and come up, change their rates and lose packets.

use weft_scenario::LinkChange;
use weft_units::{LinkId, Rate, Time};

use super::{ELSEWHERE, Network};
use crate::gray::Gray;
use crate::packet::PacketId;
use crate::served_port::Service;

impl Network<'_> {
    /// Takes a link down, if one of its ends is here; returns the packets lost on it. Those that wait at its port are still
    /// there until [`Network::set_up`].
    pub fn cut(&mut self, id: LinkId) -> Vec<PacketId> {
        let Some(number) = self.number(id) else { return Vec::new() };
        // A packet whose line becomes free now is not sent any more, in any partition.
        self.serve_before(number, self.now);
        if !self.rounds.is_on() {
            self.queue.clear(number);
        }
        let lost = self.links.fail(number, self.now);
        if self.ports.get(number).is_some_and(|port| port.service != Service::Lazy) {
            self.set_line(number, Time::MAX);
        }
        lost
    }

    /// Takes a link up or, after [`Network::cut`], empties its port, if one of its ends is here; returns the packets lost.
    pub fn set_up(&mut self, id: LinkId, up: bool) -> Vec<PacketId> {
        let Some(number) = self.number(id) else { return Vec::new() };
        if up {
            self.links.heal(number);
            self.resume_flow_control(number);
            return Vec::new();
        }
        self.clear_port(number)
    }

    /// Changes the losses of link `id`, whose sending end is here, in the run with `seed`; `event` is the number of the event
    /// (from 1).
    pub fn set_losses(&mut self, id: LinkId, change: &LinkChange, seed: u64, event: u32) {
        let link = self.numbers[id.index()];
        let gray = self.grays.entry(link).or_insert_with(|| Gray::new(seed, id));
        gray.change(self.now, change, event);
        let is_gray = !gray.is_healthy();
        if !is_gray {
            self.grays.remove(&link);
        }
        self.links.set_aside(link, is_gray || self.ports.get(link).is_some());
    }

    /// Changes the rate of link `id`, if one of its ends is here.
    pub fn set_rate(&mut self, id: LinkId, new: Rate) {
        let link = self.numbers[id.index()];
        if link == ELSEWHERE {
            return;
        }
        // A packet whose line becomes free now is sent at the new rate.
        self.serve_before(link, self.now);
        let old = self.rate(id);
        self.rates.insert(link, new);
        if let Some(port) = self.ports.get_mut(link) {
            port.queues.set_rate(new);
        }
        self.links.set_rate(link, self.now, old, new);
        let due = self.links.first_arrival(link);
        if due < Time::MAX {
            if !self.rounds.is_on() {
                self.queue.set(link, self.links.far_port(link), due);
            } else if let Some(place) = self.rounds.layout.receiver(link) {
                self.rounds.note(place, due);
            }
        }
        if self.ports.get(link).is_some_and(|port| port.line_busy) {
            self.set_line(link, self.links.busy_until(link));
        }
        self.time_line(link);
    }
}
