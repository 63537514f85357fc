//! DRILL(d, m): each packet goes to the shortest of `d` random queues and of the `m` that were shortest before (Ghorbani
//! et al., "DRILL: micro load balancing for low-latency data center networks", SIGCOMM 2017, section 3.2). Where paths
//! differ, a flow keeps to one symmetric component of them (section 3.4).

use std::collections::HashMap;
use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId, params};

use crate::blueprint::Blueprint;
use crate::components::{Component, Components};
use crate::derived::Derived;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::hash::{mix64, pick};
use crate::spec::SchemeSpec;
use crate::{Actions, Context, DropReason, Forwarding, Header, Switch, ecmp};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "drill",
    summary: "DRILL: each packet takes the shortest of a few random queues and the shortest queue of the last packet",
    decides: "switches",
    observes: "queues of some ports",
    source: "Ghorbani et al., SIGCOMM 2017",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    ..Descriptor::PLAIN
};

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// random queues that each packet compares: the paper's d
        samples: usize = 2, in 1..=64;
        /// shortest queues remembered from the packet before: the paper's m
        memory: usize = 1, in 1..=64, elsewhere "conweave-ns3 the last best port of each destination";
    }
}

/// Builds the switches of a DRILL fabric.
pub struct Drill {
    routes: Arc<Forwarding>,
    components: Arc<Derived<Components>>,
    seed: u64,
    config: Config,
}

impl Drill {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        Self { routes, components: Derived::new(Components::new), seed, config: Config::of(&spec.params) }
    }
}

impl Blueprint for Drill {
    type Switch = DrillSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> DrillSwitch {
        let mut switch = DrillSwitch {
            components: Arc::clone(&self.components),
            groups: Vec::new(),
            of_host: Vec::new(),
            queues: Vec::new(),
            shortest: Vec::new(),
            key: mix64(ecmp::hash_id(self.seed, node)),
            node,
            config: self.config,
        };
        switch.routes_changed(&self.routes);
        switch
    }
}

/// A DRILL switch.
pub struct DrillSwitch {
    components: Arc<Derived<Components>>,
    /// Sets of components, each once.
    groups: Vec<Vec<Queues>>,
    /// The group of each host.
    of_host: Vec<u32>,
    /// The queues that a packet compares.
    queues: Vec<(u64, PortId)>,
    shortest: Vec<PortId>,
    key: u64,
    node: NodeId,
    config: Config,
}

/// The queues of one component.
#[derive(Debug)]
struct Queues {
    ports: Vec<PortId>,
    /// The capacities of this component and those before it, as a share of all in units of 2^-32.
    until: u64,
    /// The shortest queues of the packet before.
    remembered: Vec<PortId>,
}

impl Switch for DrillSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let number = header.destination().and_then(|host| self.of_host.get(host.index()));
        let Some(components) = number.and_then(|number| self.groups.get_mut(*number as usize)) else {
            return out.drop(DropReason::NoRoute);
        };
        let queues = match components.as_mut_slice() {
            [] => return out.drop(DropReason::NoRoute),
            [one] => one,
            several => {
                let flow = mix64(u64::from(header.path_hash()) ^ self.key) >> 32;
                let place = several.iter().position(|component| flow < component.until);
                &mut several[place.unwrap_or(0)]
            }
        };
        if let [only] = *queues.ports {
            return out.send(only);
        }
        let mut best = (u64::MAX, PortId(0));
        let compared = &mut self.queues;
        compared.clear();
        // With replacement, as in the paper.
        for _ in 0..self.config.samples {
            let port = queues.ports[pick(ctx.random().next_u64(), queues.ports.len())];
            compared.push((ctx.queue_bytes(port), port));
        }
        compared.extend(queues.remembered.iter().map(|port| (ctx.queue_bytes(*port), *port)));
        for &(bytes, port) in compared.iter() {
            if bytes < best.0 {
                best = (bytes, port);
            }
        }
        if self.config.memory == 1 {
            queues.remembered.clear();
            queues.remembered.push(best.1);
        } else {
            // The first of equal queues was sampled, not remembered.
            compared.sort_by_key(|(bytes, _)| *bytes);
            self.shortest.clear();
            for (_, port) in compared.iter() {
                if self.shortest.len() < self.config.memory && !self.shortest.contains(port) {
                    self.shortest.push(*port);
                }
            }
            std::mem::swap(&mut queues.remembered, &mut self.shortest);
        }
        out.send(best.1);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        let components = self.components.of(routes);
        let mut known: HashMap<Vec<Component>, u32> = HashMap::new();
        self.groups.clear();
        let hosts = (0..routes.host_count() as u32).map(HostId);
        let groups = &mut self.groups;
        self.of_host = hosts
            .map(|host| {
                let group = components.of(routes, self.node, host);
                *known.entry(group).or_insert_with_key(|group| {
                    groups.push(queues_of(group));
                    groups.len() as u32 - 1
                })
            })
            .collect();
    }
}

fn queues_of(group: &[Component]) -> Vec<Queues> {
    let all: u128 = group.iter().map(|component| u128::from(component.capacity)).sum();
    let mut sum = 0;
    let queues = group.iter().map(|component| {
        sum += u128::from(component.capacity);
        let until = (sum << 32).checked_div(all).unwrap_or(0) as u64;
        Queues { ports: component.ports.clone(), until, remembered: Vec::new() }
    });
    queues.collect()
}
