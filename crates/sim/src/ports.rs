//! [`Ports`]: the served ports of a partition, and the accounts of what waits at them: shared buffers of switches, and
//! links with flow control.

use std::collections::BTreeMap;

use weft_fabric::{Fabric, class_of};
use weft_switching::Header;
use weft_units::{LinkId, NodeId, Time};

use crate::class_queue::{Charge, Waiting};
use crate::deadlock::{Held, PausedQueues};
use crate::deposit::Deposit;
use crate::packet::PacketId;
use crate::packet::slab::Slab;
use crate::pfc::Ingress;
use crate::served_port::{PortCounters, ServedPort, Service, is_trimmable};
use crate::shared_buffer::Buffer;

/// No link: the packet was made here.
const NOWHERE: u32 = u32::MAX;

/// The outcome for a packet that has to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joined {
    /// The packet for which there was no space: it, or one that was cut in its place.
    pub lost: Option<PacketId>,
    /// Whether it was marked.
    pub marked: bool,
    /// A link with flow control whose account has changed, or two.
    pub charged: [Option<u32>; 2],
}

/// The served ports of a partition, by link.
#[derive(Default)]
pub struct Ports {
    /// Empty if no port is served.
    ports: Vec<Option<ServedPort>>,
    /// Buffers of the partition's switches, if their queues share them.
    buffers: Vec<Buffer>,
    /// Accounts of the links with flow control into the partition's switches; empty without flow control.
    ingress: Vec<Option<Ingress>>,
    /// The link over which a packet came, by packet; empty without flow control.
    came_over: Vec<u32>,
    /// The queue that a switch has chosen for the packet being sent, numbered like a tag's QID; 0 if the port chooses.
    pub chosen_queue: u8,
}

/// Whether the port of a link is served.
fn is_served(fabric: &Fabric, id: LinkId, uses_pfc: bool) -> bool {
    let link = fabric.link(id);
    let shares = fabric.buffer().is_some() && !fabric.node(link.from).is_host();
    !link.queue.is_simple() || uses_pfc || shares
}

impl Ports {
    /// The ports of these links, which a partition has if they are its `own`; full packets have `full_packet` bytes.
    pub fn new(
        fabric: &Fabric,
        seed: u64,
        full_packet: u32,
        links: &[LinkId],
        is_own: impl Fn(NodeId) -> bool,
    ) -> Self {
        let mut buffers = Vec::new();
        let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
        let uses_pfc = fabric.uses_pfc();
        let ports = links.iter().map(|&id| {
            let link = fabric.link(id);
            if !is_own(link.from) || !is_served(fabric, id, uses_pfc) {
                return None;
            }
            let buffer = places.get(&link.from).copied().or_else(|| {
                buffers.push(Buffer::new(fabric, link.from)?);
                places.insert(link.from, buffers.len() - 1);
                Some(buffers.len() - 1)
            });
            let is_at_host = fabric.node(link.from).is_host();
            let service = match (uses_pfc || buffer.is_some(), is_at_host || !is_own(link.to)) {
                (true, _) => Service::Coupled,
                (false, true) => Service::Timed,
                (false, false) => Service::Lazy,
            };
            Some(ServedPort::new(id, link, seed, is_at_host, full_packet, service, buffer))
        });
        let ports: Vec<Option<ServedPort>> = ports.collect();
        let account = |id: &LinkId| Ingress::new(fabric, *id).filter(|_| is_own(fabric.link(*id).to));
        Self {
            ports: if ports.iter().all(Option::is_none) { Vec::new() } else { ports },
            buffers,
            ingress: if uses_pfc { links.iter().map(account).collect() } else { Vec::new() },
            came_over: Vec::new(),
            chosen_queue: 0,
        }
    }

    /// Whether no port is served.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Whether some port is lazy.
    pub fn has_lazy(&self) -> bool {
        self.ports.iter().flatten().any(|port| port.service == Service::Lazy)
    }

    /// Whether some port is served when its line becomes free.
    pub fn has_timed(&self) -> bool {
        self.ports.iter().flatten().any(|port| port.service != Service::Lazy)
    }

    /// The port of a link, if it is served.
    pub fn get(&self, link: u32) -> Option<&ServedPort> {
        self.ports.get(link as usize)?.as_ref()
    }

    /// The port of a link, if it is served.
    pub fn get_mut(&mut self, link: u32) -> Option<&mut ServedPort> {
        self.ports.get_mut(link as usize)?.as_mut()
    }

    /// Records the link of a packet that starts over a link of the partition, or has come over one from another.
    pub fn record_link(&mut self, link: u32, packet: PacketId) {
        if self.ingress.is_empty() {
            return;
        }
        let place = packet as usize;
        if self.came_over.len() <= place {
            self.came_over.resize(place + 1, NOWHERE);
        }
        self.came_over[place] = link;
    }

    /// Records a packet made in the partition; a copy keeps the link of its original.
    pub fn record_made(&mut self, packet: PacketId, copy_of: Option<PacketId>) {
        let from = copy_of.and_then(|of| self.came_over.get(of as usize).copied());
        self.record_link(from.unwrap_or(NOWHERE), packet);
    }

    /// The account of the link over which a packet came, and its queue there, if that queue is lossless.
    fn ingress_of(&self, packet: PacketId, header: &Header) -> Option<(u32, u8)> {
        let link = *self.came_over.get(packet as usize)?;
        let ingress = self.ingress.get(link as usize)?.as_ref()?;
        let queue = class_of(header.traffic_class, ingress.queues);
        ingress.is_lossless(queue).then_some((link, queue as u8))
    }

    /// Whether a packet came over no link: a switch has made it, or the controller returned it.
    fn is_made_here(&self, packet: PacketId) -> bool {
        self.came_over.get(packet as usize).is_none_or(|link| *link == NOWHERE)
    }

    /// The accounts in which a packet that joins a queue counts; `None` if there is no space.
    fn admit(
        &self,
        port: &ServedPort,
        class: usize,
        packet: PacketId,
        header: &Header,
        wire_bytes: u32,
    ) -> Option<Charge> {
        if port.is_at_switch && port.is_lossless(class) && self.is_made_here(packet) {
            // No sender can be paused for it.
            let buffer = port.buffer.map(|place| &self.buffers[place]);
            let fits = buffer.is_none_or(|buffer| buffer.fits_lossless(wire_bytes));
            return fits.then_some(Charge { ingress: None, shared: buffer.is_some() });
        }
        let ingress = if port.is_at_switch { self.ingress_of(packet, header) } else { None };
        let length = port.queues.of(class).0;
        self.account(ingress, port.buffer, wire_bytes, length, || port.fits(class, wire_bytes))
    }

    /// The accounts in which a packet of this queue of a lossless link, or else of a queue of this length that it
    /// `fits`, counts; `None` if there is no space.
    fn account(
        &self,
        ingress: Option<(u32, u8)>,
        buffer: Option<usize>,
        wire_bytes: u32,
        length: u64,
        fits: impl FnOnce() -> bool,
    ) -> Option<Charge> {
        let buffer = buffer.map(|place| &self.buffers[place]);
        let Some((link, queue)) = ingress else {
            let fits = fits() && buffer.is_none_or(|buffer| buffer.fits(length, wire_bytes));
            return fits.then_some(Charge { ingress: None, shared: buffer.is_some() });
        };
        let account = self.ingress[link as usize].as_ref()?;
        let shared = buffer.is_some() && account.shares();
        account.fits(queue.into(), wire_bytes, buffer).then_some(Charge { ingress, shared })
    }

    /// A packet has to wait for the line of `link`. `wire` returns lengths on the wire, `mark` marks.
    pub fn push(
        &mut self,
        link: u32,
        packet: PacketId,
        packets: &mut Slab,
        wire: impl Fn(&Header) -> u32,
        mark: impl Fn(&mut Header) -> bool,
    ) -> Joined {
        let Some(mut port) = self.ports.get_mut(link as usize).and_then(Option::take) else {
            return Joined { lost: Some(packet), ..Joined::default() };
        };
        let joined = self.join(&mut port, packet, packets, &wire, &mark);
        self.ports[link as usize] = Some(port);
        joined
    }

    fn join(
        &mut self,
        port: &mut ServedPort,
        packet: PacketId,
        packets: &mut Slab,
        wire: &impl Fn(&Header) -> u32,
        mark: &impl Fn(&mut Header) -> bool,
    ) -> Joined {
        let mut joined = Joined::default();
        let header = packets.get(packet).header;
        let (class, wire_bytes) = (port.class_for(&header, self.chosen_queue), wire(&header));
        if let Some(charge) = self.admit(port, class, packet, &header, wire_bytes) {
            joined.marked = port.marks_joining(class) && mark(&mut packets.get_mut(packet).header);
            joined.charged[0] = self.enter(port, class, Waiting { packet, wire_bytes, charge });
            return joined;
        }
        if !port.trims(&header) {
            return Joined { lost: Some(packet), ..joined };
        }
        let mut cut = packet;
        let last = port.queues.last(class).copied();
        let last = last
            .filter(|last| last.wire_bytes >= wire_bytes && is_trimmable(&packets.get(last.packet).header));
        if let Some(last) = last
            && port.trims_last()
        {
            port.queues.take_last(class);
            joined.charged[1] = self.release(port, &last);
            match self.admit(port, class, packet, &header, wire_bytes) {
                Some(charge) => {
                    joined.charged[0] = self.enter(port, class, Waiting { packet, wire_bytes, charge });
                    cut = last.packet;
                }
                // Only another limit than that of the queue can be in the way: both are cut, one is lost.
                None => joined.lost = Some(last.packet),
            }
        }
        port.count_trimmed();
        packets.get_mut(cut).header.trim();
        let header = packets.get(cut).header;
        let (class, wire_bytes) = (port.class_of(&header), wire(&header));
        match self.admit(port, class, cut, &header, wire_bytes) {
            Some(charge) => {
                let charged = self.enter(port, class, Waiting { packet: cut, wire_bytes, charge });
                joined.charged[0] = joined.charged[0].or(charged);
            }
            None if joined.lost.is_none() => joined.lost = Some(cut),
            None => {}
        }
        joined
    }

    /// Puts a packet into a queue; returns the link with flow control whose account has changed.
    fn enter(&mut self, port: &mut ServedPort, class: usize, waiting: Waiting) -> Option<u32> {
        let deposit = Deposit::of(port, &waiting);
        port.queues.push(class, waiting);
        self.charge(&deposit)
    }

    /// A switch with the port of `link` holds a packet, outside of its queues. Returns its place in the accounts, and the
    /// link with flow control whose account has changed; `None` if there is no space.
    pub fn hold(
        &mut self,
        link: u32,
        packet: PacketId,
        header: &Header,
        wire_bytes: u32,
    ) -> Option<(Deposit, Option<u32>)> {
        let buffer = self.get(link).and_then(|port| port.buffer);
        let charge = self.account(self.ingress_of(packet, header), buffer, wire_bytes, 0, || true)?;
        let deposit = Deposit { buffer, wire_bytes, charge };
        Some((deposit, self.charge(&deposit)))
    }

    fn charge(&mut self, deposit: &Deposit) -> Option<u32> {
        let Deposit { buffer, wire_bytes, charge } = *deposit;
        if charge.shared
            && let Some(place) = buffer
        {
            self.buffers[place].take(wire_bytes);
        }
        let (link, queue) = charge.ingress?;
        let buffer = buffer.map(|place| &self.buffers[place]);
        self.ingress[link as usize].as_mut()?.charge(queue.into(), wire_bytes, buffer);
        Some(link)
    }

    /// Returns the space of a packet; returns the link with flow control whose account has changed.
    pub fn refund(&mut self, deposit: &Deposit) -> Option<u32> {
        let Deposit { buffer, wire_bytes, charge } = *deposit;
        if charge.shared
            && let Some(place) = buffer
        {
            self.buffers[place].give(wire_bytes);
        }
        let (link, queue) = charge.ingress?;
        let buffer = buffer.map(|place| &self.buffers[place]);
        self.ingress[link as usize].as_mut()?.release(queue.into(), wire_bytes, buffer);
        Some(link)
    }

    /// Returns the space of a packet that has left `port`; returns the link with flow control whose account has changed.
    fn release(&mut self, port: &ServedPort, waiting: &Waiting) -> Option<u32> {
        self.refund(&Deposit::of(port, waiting))
    }

    /// Removes the packet that the port of `link` sends next. Returns it, and the link with flow control whose account has
    /// changed; whether it was marked is counted by `mark`.
    pub fn pop(
        &mut self,
        link: u32,
        packets: &mut Slab,
        mark: impl FnOnce(&mut Header),
    ) -> Option<(Waiting, Option<u32>)> {
        let mut port = self.ports.get_mut(link as usize)?.take()?;
        let next = port.next_queue().and_then(|class| {
            let marks = port.marks_leaving(class);
            let waiting = port.queues.take_first(class)?;
            if marks {
                mark(&mut packets.get_mut(waiting.packet).header);
            }
            Some((waiting, self.release(&port, &waiting)))
        });
        self.ports[link as usize] = Some(port);
        next
    }

    /// Removes all packets of a link that goes down; returns them, and the links whose accounts have changed.
    pub fn clear(&mut self, link: u32, now: Time) -> (Vec<PacketId>, Vec<u32>) {
        if let Some(ingress) = self.ingress.get_mut(link as usize).and_then(Option::as_mut) {
            ingress.reset();
        }
        let Some(mut port) = self.ports.get_mut(link as usize).and_then(Option::take) else {
            return (Vec::new(), Vec::new());
        };
        let lost = port.clear(now);
        let charged = lost.iter().filter_map(|waiting| self.release(&port, waiting)).collect();
        self.ports[link as usize] = Some(port);
        (lost.iter().map(|waiting| waiting.packet).collect(), charged)
    }

    /// A link of which the other direction is `back` is up again.
    pub fn reassess(&mut self, link: u32, back: u32) {
        let place = self.get(back).and_then(|port| port.buffer);
        let buffer = place.map(|place| self.buffers[place]);
        if let Some(ingress) = self.ingress.get_mut(link as usize).and_then(Option::as_mut) {
            ingress.reassess(buffer.as_ref());
        }
    }

    /// The PFC frame that announces the paused queues to the sender of `link`, if they have changed.
    pub fn news_for(&mut self, link: u32) -> Option<Header> {
        let ingress = self.ingress.get_mut(link as usize)?.as_mut()?;
        ingress.has_news().then(|| ingress.announce())
    }

    /// The counters of a port that may cut packets, or in a fabric with flow control.
    pub fn counters(&self, link: u32, trims: bool, now: Time) -> Option<PortCounters> {
        let port = self.get(link)?;
        (trims || !self.ingress.is_empty()).then(|| port.counters(now))
    }

    /// Adds the queues that the switches of the partition pause, and the buffers of these switches.
    pub fn add_paused(&self, fabric: &Fabric, ids: &[LinkId], found: &mut PausedQueues) {
        for (id, ingress) in ids.iter().zip(&self.ingress) {
            let Some(ingress) = ingress else { continue };
            let node = fabric.link(*id).to;
            for queue in 0..ingress.queues {
                if let Some(pause) = ingress.pause(queue, node) {
                    found.pauses.insert((*id, queue as u8), pause);
                }
            }
        }
        for (id, port) in ids.iter().zip(&self.ports) {
            if let Some(place) = port.as_ref().and_then(|port| port.buffer) {
                found.buffers.insert(fabric.link(*id).from, self.buffers[place]);
            }
        }
    }

    /// Adds what the queues of the partition hold whose last pause frame has come. Those that pause them have been found.
    pub fn add_held(&self, fabric: &Fabric, ids: &[LinkId], found: &mut PausedQueues) {
        for (id, port) in ids.iter().zip(&self.ports) {
            let Some(port) = port.as_ref().filter(|port| port.paused() != 0) else { continue };
            for class in (0..port.queues.count()).filter(|class| port.paused() >> class & 1 == 1) {
                let queue = (*id, class as u8);
                let is_paused = found.pauses.get(&queue).is_some_and(|pause| port.has_heeded(pause.frames));
                if port.queues.of(class).1 == 0 || !is_paused {
                    continue;
                }
                let mut held = Held::default();
                // Packets of a host came over no link.
                for Waiting { wire_bytes, charge, .. } in
                    port.queues.packets(class).take_while(|_| port.is_at_switch)
                {
                    if let Some((from, queue)) = charge.ingress {
                        *held.origins.entry((ids[from as usize], queue)).or_insert(0) +=
                            u64::from(*wire_bytes);
                    }
                    if charge.shared {
                        held.shared.get_or_insert((fabric.link(*id).from, 0)).1 += u64::from(*wire_bytes);
                    }
                }
                found.held.insert(queue, held);
            }
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.came_over.capacity() * size_of::<u32>()
    }
}
