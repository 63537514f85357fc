//! [`Fleet`]: the switches of one partition, whatever their scheme. The engine is compiled once; each packet pays for one
//! indirect call at each switch.

use std::sync::Arc;

use weft_control::{FlowCount, RuleChange};
use weft_fabric::Fabric;
use weft_switching::{
    Actions, Blueprint, Central, Context, Forwarding, Header, Kept, Mac, Stream, Switch, TableEntries, stream,
};
use weft_units::{Duration, NodeId, PortId, Time};

use crate::network::Network;

/// A scheme that builds the switches of a partition; every [`Blueprint`] is one.
pub trait FleetBuilder {
    /// The switches at these nodes, in a run with this seed.
    fn fleet(&self, nodes: &[NodeId], seed: u64, net: &Network<'_>) -> Box<dyn Fleet>;

    /// See [`Blueprint::central`].
    fn central(&self) -> Option<Central>;

    /// See [`Blueprint::arp_cache`].
    fn arp_cache(&self) -> Option<Duration>;

    /// See [`Blueprint::learnt`].
    fn learnt(&self, fabric: &Fabric, host: NodeId, random: u64) -> Option<Vec<Option<PortId>>>;
}

/// Switches of one scheme, by number. The methods are those of [`Switch`].
pub trait Fleet: Send {
    /// Whether [`Fleet::decide`] takes the place of [`Fleet::receive`].
    fn decides_ahead(&self) -> bool;

    /// A frame arrives at a switch.
    fn receive(
        &mut self,
        number: usize,
        ingress: PortId,
        header: &Header,
        net: &Network<'_>,
        out: &mut Actions,
    );

    /// The link for a frame, if [`Fleet::decides_ahead`]; `None` if there is no route.
    fn decide(&self, number: usize, header: &Header) -> Option<u32>;

    /// A port goes down or comes up.
    fn port_changed(&mut self, number: usize, port: PortId, up: bool, net: &Network<'_>, out: &mut Actions);

    /// The time of a switch's next timer.
    fn next_deadline(&self, number: usize) -> Time;

    /// A switch's timer expires.
    fn on_deadline(&mut self, number: usize, net: &Network<'_>, out: &mut Actions);

    /// All switches learn new routes.
    fn routes_changed(&mut self, routes: &Arc<Forwarding>);

    /// A switch learns a station as from earlier traffic.
    fn learn_station(&mut self, number: usize, station: Mac, port: PortId);

    /// The controller changes a switch's rules.
    fn apply(&mut self, number: usize, now: Time, change: &RuleChange);

    /// The flows of a switch's hosts since the controller last asked.
    fn flow_counts(&mut self, number: usize) -> Vec<FlowCount>;

    /// A switch's table entries of a flow.
    fn kept(&self, number: usize, header: &Header, now: Time) -> Kept;

    /// The sizes of a switch's tables.
    fn table_entries(&mut self, number: usize, now: Time) -> TableEntries;
}

impl<B: Blueprint> FleetBuilder for B {
    fn fleet(&self, nodes: &[NodeId], seed: u64, net: &Network<'_>) -> Box<dyn Fleet> {
        let unit = |node: &NodeId| Unit {
            switch: self.switch(net.fabric, *node),
            random: stream(seed, "switch", u64::from(node.0)),
            first_link: net.link_at(*node, PortId(0)),
        };
        Box::new(Units(nodes.iter().map(unit).collect()))
    }

    fn central(&self) -> Option<Central> {
        Blueprint::central(self)
    }

    fn arp_cache(&self) -> Option<Duration> {
        Blueprint::arp_cache(self)
    }

    fn learnt(&self, fabric: &Fabric, host: NodeId, random: u64) -> Option<Vec<Option<PortId>>> {
        Blueprint::learnt(self, fabric, host, random)
    }
}

/// The switches of a scheme.
struct Units<S>(Vec<Unit<S>>);

/// A switch with its context for decisions.
struct Unit<S> {
    switch: S,
    random: Stream,
    first_link: u32,
}

impl<S: Switch> Unit<S> {
    /// The switch and its surroundings.
    #[inline(always)]
    fn parts<'a, 'n>(&'a mut self, net: &'a Network<'n>) -> (&'a mut S, SwitchContext<'a, 'n>) {
        (&mut self.switch, SwitchContext { net, first_link: self.first_link, random: &mut self.random })
    }
}

/// The surroundings of a switch.
struct SwitchContext<'a, 'n> {
    net: &'a Network<'n>,
    first_link: u32,
    random: &'a mut Stream,
}

impl Context for SwitchContext<'_, '_> {
    #[inline]
    fn now(&self) -> Time {
        self.net.now
    }

    #[inline]
    fn queue_bytes(&self, port: PortId) -> u64 {
        self.net.backlog(self.first_link + u32::from(port.0)).0
    }

    #[inline]
    fn random(&mut self) -> &mut Stream {
        self.random
    }
}

impl<S: Switch> Fleet for Units<S> {
    fn decides_ahead(&self) -> bool {
        S::DECIDES_AHEAD
    }

    fn receive(
        &mut self,
        number: usize,
        ingress: PortId,
        header: &Header,
        net: &Network<'_>,
        out: &mut Actions,
    ) {
        let (switch, mut context) = self.0[number].parts(net);
        switch.receive(&mut context, ingress, header, out);
    }

    fn decide(&self, number: usize, header: &Header) -> Option<u32> {
        let unit = &self.0[number];
        unit.switch.decide(header).map(|port| unit.first_link + u32::from(port.0))
    }

    fn port_changed(&mut self, number: usize, port: PortId, up: bool, net: &Network<'_>, out: &mut Actions) {
        let (switch, mut context) = self.0[number].parts(net);
        switch.port_changed(&mut context, port, up, out);
    }

    fn next_deadline(&self, number: usize) -> Time {
        self.0[number].switch.next_deadline()
    }

    fn on_deadline(&mut self, number: usize, net: &Network<'_>, out: &mut Actions) {
        let (switch, mut context) = self.0[number].parts(net);
        switch.on_deadline(&mut context, out);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.0.iter_mut().for_each(|unit| unit.switch.routes_changed(routes));
    }

    fn learn_station(&mut self, number: usize, station: Mac, port: PortId) {
        self.0[number].switch.learn_station(station, port, Time::ZERO);
    }

    fn apply(&mut self, number: usize, now: Time, change: &RuleChange) {
        self.0[number].switch.apply(now, change);
    }

    fn flow_counts(&mut self, number: usize) -> Vec<FlowCount> {
        self.0[number].switch.flow_counts()
    }

    fn kept(&self, number: usize, header: &Header, now: Time) -> Kept {
        self.0[number].switch.kept(header, now)
    }

    fn table_entries(&mut self, number: usize, now: Time) -> TableEntries {
        self.0[number].switch.table_entries(now)
    }
}
