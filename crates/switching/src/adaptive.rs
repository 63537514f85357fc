//! Local adaptive routing as shipped in switches: the port with the least loaded queue, in coarse bands, for each packet
//! or each flowlet (SONiC and SAI: "Adaptive Routing and Switching", `SAI_ARS_MODE_PER_PACKET_QUALITY`,
//! `SAI_ARS_MODE_FLOWLET_QUALITY`).

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{Bytes, Duration, NodeId, PortId, Time, params, words};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::flowlets::{Flowlets, MOST_FLOWLETS};
use crate::least_loaded::least_loaded;
use crate::spec::SchemeSpec;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "adaptive",
    summary: "adaptive routing of switches: each flowlet or packet takes a port of the least loaded band",
    decides: "switches",
    observes: "queues of its ports",
    source: "SONiC and SAI, adaptive routing and switching",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    ..Descriptor::PLAIN
};

words! {
    /// The unit that may change its path.
    enum Mode {
        Flowlet = "flowlet",
        Packet = "packet",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// the unit that may change its path
        mode: Mode = Mode::Flowlet;
        /// pause after which a flow may change its path
        idle: Duration = Duration::from_us(256), elsewhere "htsim 10 us";
        /// entries of a switch's flowlet table
        flowlet_table: usize = 512, in 1..=MOST_FLOWLETS;
        /// interval at which a switch reads its queues
        sampling: Duration = Duration::from_us(16);
        /// bands of queue lengths, 2 to 256
        bands: u64 = 8, in 2..=256, elsewhere "htsim 4, at 5, 10 and 20 % of the queue";
        /// queue at which the last band begins; the others divide the space below
        full: Bytes = Bytes(100_000);
    }
}

/// Builds the switches of the fabric.
pub struct Adaptive {
    routes: Arc<Forwarding>,
    config: Config,
}

impl Adaptive {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, spec: &SchemeSpec) -> Self {
        Self { routes, config: Config::of(&spec.params) }
    }
}

impl Blueprint for Adaptive {
    type Switch = AdaptiveSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> AdaptiveSwitch {
        AdaptiveSwitch {
            next_hops: self.routes.at(node),
            flowlets: Flowlets::new(self.config.flowlet_table, self.config.idle),
            load: Load {
                bands: vec![0; fabric.ports(node).len()],
                next_sample: Time::ZERO,
                config: self.config,
            },
        }
    }
}

/// An adaptive routing switch.
pub struct AdaptiveSwitch {
    next_hops: NextHops,
    flowlets: Flowlets,
    load: Load,
}

/// The load of all ports.
struct Load {
    /// For each port, the band of its queue when last read.
    bands: Vec<u8>,
    next_sample: Time,
    config: Config,
}

impl Load {
    /// A random one of those `ports` that are in the least loaded band.
    fn least<C: Context>(&mut self, ctx: &mut C, ports: &[PortId]) -> PortId {
        if ctx.now() >= self.next_sample {
            let (last, full) = (self.config.bands - 1, self.config.full.0.max(1));
            for (port, band) in self.bands.iter_mut().enumerate() {
                let queue = ctx.queue_bytes(PortId(port as u16));
                *band = (u128::from(queue) * u128::from(last) / u128::from(full)).min(last.into()) as u8;
            }
            self.next_sample = ctx.now() + self.config.sampling;
        }
        least_loaded(ctx, ports, |_, port| self.bands[port.index()])
    }
}

impl Switch for AdaptiveSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let ports = header.destination().map_or(&[][..], |host| self.next_hops.all(host));
        let port = match *ports {
            [] => return out.drop(DropReason::NoRoute),
            [port] => port,
            _ if self.load.config.mode == Mode::Packet => self.load.least(ctx, ports),
            _ => {
                let choose = |_| self.load.least(ctx, ports);
                self.flowlets.follow(header.path_hash(), ports, now, choose)
            }
        };
        out.send(port);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        TableEntries { flows: self.flowlets.len(now), ..TableEntries::default() }
    }
}
