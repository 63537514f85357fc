//! How the switches of a [`Partition`] handle a window of time in rounds, one switch after the other.

use weft_units::{Duration, PortId, Time};

use super::Partition;
use crate::hosts::Hosts;
use crate::packet::Bound;
use crate::rounds::Arrival;

impl<H: Hosts> Partition<'_, H> {
    /// Handles the events of all switches before `end`; those of the hosts have been handled.
    pub(super) fn rounds(&mut self, end: Time) {
        let mut last = self.net.now;
        for switch in 0..self.net.rounds.switches() {
            if self.net.rounds.is_due(switch, end) {
                self.round(switch, end);
                last = last.max(self.net.now);
            }
        }
        self.net.rounds.end_window(end);
        self.net.now = last;
    }

    /// Handles the events of one switch before `end`.
    fn round(&mut self, switch: usize, end: Time) {
        let net = &mut self.net;
        net.rounds.gather(switch, end, &mut net.links);
        for link in net.rounds.outgoing(switch + 1) {
            net.links.prefetch(link);
            net.ports.prefetch(link);
        }
        net.rounds.foremost().for_each(|packet| net.packets.prefetch(packet));
        for place in 0..net.rounds.count() {
            if let Some(packet) = net.rounds.to_prefetch(place) {
                net.packets.prefetch(packet);
            }
            let (time, Arrival { packet, link, port }) = net.rounds.get(place);
            // Deadlines come before arrivals at the same time.
            self.switches.wake_before(switch, time + Duration::PICOSECOND, net);
            net.now = time;
            net.counters.packet_hops += 1;
            if net.packets.get(packet).is_watched() {
                net.observe(link, packet);
            }
            self.switches.receive(switch, PortId(port), Bound::undecided(packet), net);
        }
        self.switches.wake_before(switch, end, net);
        let next = self.switches.deadline(switch).min(net.serve_switch_before(switch, end));
        net.rounds.finish(next);
    }
}
