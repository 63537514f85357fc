//! [`Accounts`]: the space that packets take in the switches of a partition: shared buffers, and links with flow control.

use std::collections::BTreeMap;

use weft_fabric::{Fabric, class_of};
use weft_switching::Header;
use weft_units::{LinkId, NodeId};

use crate::charge::Charge;
use crate::deadlock::PausedQueues;
use crate::deposit::Deposit;
use crate::packet::PacketId;
use crate::pfc::Ingress;
use crate::served_port::ServedPort;
use crate::shared_buffer::Buffer;

/// No link: the packet was made here.
const NOWHERE: u32 = u32::MAX;

/// The accounts of a partition.
#[derive(Default)]
pub struct Accounts {
    /// Buffers of the partition's switches, if their queues share them.
    buffers: Vec<Buffer>,
    /// The place of a switch's buffer.
    places: BTreeMap<NodeId, usize>,
    /// Accounts of the links with flow control into the partition's switches; empty without flow control.
    ingress: Vec<Option<Ingress>>,
    /// The link over which a packet came, by packet; empty without flow control.
    came_over: Vec<u32>,
}

impl Accounts {
    /// The accounts of these links, which a partition keeps if they lead to its `own` switches.
    pub fn new(fabric: &Fabric, links: &[LinkId], is_own: impl Fn(NodeId) -> bool) -> Self {
        let account = |id: &LinkId| Ingress::new(fabric, *id).filter(|_| is_own(fabric.link(*id).to));
        let ingress = if fabric.uses_pfc() { links.iter().map(account).collect() } else { Vec::new() };
        Self { ingress, ..Self::default() }
    }

    /// Adds the buffer that the queues of a switch share, once; returns its place, or `None` if they share none.
    pub fn add_buffer(&mut self, fabric: &Fabric, node: NodeId) -> Option<usize> {
        self.places.get(&node).copied().or_else(|| {
            self.buffers.push(Buffer::new(fabric, node)?);
            self.places.insert(node, self.buffers.len() - 1);
            Some(self.buffers.len() - 1)
        })
    }

    /// Whether there is flow control.
    pub fn uses_flow_control(&self) -> bool {
        !self.ingress.is_empty()
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

    fn ingress_mut(&mut self, link: u32) -> Option<&mut Ingress> {
        self.ingress.get_mut(link as usize)?.as_mut()
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
    pub fn admit(
        &self,
        port: &ServedPort,
        class: usize,
        packet: PacketId,
        header: &Header,
        wire_bytes: u32,
    ) -> Option<Charge> {
        // Without flow control and shared buffers, only the queue itself counts.
        if self.ingress.is_empty() && port.buffer.is_none() {
            return port.queues.fits(class, wire_bytes).then_some(Charge::NOTHING);
        }
        if port.is_at_switch && port.is_lossless(class) && self.is_made_here(packet) {
            // No sender can be paused for it.
            let buffer = port.buffer.map(|place| &self.buffers[place]);
            let fits = buffer.is_none_or(|buffer| buffer.fits_lossless(wire_bytes));
            return fits.then_some(Charge::new(None, buffer.is_some()));
        }
        let ingress = if port.is_at_switch { self.ingress_of(packet, header) } else { None };
        let length = port.queues.of(class).0;
        self.account(ingress, port.buffer, wire_bytes, length, || port.queues.fits(class, wire_bytes))
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
            return fits.then_some(Charge::new(None, buffer.is_some()));
        };
        let account = self.ingress[link as usize].as_ref()?;
        let shared = buffer.is_some() && account.shares();
        account.fits(queue.into(), wire_bytes, buffer).then_some(Charge::new(ingress, shared))
    }

    /// A switch with this buffer holds a packet, outside of its queues. Returns its place in the accounts, and the link with
    /// flow control whose account has changed; `None` if there is no space.
    pub fn hold(
        &mut self,
        buffer: Option<usize>,
        packet: PacketId,
        header: &Header,
        wire_bytes: u32,
    ) -> Option<(Deposit, Option<u32>)> {
        let charge = self.account(self.ingress_of(packet, header), buffer, wire_bytes, 0, || true)?;
        let deposit = Deposit { buffer, wire_bytes, charge };
        Some((deposit, self.charge(&deposit)))
    }

    /// Counts a packet that takes this space; returns the link with flow control whose account has changed.
    #[inline]
    pub fn charge(&mut self, deposit: &Deposit) -> Option<u32> {
        self.change(deposit, Buffer::take, Ingress::charge)
    }

    /// Returns the space of a packet; returns the link with flow control whose account has changed.
    #[inline]
    pub fn refund(&mut self, deposit: &Deposit) -> Option<u32> {
        self.change(deposit, Buffer::give, Ingress::release)
    }

    /// Changes the buffer and then the account of the link in which a packet counts; returns that link.
    #[inline(always)]
    fn change(
        &mut self,
        deposit: &Deposit,
        in_buffer: impl FnOnce(&mut Buffer, u32),
        in_ingress: impl FnOnce(&mut Ingress, usize, u32, Option<&Buffer>),
    ) -> Option<u32> {
        let Deposit { buffer, wire_bytes, charge } = *deposit;
        if charge == Charge::NOTHING {
            return None;
        }
        if charge.shared
            && let Some(place) = buffer
        {
            in_buffer(&mut self.buffers[place], wire_bytes);
        }
        let (link, queue) = charge.ingress()?;
        let buffer = buffer.map(|place| &self.buffers[place]);
        in_ingress(self.ingress[link as usize].as_mut()?, queue.into(), wire_bytes, buffer);
        Some(link)
    }

    /// A link goes down: its sender has forgotten all.
    pub fn reset(&mut self, link: u32) {
        if let Some(ingress) = self.ingress_mut(link) {
            ingress.reset();
        }
    }

    /// A link is up again; the switch at its end has the buffer at this place, if its queues share one.
    pub fn reassess(&mut self, link: u32, buffer: Option<usize>) {
        let buffer = buffer.map(|place| self.buffers[place]);
        if let Some(ingress) = self.ingress_mut(link) {
            ingress.reassess(buffer.as_ref());
        }
    }

    /// If the paused queues have changed, makes the PFC frame that announces them to the sender of `link`.
    pub fn take_pause_frame(&mut self, link: u32) -> Option<Header> {
        let ingress = self.ingress_mut(link)?;
        ingress.has_news().then(|| ingress.announce())
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
        found.buffers.extend(self.places.iter().map(|(node, place)| (*node, self.buffers[*place])));
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.came_over.capacity() * size_of::<u32>()
    }
}
