//! How the hosts of a [`Partition`] resolve addresses by ARP before they open connections.

use weft_switching::{DropReason, Header, Kind};
use weft_units::{HostId, PortId};

use super::Partition;
use crate::hosts::{Hosts, World, node_of};
use crate::journal::FlowNumber;
use crate::packet::PacketId;
use crate::resolver::{self, Question};
use crate::timer::Timer;
use crate::timer_heap::Order;
use crate::trace::TraceEvent;

impl<H: Hosts> Partition<'_, H> {
    /// Sends an ARP Request from the source of flow `number` and schedules the retry.
    pub(super) fn ask(&mut self, number: FlowNumber, world: &World<'_>) {
        let flow = &world.flows[number as usize];
        let question: Question = (flow.src, flow.dst);
        if !self.resolver.as_ref().is_some_and(|resolver| resolver.is_waiting(question)) {
            return;
        }
        let nic = self.nics.by_hash(&self.net, flow, 0);
        self.send_alone(nic, &resolver::request(question));
        let again = self.net.now + resolver::RETRY;
        self.net.schedule(nic, Timer::Ask(number), again, Order::Scheduled);
    }

    /// A host sends a frame that belongs to no connection.
    fn send_alone(&mut self, link: u32, header: &Header) {
        self.net.counters.packets_sent += 1;
        let packet = self.net.packets.packet_without_segment(header);
        self.net.send(link, packet);
    }

    /// Delivers a frame that belongs to no connection to a host.
    #[cold]
    pub(super) fn deliver_alone(&mut self, host: HostId, packet: PacketId, world: &World<'_>) {
        let header = self.net.packets.get(packet).header;
        let node = node_of(&self.net, host);
        let Some(sender) = header.source() else {
            return self.net.drop(node, packet, DropReason::NotForMe);
        };
        self.net.trace(|_| TraceEvent::Delivered { frame: packet });
        self.net.deliver(packet);
        match header.kind {
            Kind::ArpRequest if resolver::target(&header) == host => {
                let nic = self.net.link_at(node, PortId(0));
                self.send_alone(nic, &resolver::reply(host, sender));
                self.learn((host, sender), world);
            }
            Kind::ArpReply if header.destination() == Some(host) => {
                self.learn((host, sender), world);
            }
            _ => {}
        }
    }

    /// Records that the first host knows the second's address, and opens the flows that waited for it.
    fn learn(&mut self, question: Question, world: &World<'_>) {
        let now = self.net.now;
        let flows = self.resolver.as_mut().map_or_else(Vec::new, |resolver| resolver.learn(question, now));
        for flow in flows {
            self.at_hosts(world, |hosts, cx| hosts.open(flow, cx));
        }
    }
}
