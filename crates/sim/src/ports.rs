//! [`Ports`]: the served ports of a partition.

use weft_fabric::Fabric;
use weft_switching::Header;
use weft_units::{LinkId, NodeId, Time};

use crate::accounts::Accounts;
use crate::class_queue::Waiting;
use crate::deadlock::{Held, PausedQueues};
use crate::deposit::Deposit;
use crate::joining::{Joined, Joining};
use crate::packet::PacketId;
use crate::packet::slab::Slab;
use crate::prefetch::prefetch;
use crate::served_port::{PortCounters, ServedPort, Service};

/// The cache lines of a port that every packet needs.
const HOT_LINES: usize = 3;

/// The served ports of a partition, by link.
#[derive(Default)]
pub struct Ports {
    /// One for each link, or none if no port is served. Not in an `Option`, which would keep its tag in any field of the port,
    /// and so in a cache line of its own.
    ports: Vec<ServedPort>,
    /// The space that packets take in switches.
    pub accounts: Accounts,
    /// The queue that a switch has chosen for the packet being sent, numbered like a tag's QID; 0 if the port chooses.
    pub chosen_queue: u8,
}

/// Whether the port of a link is served. With telemetry, all ports of switches are: the state of a queue at the
/// departure of a packet is only known then.
fn is_served(fabric: &Fabric, id: LinkId, uses_pfc: bool, asks_telemetry: bool) -> bool {
    let link = fabric.link(id);
    let depends = fabric.buffer().is_some() || asks_telemetry;
    !link.queue.is_simple() || uses_pfc || depends && !fabric.node(link.from).is_host()
}

impl Ports {
    /// The ports of these links, which a partition has if they are its `own`; full packets have `full_packet` bytes. In
    /// rounds, ports that lead to other partitions are lazy. Packets may ask for the state of ports (`asks_telemetry`).
    pub fn new(
        fabric: &Fabric,
        seed: u64,
        full_packet: u32,
        links: &[LinkId],
        has_rounds: bool,
        asks_telemetry: bool,
        is_own: impl Fn(NodeId) -> bool,
    ) -> Self {
        let mut accounts = Accounts::new(fabric, links, &is_own);
        let uses_pfc = fabric.uses_pfc();
        let is_served =
            |id: LinkId| is_own(fabric.link(id).from) && is_served(fabric, id, uses_pfc, asks_telemetry);
        let port = |&id: &LinkId| {
            let (link, is_served) = (fabric.link(id), is_served(id));
            let buffer = is_served.then(|| accounts.add_buffer(fabric, link.from)).flatten();
            let is_at_host = fabric.node(link.from).is_host();
            let service = match (uses_pfc || buffer.is_some(), is_at_host || !has_rounds && !is_own(link.to))
            {
                (true, _) => Service::Coupled,
                (false, true) => Service::Timed,
                (false, false) => Service::Lazy,
            };
            let mut port = ServedPort::new(id, link, seed, is_at_host, full_packet, service, buffer);
            port.is_served = is_served;
            port
        };
        let serves = links.iter().any(|id| is_served(*id));
        let ports = if serves { links.iter().map(port).collect() } else { Vec::new() };
        Self { ports, accounts, chosen_queue: 0 }
    }

    /// Whether no port is served.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    fn served(&self) -> impl Iterator<Item = &ServedPort> {
        self.ports.iter().filter(|port| port.is_served)
    }

    /// Whether some port is lazy.
    pub fn has_lazy(&self) -> bool {
        self.served().any(|port| port.service == Service::Lazy)
    }

    /// Whether some port is served when its line becomes free.
    pub fn has_timed(&self) -> bool {
        self.served().any(|port| port.service != Service::Lazy)
    }

    /// The port of a link, if it is served.
    #[inline(always)]
    pub fn get(&self, link: u32) -> Option<&ServedPort> {
        self.ports.get(link as usize).filter(|port| port.is_served)
    }

    /// The port of a link, if it is served.
    #[inline(always)]
    pub fn get_mut(&mut self, link: u32) -> Option<&mut ServedPort> {
        self.ports.get_mut(link as usize).filter(|port| port.is_served)
    }

    /// Prefetches the fields of a port that every packet needs.
    #[inline]
    pub fn prefetch(&self, link: u32) {
        let port = self.ports.as_ptr().wrapping_add(link as usize).cast::<u8>();
        (0..HOT_LINES).for_each(|line| prefetch(port.wrapping_add(line * 64)));
    }

    /// Prefetches the packets of a port's queues that are needed first.
    #[inline]
    pub fn prefetch_queues(&self, link: u32) {
        if let Some(port) = self.get(link) {
            port.queues.prefetch();
        }
    }

    /// The port of a link, if it is served, and the accounts of the partition.
    fn with_accounts(&mut self, link: u32) -> Option<(&mut ServedPort, &mut Accounts)> {
        let port = self.ports.get_mut(link as usize).filter(|port| port.is_served)?;
        Some((port, &mut self.accounts))
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
        let chosen = self.chosen_queue;
        match self.with_accounts(link) {
            Some((port, accounts)) => Joining { port, accounts, packets }.join(packet, chosen, wire, mark),
            None => Joined { lost: Some(packet), ..Joined::default() },
        }
    }

    /// Removes the packet that the port of `link` sends next. Returns it, and the link with flow control whose account has
    /// changed; whether it was marked is counted by `mark`.
    pub fn pop(
        &mut self,
        link: u32,
        packets: &mut Slab,
        mark: impl FnOnce(&mut Header),
    ) -> Option<(Waiting, Option<u32>)> {
        let (port, accounts) = self.with_accounts(link)?;
        let (waiting, is_drawn) = port.take_next()?;
        if is_drawn {
            mark(&mut packets.get_mut(waiting.packet).header);
        }
        Some((waiting, accounts.refund(&Deposit::of(port, &waiting))))
    }

    /// Removes all packets of a link that goes down; returns them, and the links whose accounts have changed.
    pub fn clear(&mut self, link: u32, now: Time) -> (Vec<PacketId>, Vec<u32>) {
        self.accounts.reset(link);
        let Some((port, accounts)) = self.with_accounts(link) else {
            return (Vec::new(), Vec::new());
        };
        let lost = port.clear(now);
        let refund = |waiting: &Waiting| accounts.refund(&Deposit::of(port, waiting));
        let charged = lost.iter().filter_map(refund).collect();
        (lost.iter().map(|waiting| waiting.packet).collect(), charged)
    }

    /// A link of which the other direction is `back` is up again.
    pub fn reassess(&mut self, link: u32, back: u32) {
        self.accounts.reassess(link, self.get(back).and_then(|port| port.buffer));
    }

    /// The counters of a port that may cut packets, or in a fabric with flow control.
    pub fn counters(&self, link: u32, trims: bool, now: Time) -> Option<PortCounters> {
        let port = self.get(link)?;
        (trims || self.accounts.uses_flow_control()).then(|| port.counters(now))
    }

    /// Adds the content of the partition's queues whose last pause frame has come. Queues that pause them are known.
    pub fn add_held(&self, fabric: &Fabric, ids: &[LinkId], found: &mut PausedQueues) {
        for (id, port) in ids.iter().zip(&self.ports) {
            if !port.is_served || port.paused() == 0 {
                continue;
            }
            for class in (0..port.queues.count()).filter(|class| port.paused() >> class & 1 == 1) {
                let queue = (*id, class as u8);
                let is_paused = found.pauses.get(&queue).is_some_and(|pause| port.has_heeded(pause.frames));
                if port.queues.of(class).1 == 0 || !is_paused {
                    continue;
                }
                let mut held = Held::default();
                // Packets of a host came over no link.
                for Waiting { wire_bytes, charge, .. } in
                    port.queues.packets_of(class).take_while(|_| port.is_at_switch)
                {
                    if let Some((from, queue)) = charge.ingress() {
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
}
