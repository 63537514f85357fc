//! Switches that restart with empty tables during a run.

use std::collections::BTreeSet;

use weft_fabric::Fabric;
use weft_sim::engine::{self, Progress, Setup};
use weft_sim::record::{Recorder, RunReport};
use weft_switching::{
    Actions, Blueprint, Context, Forwarding, Header, SchemeSpec, SchemeVisitor, Switch, visit_scheme,
};
use weft_units::{Duration, NodeId, PortId, Time};

use crate::common::any_switch::AnySwitch;

/// A switch and when it restarts.
#[derive(Clone, Debug)]
pub struct Restart {
    pub at: Time,
    pub switch: String,
}

/// Runs `setup` under `scheme`, which has no central controller, while switches restart.
pub fn run_with_restarts(
    setup: Setup<'_>,
    scheme: &SchemeSpec,
    restarts: &[Restart],
    recorder: &mut dyn Recorder,
) -> RunReport {
    let (fabric, seed) = (setup.fabric, setup.seed);
    let routes = std::sync::Arc::new(Forwarding::new(fabric, |link| fabric.link(link).up));
    let visitor = Visitor { setup, routes: routes.clone(), restarts, recorder };
    visit_scheme(scheme, fabric, &routes, seed, visitor).expect("a known scheme")
}

struct Visitor<'a> {
    setup: Setup<'a>,
    routes: std::sync::Arc<Forwarding>,
    restarts: &'a [Restart],
    recorder: &'a mut dyn Recorder,
}

impl SchemeVisitor for Visitor<'_> {
    type Output = RunReport;

    fn visit<B: Blueprint>(self, blueprint: B) -> RunReport {
        let make: &dyn Fn(&Fabric, NodeId) -> _ =
            &|fabric, node| Box::new(blueprint.switch(fabric, node)) as _;
        let blueprint = Restarting { make, arp_cache: blueprint.arp_cache(), restarts: self.restarts };
        engine::run(self.setup, self.routes, &blueprint, None, &Progress::default(), self.recorder)
    }
}

/// Makes switches that restart.
struct Restarting<'a> {
    make: &'a dyn Fn(&Fabric, NodeId) -> Box<dyn AnySwitch>,
    arp_cache: Option<Duration>,
    restarts: &'a [Restart],
}

impl Blueprint for Restarting<'_> {
    type Switch = RestartingSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> Self::Switch {
        let name = &fabric.node(node).name;
        let mut times: Vec<Time> = self
            .restarts
            .iter()
            .filter(|restart| restart.switch == *name)
            .map(|restart| restart.at)
            .collect();
        times.sort_unstable();
        let make = |at| (at, (self.make)(fabric, node));
        let later = times.into_iter().rev().map(make).collect();
        RestartingSwitch { now: (self.make)(fabric, node), later, down: BTreeSet::new() }
    }

    fn arp_cache(&self) -> Option<Duration> {
        self.arp_cache
    }
}

/// A switch whose tables are empty after each restart. It keeps its topology and the state of its ports.
struct RestartingSwitch {
    now: Box<dyn AnySwitch>,
    /// Its replacements after each restart, with the time of the restart; the next one is last.
    later: Vec<(Time, Box<dyn AnySwitch>)>,
    down: BTreeSet<u16>,
}

impl RestartingSwitch {
    fn restart_if_due<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        while let Some((_, fresh)) = self.later.pop_if(|(at, _)| *at <= ctx.now()) {
            self.now = fresh;
            for &port in &self.down {
                self.now.port_changed(ctx, PortId(port), false, out);
            }
        }
    }
}

impl Switch for RestartingSwitch {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        self.restart_if_due(ctx, out);
        self.now.receive(ctx, ingress, header, out);
    }

    fn port_changed<C: Context>(&mut self, ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        self.restart_if_due(ctx, out);
        if up {
            self.down.remove(&port.0);
        } else {
            self.down.insert(port.0);
        }
        self.now.port_changed(ctx, port, up, out);
    }

    fn next_deadline(&self) -> Time {
        let restart = self.later.last().map_or(Time::MAX, |(at, _)| *at);
        self.now.next_deadline().min(restart)
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        self.restart_if_due(ctx, out);
        self.now.on_deadline(ctx, out);
    }
}
