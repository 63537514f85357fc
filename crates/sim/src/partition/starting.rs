//! How a [`Partition`] starts flows: at their times, or once the flows have got far enough for which they wait.

use weft_traffic::{Flow, Point};
use weft_units::{PortId, Time};

use super::{Notice, Partition};
use crate::hosts::{Hosts, World};
use crate::journal::FlowNumber;
use crate::ring_path::PartTimes;
use crate::timer::Timer;
use crate::timer_heap::Order;
use crate::trace::TraceEvent;
use crate::waiting::Ready;

impl<H: Hosts> Partition<'_, H> {
    /// Starts the next flow that waits for no other.
    pub(super) fn start(&mut self, world: &World<'_>) {
        let number = self.starts[self.next];
        self.next += 1;
        if let Some(next) = self.starts.get(self.next) {
            let start = world.flows[*next as usize].start;
            self.net.queue.schedule(Timer::Start.into(), start, Order::First(0));
        }
        self.begin(number, world);
    }

    /// In rounds, schedules the starts before `end` at their hosts.
    pub(super) fn schedule_starts(&mut self, end: Time, world: &World<'_>) {
        while let Some(number) = self.starts.get(self.next).copied()
            && world.flows[number as usize].start < end
        {
            self.next += 1;
            self.schedule_begin(number, world.flows[number as usize].start, Order::First(0), world);
        }
        let next = self.starts.get(self.next);
        self.net.rounds.next_start = next.map(|next| world.flows[*next as usize].start);
    }

    fn schedule_begin(&mut self, flow: FlowNumber, at: Time, order: Order, world: &World<'_>) {
        let host = self.net.fabric.host_node(world.flows[flow as usize].src);
        self.net.schedule(self.net.link_at(host, PortId(0)), Timer::Begin(flow), at, order);
    }

    /// Starts the flows that wait for points that other flows have reached at hosts of this partition. Where the waiting flow
    /// is at another host, in this partition or not, the engine starts it a lookahead later.
    #[cold]
    pub(super) fn go_on(&mut self, world: &World<'_>) {
        for (flow, point) in std::mem::take(&mut self.net.reached) {
            for (edge, _, is_here) in world.waiting.after(flow, point) {
                if is_here {
                    self.satisfy(edge, world);
                } else {
                    self.net.journal.is_urgent = true;
                }
            }
        }
    }

    /// Satisfies the dependency of an edge, now.
    pub(super) fn satisfy(&mut self, edge: u32, world: &World<'_>) {
        self.satisfy_all(vec![(edge, self.net.now)], world);
    }

    /// A step joins the queue of its processor, now.
    pub(super) fn begin_work(&mut self, step: u32, world: &World<'_>) {
        let (edges, begins) = world.waiting.begin_work(step, self.net.now);
        self.satisfy_all(edges.rev().map(|edge| (edge, begins)).collect(), world);
    }

    /// Satisfies the dependencies of edges, the last one first, each at its time.
    fn satisfy_all(&mut self, mut satisfied: Vec<(u32, Time)>, world: &World<'_>) {
        while let Some((edge, at)) = satisfied.pop() {
            match world.waiting.satisfy(edge, at) {
                Some((Ready::Flow(flow), start)) => {
                    self.schedule_begin(flow, start, Order::Scheduled, world);
                }
                Some((Ready::Edges(edges), reached)) => {
                    satisfied.extend(edges.rev().map(|edge| (edge, reached)));
                }
                Some((Ready::Work(step), at)) => {
                    let node = self.net.fabric.host_node(world.waiting.host(step));
                    self.notify(node, at, Notice::Work(step));
                }
                None => {}
            }
        }
    }

    /// Starts a flow.
    pub(super) fn begin(&mut self, number: FlowNumber, world: &World<'_>) {
        let flow = &world.flows[number as usize];
        self.net.trace(|_| TraceEvent::Started { flow: number });
        let part = world.parts.of(number).map(|series| series.size(0));
        let of = |bytes| Flow { bytes, ..*flow };
        let on_open = |bytes| self.ideal.fct_on_open(self.net.fabric, &self.shortest, &of(bytes));
        let (alone, hops) = match world.connections.continues(number) {
            true => on_open(part.unwrap_or(flow.bytes)),
            false => self.ideal.fct(self.net.fabric, &self.shortest, &of(part.unwrap_or(flow.bytes))),
        };
        let of_part = |bytes| self.ideal.of_part(self.net.fabric, &self.shortest, flow, bytes);
        let ideal = PartTimes { alone, ..part.map(of_part).unwrap_or_default() };
        self.begun.insert(number, (self.net.now, ideal, hops));
        for (edge, _, _) in world.waiting.after(number, Point::Started) {
            self.satisfy(edge, world);
        }
        let question = (flow.src, flow.dst);
        match &mut self.resolver {
            Some(resolver) if !resolver.knows(question, self.net.now) => {
                if resolver.wait(question, number) {
                    self.ask(number, world);
                }
            }
            _ => self.at_hosts(world, |hosts, cx| hosts.open(number, cx)),
        }
    }
}
