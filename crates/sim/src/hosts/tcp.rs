//! [`Tcp`]: hosts with plain TCP.

use weft_switching::host::distinct_paths::PathFinder;
use weft_switching::host::path_selector::PathSelector;
use weft_switching::{Header, mix64};
use weft_traffic::Flow;
use weft_transport::{Config, Endpoint, Segment};
use weft_units::Time;

use super::context::Ctx;
use super::ends::Ends;
use super::path_choice::{PathChoice, PathChoices};
use super::protocol::{End, Opening, Protocol, template};
use super::shell::Transmission;
use super::subflow::Subflow;
use crate::network::Network;
use crate::packet::{Metadata, PacketId};

/// Plain TCP, whose ends choose paths by `P`.
pub struct Tcp<'a, P: PathSelector> {
    config: &'a Config,
    choices: PathChoices<'a, P>,
}

/// The initial sequence number of one side of a flow.
pub fn initial_sequence(flow: &Flow, side: usize) -> u32 {
    let isn = mix64(u64::from(flow.id.0)) as u32;
    if side == 0 { isn } else { isn.rotate_left(16) }
}

impl<'a, P: PathSelector> Tcp<'a, P> {
    /// With the parameters of `config`; hosts choose paths by `scheme`, among those that `finder` finds.
    pub fn new(config: &'a Config, scheme: &'a P::Scheme, finder: &'a dyn PathFinder) -> Self {
        Self { config, choices: PathChoices::new(scheme, finder) }
    }

    /// Passes segments that the selector kept back to TCP, if it releases them.
    #[inline(always)]
    fn take_released(&self, end: &mut End<Self>, segment: &mut Segment, now: Time) {
        while end.state.selector.release(now, segment) {
            end.machine.on_segment(self.config, now, segment);
        }
    }
}

impl<P: PathSelector> Protocol for Tcp<'_, P> {
    type Machine = Endpoint;
    type Subflows = [Subflow; 1];
    type State = PathChoice<P>;

    const SUBFLOW_BITS: u32 = 1;
    const HAS_HANDSHAKE: bool = true;

    fn config(&self, _is_within: bool) -> &Config {
        self.config
    }

    fn template(&self, flow: &Flow, side: usize) -> Header {
        template(flow, side)
    }

    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Endpoint, PathChoice<P>) {
        let Opening { owner, flow, .. } = *opening;
        let sequence = initial_sequence(flow, owner.side);
        let choice = self.choices.open(owner, flow, opening.nic, cx);
        if owner.side == 1 {
            return (Endpoint::listen(self.config, sequence), choice);
        }
        let mut client = Endpoint::connect(self.config, cx.net.now, sequence);
        client.write(opening.bytes);
        if !opening.is_shared {
            client.close();
        }
        (client, choice)
    }

    #[inline(always)]
    fn read(&self, net: &Network<'_>, packet: PacketId, _side: usize, into: &mut Segment) {
        net.packets.read_segment(packet, into);
    }

    #[inline(always)]
    fn write(&self, net: &mut Network<'_>, subflow: &mut Subflow, owner: u32, segment: &Segment) -> PacketId {
        let (owner, way) = subflow.follow(segment, owner);
        net.packets.packet_of(
            net.now,
            &subflow.template,
            owner,
            segment,
            Metadata { way, ..Metadata::default() },
        )
    }

    #[inline(always)]
    fn receive(
        &mut self,
        end: &mut End<Self>,
        _subflow: usize,
        header: &Header,
        segment: &mut Segment,
        now: Time,
    ) {
        let (selector, mut host) = self.choices.parts(&mut end.state, now);
        if !selector.receive(&mut host, header, segment) {
            end.machine.on_segment(self.config, now, segment);
        }
        self.take_released(end, segment, now);
    }

    fn time_out(&mut self, end: &mut End<Self>, segment: &mut Segment, now: Time) {
        if end.machine.next_timeout() <= now {
            let before = end.machine.stats().timeouts;
            end.machine.on_timeout(self.config, now);
            if end.machine.stats().timeouts > before {
                let (selector, mut host) = self.choices.parts(&mut end.state, now);
                selector.timed_out(&mut host);
            }
        }
        self.take_released(end, segment, now);
    }

    #[inline(always)]
    fn poll_answer(&mut self, end: &mut End<Self>, segment: &mut Segment, now: Time) -> bool {
        let (selector, mut host) = self.choices.parts(&mut end.state, now);
        selector.own(&mut host, &mut end.subflows[0].template, segment)
    }

    #[inline(always)]
    fn poll_transmit(&mut self, end: &mut End<Self>, segment: &mut Segment, now: Time) -> bool {
        if !end.machine.poll_transmit(self.config, now, segment) {
            return false;
        }
        let (selector, mut host) = self.choices.parts(&mut end.state, now);
        selector.stamp(&mut host, &mut end.subflows[0].template, segment);
        true
    }

    #[inline(always)]
    fn sent(
        &self,
        endpoint: &mut Endpoint,
        segment: &Segment,
        nic: u32,
        is_accepted: bool,
        net: &Network<'_>,
    ) {
        if self.config.small_queues && is_accepted && segment.len > 0 {
            endpoint.leaves_at(net.now, net.departure(nic), segment.len);
        }
    }

    /// In line, it is called when it is its turn.
    #[inline(always)]
    fn deadlines(&mut self, end: &mut End<Self>, _now: Time) -> (Time, Time) {
        let holds = self.config.small_queues && !end.is_waiting;
        let held = if holds { end.machine.held_until() } else { Time::MAX };
        (end.machine.next_timeout().min(end.state.selector.wakes_at()), held)
    }

    fn repick(&mut self, ends: &mut Ends<End<Self>>, cx: &Ctx<'_, '_>) {
        let ends = ends.all().map(|(_, end)| (end.owner(), end.subflows[0].nic, &mut end.state));
        self.choices.repick(ends, cx);
    }

    fn memory(&self) -> usize {
        self.choices.memory()
    }
}

impl<P: PathSelector> Transmission for Tcp<'_, P> {}
