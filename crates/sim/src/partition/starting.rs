//! How a [`Partition`] starts flows: at their times, or once the flows have got far enough for which they wait.

use weft_traffic::Point;

use super::Partition;
use crate::event_queue::Order;
use crate::hosts::{Ctx, Hosts, World};
use crate::journal::FlowNumber;
use crate::timer::Timer;
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
        let mut satisfied = vec![(edge, self.net.now)];
        while let Some((edge, at)) = satisfied.pop() {
            match world.waiting.satisfy(edge, at) {
                Some((Ready::Flow(flow), start)) => {
                    self.net.queue.schedule(Timer::Begin(flow).into(), start, Order::Scheduled);
                }
                Some((Ready::Edges(edges), reached)) => {
                    satisfied.extend(edges.rev().map(|edge| (edge, reached)));
                }
                None => {}
            }
        }
    }

    /// Starts a flow.
    pub(super) fn begin(&mut self, number: FlowNumber, world: &World<'_>) {
        let flow = &world.flows[number as usize];
        let ideal = match world.connections.continues(number) {
            true => self.ideal.fct_on_open(self.net.fabric, &self.shortest, flow),
            false => self.ideal.fct(self.net.fabric, &self.shortest, flow),
        };
        self.begun.insert(number, (self.net.now, ideal));
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
            _ => self.hosts.open(number, &mut Ctx { net: &mut self.net, nics: &self.nics, world }),
        }
    }
}
