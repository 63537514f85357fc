//! How the nodes of a [`Partition`] handle a window of time in rounds, one node after the other, and the rounds of switches.

use weft_units::{Duration, PortId, Time};

use super::Partition;
use crate::hosts::{Hosts, World};
use crate::packet::Bound;
use crate::rounds::Arrival;

impl<H: Hosts> Partition<'_, H> {
    /// Handles the events of all nodes before `end`.
    pub(super) fn rounds(&mut self, end: Time, world: &World<'_>) {
        self.schedule_starts(end, world);
        let mut last = self.net.now;
        let [mut hosts, mut switches] = self.net.rounds.take_due(end);
        while let Some(host) = hosts.next() {
            last = last.max(self.host_round(host, end, hosts.ahead(), world));
        }
        while let Some(switch) = switches.next() {
            last = last.max(self.round(switch, end, switches.ahead()));
        }
        self.net.rounds.end_window(end, [hosts, switches]);
        self.net.now = last;
    }

    /// Handles the events of a switch before `end`; returns the time of the last one. The switches `ahead` are next.
    fn round(&mut self, switch: usize, end: Time, ahead: &[u32]) -> Time {
        let net = &mut self.net;
        let mut latest = Time::ZERO;
        net.rounds.gather(switch, end, &mut net.links);
        net.rounds.foremost().for_each(|packet| net.packets.prefetch(packet));
        let layout = &net.rounds.layout;
        let next = |at: usize| ahead.get(at).map(|place| *place as usize);
        // With few arrivals, few of the ports are needed.
        if net.rounds.count() >= layout.outgoing(switch).len() {
            layout.outgoing(switch).for_each(|link| net.ports.prefetch_queues(link));
            for link in next(0).into_iter().flat_map(|switch| layout.outgoing(switch)) {
                net.links.prefetch(link);
                net.ports.prefetch(link);
            }
        }
        let incoming = |at| next(at).into_iter().flat_map(|switch| layout.incoming(switch));
        incoming(0).for_each(|link| net.links.prefetch_window(*link));
        incoming(1).for_each(|link| net.links.prefetch(*link));
        for place in 0..net.rounds.count() {
            if let Some(packet) = net.rounds.to_prefetch(place) {
                net.packets.prefetch(packet);
            }
            let (time, Arrival { packet, link, port }) = net.rounds.get(place);
            // Deadlines come before arrivals at the same time.
            latest = self.switches.wake_before(switch, time + Duration::PICOSECOND, net).max(time);
            net.now = time;
            net.cross(link, packet);
            self.switches.receive(switch, PortId(port), Bound::undecided(packet), net);
        }
        latest = self.switches.wake_before(switch, end, net).max(latest);
        let next = self.switches.deadline(switch).min(net.serve_switch_before(switch, end));
        net.rounds.finish(next);
        latest
    }
}
