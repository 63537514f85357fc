//! Opening the ends of connections, and their subflows.

use weft_traffic::{Flow, Point};
use weft_transport::Machine;

use super::alarms::Alarms;
use super::context::Ctx;
use super::flow_end::{FlowEnd, NONE};
use super::places::Place;
use super::protocol::{End, Opening};
use super::shell::{Shell, Transmission, line};
use super::stream::Piece;
use super::subflow::{Addresses, Subflow};
use crate::delays::{Delays, Last};
use crate::journal::FlowNumber;

impl<P: Transmission> Shell<P> {
    /// One side of a subflow of `flow`, whose source port is the subflow's; it runs between these `links`, if they are given.
    pub fn subflow(
        &mut self,
        name: u8,
        flow: &Flow,
        side: usize,
        links: Option<[u8; 2]>,
        cx: &Ctx<'_, '_>,
    ) -> Subflow {
        let addresses = links.map_or_else(|| self.preferred(name, flow, side, cx), Addresses::Links);
        let mut template = self.protocol.template(flow, side);
        let nic = cx.nics.attach(cx.net, flow, side, addresses, &mut template);
        let mut subflow = Subflow {
            name,
            template,
            nic,
            line: 0,
            addresses,
            follows: side == 0,
            followed: 0,
            last: Last::default(),
        };
        subflow.line = line::<P>(&mut self.queue, &mut self.pacers, side, &subflow, cx.net);
        subflow
    }

    /// Adds an end of a flow, or of the connection whose last flow it is; a source writes `bytes` first. Returns its place.
    pub fn add(&mut self, owner: FlowEnd, bytes: u64, cx: &Ctx<'_, '_>) -> u32 {
        let FlowEnd { flow: number, side } = owner;
        let (world, now) = (cx.world, cx.net.now);
        let flow = &world.flows[number as usize];
        let is_shared = world.connections.last(number).is_some();
        let first = if is_shared { world.connections.first(number) } else { number };
        let is_within = world.framings.is_within(flow);
        let links = self.protocol.uses_links(flow, cx.net).then(|| {
            let all = cx.nics.all_links(cx.net.fabric, flow);
            all.map(|links| links[0])
        });
        let subflow = self.subflow(0, flow, side, links, cx);
        let to = subflow.template.destination().unwrap_or(flow.dst);
        let opening = Opening { owner, flow, first, bytes, is_shared, is_within, nic: subflow.nic, to };
        let (machine, state) = self.protocol.open(&opening, cx);
        let reports = side == 1 || !P::HAS_HANDSHAKE || world.waiting.awaits(number, Point::Acknowledged);
        if is_shared && side == 1 {
            self.messages.expect(owner, now, world);
        }
        let awaits = match is_shared {
            true => self.messages.awaited(owner),
            false if reports => self.messages.size(flow, world),
            false => NONE,
        };
        let end = End {
            alarms: Alarms::default(),
            awaits,
            flow: number,
            is_destination: side == 1,
            is_waiting: false,
            is_within,
            is_over: false,
            opened: now,
            delays: Delays::default(),
            subflows: [subflow].into(),
            machine,
            state,
        };
        self.ends.add(owner, end, world)
    }

    /// Adds the destination of a flow; returns its place.
    #[cold]
    pub fn listen(&mut self, owner: FlowEnd, cx: &Ctx<'_, '_>) -> u32 {
        let bytes = cx.world.flows[owner.flow as usize].bytes;
        self.add(owner, bytes, cx)
    }

    /// Writes the messages whose turn it is to the connection that `number` shares, which the first message opens.
    #[cold]
    pub fn open_shared(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_>) {
        self.messages.write(number, &mut self.pieces, cx.net.now, cx.world);
        self.write_pieces(number, cx);
    }

    /// Writes the pieces of messages to the connection that `number` shares.
    pub fn write_pieces(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_>) {
        let world = cx.world;
        let owner = FlowEnd { flow: world.connections.owner(number), side: 0 };
        let awaits = self.messages.awaited(owner);
        let mut pieces = std::mem::take(&mut self.pieces);
        for Piece { bytes, is_first } in pieces.drain(..) {
            let (place, is_new) = match world.places.get(owner.flow, 0) {
                Place::At(place) => (place, false),
                Place::New => (self.add(owner, bytes, cx), true),
                Place::Gone => return,
            };
            let Some(end) = self.ends.at(place) else { return };
            if !is_new {
                end.machine.write(self.protocol.config(end.is_within), bytes);
            }
            end.awaits = awaits;
            if is_first {
                end.subflows.as_mut().iter_mut().for_each(|subflow| subflow.follows = true);
            }
            if end.machine.is_aborted() {
                self.messages.abort(owner, cx.net, world);
            } else {
                self.pump(place, cx);
            }
        }
        self.pieces = pieces;
    }
}
