//! The reference for the modes with routes: `RoutedSwitch`, where the simulator's ECMP and spraying choose among the
//! next hops of stations that have a route.

use std::collections::HashSet;
use std::sync::Arc;

use weft_fabric::{Fabric, FabricBuilder, LinkSpec};
use weft_switchd::Mode;
use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::ecmp::{Ecmp, EcmpSwitch};
use weft_switching::routed::{Hop, RoutedSwitch, Routes};
use weft_switching::spray::{Spray, SpraySwitch};
use weft_switching::{
    Action, Actions, Blueprint, Context, Forwarding, Header, SchemeSpec, Switch, mix64, tuple_hash,
};
use weft_units::{HostId, LinkId, NodeId, PortId, Time};

use crate::conformance::machine::Ctx;
use crate::conformance::read;
use crate::conformance::setting::Setting;

/// Part of the hash key.
const SEED: u64 = 7;

/// The simulator's switch that chooses among next hops.
enum Choice {
    Ecmp(EcmpSwitch),
    Spray(SpraySwitch),
}

/// The routes of a switch.
pub struct Chosen {
    choice: Choice,
    /// The number of stations with a route.
    count: usize,
}

impl Routes for Chosen {
    fn hop<C: Context>(&mut self, ctx: &mut C, header: &Header) -> Hop {
        if header.destination().is_none_or(|host| host.index() >= self.count) {
            return Hop::Unrouted;
        }
        let (mut chosen, nowhere) = (Actions::default(), PortId(u16::MAX));
        match &mut self.choice {
            Choice::Ecmp(switch) => switch.receive(ctx, nowhere, header, &mut chosen),
            Choice::Spray(switch) => switch.receive(ctx, nowhere, header, &mut chosen),
        }
        match chosen.take_only() {
            Some(Action::Send(port)) => Hop::Port(port),
            _ => Hop::Gone,
        }
    }
}

/// A switch.
pub struct Routed {
    pub switch: RoutedSwitch<Chosen>,
    fabric: Fabric,
    node: NodeId,
    /// The ports that the routes consider usable.
    known: Vec<bool>,
    /// The stations that the neighbour of each port does not reach, as bits.
    unreached: Vec<u8>,
    routes: Vec<Vec<u16>>,
    /// Links from neighbours to hosts that the routes do without.
    withdrawn: HashSet<LinkId>,
}

/// The hash key of the switch.
pub fn hash_key(setting: &Setting) -> u64 {
    let (_, node) = fabric(setting);
    mix64(SEED ^ mix64(u64::from(node.0) + 1))
}

/// The switch with a neighbour on each port; a station's route is the ports to the neighbours it is connected to.
fn fabric(setting: &Setting) -> (Fabric, NodeId) {
    let (mut builder, cable) = (FabricBuilder::new("star"), LinkSpec::default());
    let hosts: Vec<_> = (0..setting.routes.len())
        .map(|host| builder.add_host(format!("h{host}"), 0, None).expect("a unique name"))
        .collect();
    let node = builder.add_switch("s".to_owned(), 2, None).expect("a unique name");
    for port in 0..setting.ways.len() {
        let neighbour = builder.add_switch(format!("n{port}"), 1, None).expect("a unique name");
        builder.connect(node, neighbour, &cable).expect("a link");
        for (host, route) in hosts.iter().zip(&setting.routes) {
            if route.contains(&(port as u16)) {
                builder.connect(*host, neighbour, &cable).expect("a link");
            }
        }
    }
    (builder.build().expect("a fabric"), node)
}

impl Routed {
    pub fn new(setting: &Setting) -> Self {
        let (fabric, node) = fabric(setting);
        let routes = Arc::new(Forwarding::new(&fabric, |_| true));
        let spec = SchemeSpec { name: "ecmp".to_owned(), params: Default::default() };
        let choice = match setting.mode {
            Mode::Ecmp => Choice::Ecmp(Ecmp::new(routes, SEED, &spec).switch(&fabric, node)),
            _ => Choice::Spray(Spray::new(routes).switch(&fabric, node)),
        };
        let base = ArpPathSwitch::new(&setting.config, setting.ways.clone(), 1);
        let switch = RoutedSwitch::new(base, Chosen { choice, count: setting.routes.len() });
        let (ports, routes) = (setting.ways.len(), setting.routes.clone());
        let (known, unreached) = (vec![true; ports], vec![0; ports]);
        Self { switch, fabric, node, known, unreached, routes, withdrawn: HashSet::new() }
    }

    /// The neighbour of a port does not reach these stations.
    pub fn says(&mut self, port: PortId, unreached: u8) {
        self.unreached[port.index()] = unreached;
    }

    /// The links between neighbours and hosts that the neighbours have lost; all count if no port with a carrier is left.
    fn withdrawn(&self, now: Time) -> HashSet<LinkId> {
        let ports = self.switch.base().ports();
        let mut withdrawn = HashSet::new();
        for (number, route) in self.routes.iter().enumerate() {
            let reaches = |port: &u16| {
                let says = self.unreached[usize::from(*port)] & 1 << number == 0;
                says || ports.is_host(PortId(*port), now)
            };
            if route.iter().any(|port| reaches(port) && ports.is_up(PortId(*port))) {
                let lost = route.iter().filter(|port| !reaches(port)).map(|port| {
                    let neighbour = self.fabric.link(self.fabric.ports(self.node)[usize::from(*port)]).to;
                    let host = self.fabric.host_node(HostId(number as u32));
                    self.fabric.link_between(neighbour, host).expect("the route's link")
                });
                withdrawn.extend(lost);
            }
        }
        withdrawn
    }

    /// Updates the routes after the set of usable ports has changed.
    fn renew(&mut self, now: Time) {
        let ports = (0..self.known.len() as u16).map(PortId);
        let known: Vec<bool> = ports.map(|port| self.switch.base().ports().is_known(port, now)).collect();
        let withdrawn = self.withdrawn(now);
        if known == self.known && withdrawn == self.withdrawn {
            return;
        }
        let cables = self.fabric.ports(self.node);
        let is_up = |link| {
            let at = cables.iter().position(|own| *own == link || own.reverse() == link);
            at.map_or_else(|| !withdrawn.contains(&link), |at| known[at])
        };
        let routes = Arc::new(Forwarding::new(&self.fabric, is_up));
        match &mut self.switch.routes_mut().choice {
            Choice::Ecmp(switch) => switch.routes_changed(&routes),
            Choice::Spray(switch) => switch.routes_changed(&routes),
        }
        (self.known, self.withdrawn) = (known, withdrawn);
    }

    pub fn receive(
        &mut self,
        ctx: &mut Ctx<'_>,
        ingress: PortId,
        header: &Header,
        frame: &[u8],
        out: &mut Actions,
    ) {
        self.renew(ctx.now);
        let station = |[_, _, a, b, c, d]: [u8; 6]| u32::from_be_bytes([a, b, c, d]);
        let ([sport, dport], protocol, entropy) = read::flow(frame);
        let flow_hash = tuple_hash(station(header.src.0), station(header.dst.0), sport, dport, protocol);
        self.switch.receive(ctx, ingress, &Header { flow_hash, entropy, ..*header }, out);
    }
}
