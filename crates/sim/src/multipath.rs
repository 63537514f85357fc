//! [`Multipath`]: the connections of a run whose hosts use Multipath TCP.
//!
//! A connection is a [`Bundle`]: both sides, and a slot in [`crate::host::Connections`] for each subflow. A slot
//! has the addresses, ports and packet counts of the subflow, as for a TCP connection, but the sides of the
//! bundle replace its two endpoints. The first slot represents the whole connection.

use std::collections::BTreeSet;

use weft_control::{Join as SeenJoin, Mptcp as SeenMptcp, Version};
use weft_switching::{Switch, mix64};
use weft_traffic::{EPHEMERAL, Flow};
use weft_transport::Mptcp;
use weft_transport::mptcp::{Addresses, Config, Connection, Join, NewSubflow, Options};
use weft_units::HostId;

use crate::engine::{Engine, TIMER};
use crate::host::EndpointId;
use crate::packet::PacketId;
use crate::record::{FlowRecord, MultipathReport, Recorder};
use crate::transmit::transmit;

/// One connection.
struct Bundle {
    flow: Flow,
    /// The source's side and the destination's.
    sides: [Connection; 2],
    /// The slots of the subflows, the first subflow's first.
    places: Vec<u32>,
    /// Per side: the slot of each subflow, by the side's own subflow number.
    place_of: [Vec<u32>; 2],
}

/// Additional data of a subflow's slot.
#[derive(Clone, Copy, Default)]
struct Place {
    bundle: u32,
    /// The numbers of the subflow at the source and at the destination.
    numbers: [usize; 2],
    /// The numbers of its addresses there, if hosts use several.
    addresses: Option<[u8; 2]>,
}

/// All multipath connections.
pub(crate) struct Multipath {
    config: Config,
    fullmesh: bool,
    bundles: Vec<Option<Box<Bundle>>>,
    free: Vec<u32>,
    /// By slot.
    places: Vec<Place>,
    /// Addresses and ports in use.
    taken: BTreeSet<(HostId, HostId, u16, u16)>,
    /// Sums over the connections recorded so far.
    report: MultipathReport,
}

impl Multipath {
    /// No connections yet; `None` if hosts use plain TCP.
    pub(crate) fn new(transport: &weft_transport::Config, flows: &[Flow]) -> Option<Self> {
        Some(Self {
            config: Config::new(transport)?,
            fullmesh: transport.mptcp == Mptcp::Fullmesh,
            bundles: Vec::new(),
            free: Vec::new(),
            places: Vec::new(),
            taken: flows.iter().map(|flow| (flow.src, flow.dst, flow.sport, flow.dport)).collect(),
            report: MultipathReport::default(),
        })
    }

    fn bundle(&self, place: u32) -> Option<&Bundle> {
        let number = self.places.get(place as usize)?.bundle;
        self.bundles.get(number as usize)?.as_deref()
    }

    fn bundle_mut(&mut self, place: u32) -> Option<&mut Bundle> {
        let number = self.places.get(place as usize)?.bundle;
        self.bundles.get_mut(number as usize)?.as_deref_mut()
    }

    /// Bytes delivered by the connection whose first slot is `place`; `None` for slots of other subflows.
    pub(crate) fn delivered(&self, place: u32) -> Option<u64> {
        let bundle = self.bundle(place)?;
        (bundle.places.first() == Some(&place)).then(|| bundle.sides[1].delivered())
    }

    /// Sums over the recorded connections.
    pub(crate) fn report(&self) -> MultipathReport {
        self.report
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        let heap = |side: &Connection| size_of::<Connection>() + side.heap_bytes();
        let bundles = self.bundles.iter().flatten();
        bundles.map(|bundle| bundle.sides.iter().map(heap).sum::<usize>()).sum::<usize>()
            + self.places.capacity() * size_of::<Place>()
    }

    /// A source port for subflow `number` of `flow` that no other connection between the hosts uses, if any is free.
    fn port(&mut self, flow: &Flow, number: usize) -> Option<u16> {
        let count = u64::from(EPHEMERAL.end - EPHEMERAL.start);
        let first = mix64(u64::from(flow.id.0) << 8 | number as u64);
        let ports = (0..count).map(|step| EPHEMERAL.start + (first.wrapping_add(step) % count) as u16);
        let taken = &mut self.taken;
        ports.into_iter().find(|port| taken.insert((flow.src, flow.dst, *port, flow.dport)))
    }
}

/// A pseudo-random number for a flow; `purpose` separates its uses.
fn drawn(flow: &Flow, purpose: u64) -> u64 {
    mix64(mix64(u64::from(flow.id.0)) ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl<S: Switch> Engine<'_, S> {
    /// Opens the multipath connection of a flow.
    pub(crate) fn open_multipath<R: Recorder>(&mut self, flow: &Flow, recorder: &mut R) {
        if let Some(place) = self.add_bundle(flow) {
            self.pump_multipath(place * 2, recorder);
        }
    }

    /// Adds the multipath connection of a flow, with a slot for its first subflow, without sending anything.
    pub(crate) fn add_bundle(&mut self, flow: &Flow) -> Option<u32> {
        let now = self.net.now;
        let links = |host| self.setup.fabric.ports(self.setup.fabric.host_node(host)).len().min(32) as u8;
        let addresses = Addresses { local: links(flow.src), remote: links(flow.dst) };
        let multipath = self.multipath.as_mut()?;
        let cfg = &multipath.config;
        let isn = mix64(u64::from(flow.id.0)) as u32;
        let mut client = Connection::connect(cfg, now, drawn(flow, 1), isn, addresses);
        client.write(flow.bytes);
        client.close();
        let server = Connection::listen(cfg, drawn(flow, 2), isn.rotate_left(16));
        let bundle = Bundle {
            flow: *flow,
            sides: [client, server],
            places: Vec::new(),
            place_of: [Vec::new(), Vec::new()],
        };
        let number = multipath.free.pop().unwrap_or_else(|| {
            multipath.bundles.push(None);
            multipath.bundles.len() as u32 - 1
        });
        multipath.bundles[number as usize] = Some(Box::new(bundle));
        let addresses = multipath.fullmesh.then_some([0, 0]);
        Some(self.add_place(flow, Place { bundle: number, numbers: [0, 0], addresses }))
    }

    /// Adds a slot for a subflow with the addresses and ports of `flow`.
    fn add_place(&mut self, flow: &Flow, place: Place) -> u32 {
        let nics = self.subflow_nics(flow, place.addresses);
        let number = self.connections.open(self.setup.transport, self.net.now, flow, nics) / 2;
        if let Some(multipath) = &mut self.multipath {
            let at = number as usize;
            if multipath.places.len() <= at {
                multipath.places.resize(at + 1, Place::default());
            }
            multipath.places[at] = place;
            if let Some(bundle) = multipath.bundle_mut(number) {
                bundle.places.push(number);
                for (places, of_side) in bundle.place_of.iter_mut().zip(place.numbers) {
                    if places.len() <= of_side {
                        places.resize(of_side + 1, number);
                    }
                    places[of_side] = number;
                }
            }
        }
        number
    }

    /// The links on which a subflow sends: those of its addresses, if hosts use several.
    fn subflow_nics(&self, flow: &Flow, addresses: Option<[u8; 2]>) -> [u32; 2] {
        let Some(addresses) = addresses else { return self.nics(flow) };
        let first = |host| self.net.first_link[self.setup.fabric.host_node(host).index()];
        [first(flow.src) + u32::from(addresses[0]), first(flow.dst) + u32::from(addresses[1])]
    }

    /// The links on which slot `number` sends, after a change of links.
    pub(crate) fn nics_of(&self, number: usize) -> [u32; 2] {
        let place = self.multipath.as_ref().and_then(|multipath| multipath.places.get(number));
        self.subflow_nics(&self.connections.shared[number].flow, place.and_then(|place| place.addresses))
    }

    /// Delivers a packet of a subflow to its host.
    pub(crate) fn deliver_multipath<R: Recorder>(
        &mut self,
        id: EndpointId,
        packet: PacketId,
        recorder: &mut R,
    ) {
        let options = self.net.packets.options(packet);
        self.net.packets.read_segment(packet, &mut self.segment);
        self.net.packets.remove(packet);
        self.counters.packets_delivered += 1;
        let (place, side) = (id / 2, id as usize & 1);
        self.connections.shared[place as usize].in_flight -= 1;
        let now = self.net.now;
        if let Some(Multipath { config, bundles, places, .. }) = &mut self.multipath {
            let Place { bundle, numbers, .. } = places[place as usize];
            if let Some(bundle) = &mut bundles[bundle as usize] {
                bundle.sides[side].on_segment(config, numbers[side], now, &self.segment, &options);
            }
        }
        self.pump_multipath(id, recorder);
    }

    /// Handles a connection's timer event, scheduled for its first slot.
    pub(crate) fn multipath_timer<R: Recorder>(&mut self, id: EndpointId, recorder: &mut R) {
        let now = self.net.now;
        if let Some(Multipath { config, bundles, places, .. }) = &mut self.multipath
            && let Some(bundle) = &mut bundles[places[id as usize / 2].bundle as usize]
        {
            let side = &mut bundle.sides[id as usize & 1];
            if side.next_timeout() <= now {
                side.on_timeout(config, now);
            }
        }
        self.pump_multipath(id, recorder);
    }

    /// Sends the pending segments of one side of a connection; called after every event that may produce some.
    fn pump_multipath<R: Recorder>(&mut self, id: EndpointId, recorder: &mut R) {
        let (now, side) = (self.net.now, id as usize & 1);
        loop {
            let Some(Multipath { config, bundles, places, .. }) = &mut self.multipath else { return };
            let Some(bundle) = &mut bundles[places[id as usize / 2].bundle as usize] else { return };
            let (flow, first) = (bundle.flow, bundle.places.first().copied().unwrap_or(id / 2));
            let connection = &mut bundle.sides[side];
            let shared = &mut self.connections.shared[first as usize];
            if side == 1 && shared.end.is_none() && connection.delivered() >= flow.bytes {
                shared.end = Some(now);
                connection.close();
                self.finished += 1;
                self.finished_bytes[usize::from(flow.class)] += flow.bytes;
            }
            let mut options = Options::None;
            if let Some(number) = connection.poll_transmit(config, now, &mut self.segment, &mut options) {
                let place = bundle.place_of[side].get(number).copied().unwrap_or(first);
                let (id, sent) = (place * 2 + side as u32, (&self.segment, options));
                let ends =
                    (&self.connections.sides[id as usize], &mut self.connections.shared[place as usize]);
                let taken = transmit(&mut self.net, &mut self.counters, ends, id, sent, recorder);
                if config.plain().small_queues && taken && self.segment.len > 0 {
                    let nic = self.connections.sides[id as usize].nic;
                    connection.leaves_at(number, now, self.net.departure(nic), self.segment.len);
                }
                continue;
            }
            let random = drawn(&flow, 3 + bundle.places.len() as u64);
            if side == 0
                && let Some(new) = connection.poll_open(config, now, random)
            {
                self.open_subflow(id / 2, &flow, new);
                continue;
            }
            let deadline = connection.next_timeout();
            let held_until = connection.held_until();
            let alarms = &mut self.connections.sides[first as usize * 2 + side];
            for (at, armed) in [(deadline, &mut alarms.armed), (held_until, &mut alarms.wake)] {
                if at < *armed {
                    *armed = at;
                    self.net.queue.schedule(TIMER | (first * 2 + side as u32), at);
                }
            }
            break;
        }
        self.release_multipath(id / 2, recorder);
    }

    /// Adds a slot for a subflow that the source of `flow` opens, and makes the destination expect it.
    fn open_subflow(&mut self, of: u32, flow: &Flow, new: NewSubflow) {
        let Some(multipath) = &mut self.multipath else { return };
        let number = multipath.places[of as usize].bundle;
        // If all ports are taken, two subflows share one, and switches cannot distinguish them.
        let sport = multipath.port(flow, new.subflow).unwrap_or(flow.sport);
        let addresses = multipath.fullmesh.then_some([new.local, new.remote]);
        let random = drawn(flow, 0x100 + new.subflow as u64);
        let config = &multipath.config;
        let Some(bundle) = &mut multipath.bundles[number as usize] else { return };
        let accepted = bundle.sides[1].accept(config, new.remote, random).unwrap_or(usize::MAX >> 1);
        let numbers = [new.subflow, accepted.min(u8::MAX.into())];
        self.add_place(&Flow { sport, ..*flow }, Place { bundle: number, numbers, addresses });
    }

    /// Frees the slots of a connection, as [`Engine::release`] does for a TCP connection.
    pub(crate) fn release_multipath<R: Recorder>(&mut self, place: u32, recorder: &mut R) {
        let Some(multipath) = &self.multipath else { return };
        let Some(bundle) = multipath.bundle(place) else { return };
        let [client, server] = &bundle.sides;
        let over = client.is_closed() && server.is_closed() || client.is_aborted() || server.is_aborted();
        let idle = |place: &u32| self.connections.shared[*place as usize].in_flight == 0;
        if !over || !bundle.places.iter().all(idle) {
            return;
        }
        self.record_multipath(place, recorder);
        let Some(multipath) = &mut self.multipath else { return };
        let number = multipath.places[place as usize].bundle;
        let Some(bundle) = multipath.bundles[number as usize].take() else { return };
        multipath.free.push(number);
        for place in bundle.places {
            let flow = self.connections.shared[place as usize].flow;
            multipath.taken.remove(&(flow.src, flow.dst, flow.sport, flow.dport));
            self.connections.close(place);
        }
    }

    /// Records the connection to which a slot belongs.
    pub(crate) fn record_multipath<R: Recorder>(&mut self, place: u32, recorder: &mut R) {
        let Some(bundle) = self.multipath.as_ref().and_then(|multipath| multipath.bundle(place)) else {
            return;
        };
        let Some(&first) = bundle.places.first() else { return };
        let (flow, [client, server]) = (bundle.flow, &bundle.sides);
        let (sender, receiver) = (client.totals(), server.totals());
        let stats = [client.stats(), server.stats()];
        let of_places = |count: fn(&crate::host::Connection) -> u32| -> u32 {
            bundle.places.iter().map(|place| count(&self.connections.shared[*place as usize])).sum()
        };
        let (drops, moves) = (of_places(|shared| shared.drops), of_places(|shared| shared.seen.moves));
        let (ideal, hops) = self.ideals.remove(&flow.id).unwrap_or_default();
        let shared = &self.connections.shared[first as usize];
        recorder.flow(&FlowRecord {
            flow,
            end: shared.end,
            ideal,
            hops,
            subflows: stats[0].subflows,
            packets_sent: u64::from(sender.data_segments_sent),
            retransmissions: u64::from(sender.retransmissions),
            timeouts: u64::from(sender.timeouts),
            out_of_order: u64::from(receiver.out_of_order),
            first_transmissions_received: u64::from(receiver.first_transmissions_received),
            ecn_marks: u64::from(receiver.ecn_marks),
            drops: u64::from(drops),
            resolution: shared.opened.saturating_since(shared.flow.start),
            exploration: shared.seen.exploration,
            moves,
            path: shared.seen.path.clone(),
        });
        if let Some(multipath) = &mut self.multipath {
            multipath.report.add(&stats[0], &stats[1]);
        }
    }

    /// Whether `place` is the first slot of its connection, or belongs to a TCP connection.
    pub(crate) fn stands_for_connection(&self, place: u32) -> bool {
        let bundle = self.multipath.as_ref().and_then(|multipath| multipath.bundle(place));
        bundle.is_none_or(|bundle| bundle.places.first() == Some(&place))
    }
}

/// A central controller's view of an option.
pub(crate) fn seen(options: &Options) -> Option<SeenMptcp> {
    Some(match *options {
        Options::None => return None,
        Options::Capable(capable) => SeenMptcp::Capable {
            version: if capable.version == 0 { Version::V0 } else { Version::V1 },
            sender_key: capable.sender_key,
            receiver_key: capable.receiver_key,
        },
        Options::Join(Join::Syn { token, nonce, .. }) => SeenMptcp::Join(SeenJoin::Syn { token, nonce }),
        Options::Join(Join::SynAck { hmac, nonce, .. }) => SeenMptcp::Join(SeenJoin::SynAck { hmac, nonce }),
        Options::Join(Join::Ack { hmac }) => SeenMptcp::Join(SeenJoin::Ack { hmac }),
        Options::Dss(_) => SeenMptcp::Other,
    })
}
