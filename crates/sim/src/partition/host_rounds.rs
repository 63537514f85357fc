//! How the hosts of a [`Partition`] handle a window of time in rounds, one host after the other.

use weft_units::{PortId, Time};

use super::Partition;
use crate::event_queue::rank;
use crate::hosts::{Hosts, World};
use crate::line::line_rank;
use crate::packet::PacketId;
use crate::rounds::Arrival;
use crate::served_port::Service;
use crate::turns::Turn;

/// The next event of a host.
#[derive(Clone, Copy)]
enum Next {
    /// Its first timer.
    Timer,
    /// The next arrival of the round.
    Arrival,
    /// The line of its port on this link becomes free.
    Line(u32),
    /// This turn.
    Turn(u32),
}

/// The first of several events, in the order of the event queue: simultaneous ones by rank, then in the order in which they
/// are offered.
struct First {
    at: Time,
    port: u32,
    next: Next,
}

impl First {
    #[inline(always)]
    fn offer(&mut self, at: Time, port: u32, next: Next) {
        if at < self.at || at == self.at && at < Time::MAX && rank(port, at) < rank(self.port, at) {
            *self = Self { at, port, next };
        }
    }
}

impl<H: Hosts> Partition<'_, H> {
    /// Handles the events of a host before `end`; returns the time of the last one. The hosts `ahead` are next.
    pub(super) fn host_round(&mut self, place: usize, end: Time, ahead: &[u32], world: &World<'_>) -> Time {
        self.net.rounds.gather(place, end, &mut self.net.links);
        self.prefetch(ahead, world);
        let host = self.net.rounds.layout.host(place);
        let (mut arrived, mut latest) = (0, Time::ZERO);
        loop {
            let (at, next) = self.next_of(place, arrived);
            if at >= end {
                self.net.rounds.finish(at);
                return latest;
            }
            self.net.now = at;
            latest = match next {
                Next::Timer => {
                    let timer = self.net.rounds.timers(place).pop();
                    match timer {
                        Some((_, id)) if self.timer(id.into(), place, world) => at,
                        _ => latest,
                    }
                }
                Next::Arrival => {
                    let (_, Arrival { packet, link, .. }) = self.net.rounds.get(arrived);
                    arrived += 1;
                    self.prefetch_end(packet, arrived, world);
                    self.net.cross(link, packet);
                    self.deliver(host, packet, world);
                    at
                }
                Next::Line(link) => {
                    self.net.line_free(link);
                    latest
                }
                Next::Turn(turn) => {
                    self.net.counters.events += 1;
                    self.turn(turn, world);
                    at
                }
            };
        }
    }

    /// The next event of a host, of whose arrivals so many have been handled; [`Time::MAX`] if there is none.
    #[inline(always)]
    fn next_of(&mut self, place: usize, arrived: usize) -> (Time, Next) {
        let net = &mut self.net;
        let mut first = First { at: Time::MAX, port: 0, next: Next::Arrival };
        if arrived < net.rounds.count() {
            let (at, Arrival { port, .. }) = net.rounds.get(arrived);
            first.offer(at, port.into(), Next::Arrival);
        }
        let links = net.rounds.layout.outgoing(place);
        if net.has_timed {
            for link in links.clone() {
                let port = net.ports.get(link);
                if port.is_some_and(|port| port.service == Service::Timed && !port.queues.is_empty()) {
                    let port = line_rank(PortId((link - links.start) as u16));
                    first.offer(net.links.busy_until(link), port, Next::Line(link));
                }
            }
        }
        if net.turns.count() > 0 {
            let turn = net.rounds.layout.turn(place);
            for turn in turn..turn + links.len() as u32 {
                if let Some(Turn { at, port }) = net.turns.get(turn) {
                    first.offer(*at, *port, Next::Turn(turn));
                }
            }
        }
        // Timers come before all others at the same time.
        let timer = net.rounds.timers(place).first();
        if timer <= first.at { (timer, Next::Timer) } else { (first.at, first.next) }
    }

    /// Prefetches the end that arrival number `next` of the round is for, if it is not that of `packet`.
    #[inline]
    fn prefetch_end(&self, packet: PacketId, next: usize, world: &World<'_>) {
        if next < self.net.rounds.count() {
            let packets = &self.net.packets;
            let owner = packets.owner_of(self.net.rounds.get(next).1.packet);
            if let Some(owner) = owner.filter(|owner| Some(*owner) != packets.owner_of(packet)) {
                self.hosts.prefetch(owner, world);
            }
        }
    }

    /// Prefetches the packets that reach this host, and the state of those `ahead`: each part needs the one before it to be
    /// found.
    fn prefetch(&self, ahead: &[u32], world: &World<'_>) {
        let (net, layout) = (&self.net, &self.net.rounds.layout);
        (0..net.rounds.count())
            .for_each(|arrival| net.packets.prefetch_all(net.rounds.get(arrival).1.packet));
        let next = |at: usize| ahead.get(at).map(|place| *place as usize);
        let incoming = |at| next(at).into_iter().flat_map(|host| layout.incoming(host));
        incoming(3).for_each(|link| net.links.prefetch(*link));
        incoming(2).for_each(|link| net.links.prefetch_window(*link));
        incoming(1).for_each(|link| net.packets.prefetch(net.links.first(*link).packet));
        for link in incoming(0) {
            if let Some(owner) = net.packets.owner_of(net.links.first(*link).packet) {
                self.hosts.prefetch(owner, world);
            }
        }
        for link in next(0).into_iter().flat_map(|host| layout.outgoing(host)) {
            net.links.prefetch(link);
            net.ports.prefetch(link);
        }
    }
}
