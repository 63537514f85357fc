//! A custom scheme in one file: flowlet switching, compared with ECMP on the flows of any scenario.
//!
//! A flow that pauses for longer than `GAP` may take another path without reordering its packets;
//! LetFlow draws a new random path each time (Vanini et al., "Let it flow: resilient asymmetric load
//! balancing with flowlet switching", NSDI 2017).
//!
//! ```sh
//! cargo run --release -p weft-sim --example flowlet -- scenarios/quickstart.toml
//! ```

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_scenario::{Plan, Scenario};
use weft_sim::engine::Progress;
use weft_sim::record::{FlowRecord, Recorder, RunReport, Sample};
use weft_sim::run::{run, run_own};
use weft_switching::{
    Actions, Blueprint, Context, DropReason, Forwarding, Header, NextHops, SoftKey, SoftTable, Switch, mix64,
};
use weft_units::{Duration, NodeId, PortId};

/// A pause after which a flow may take another path.
const GAP: Duration = Duration::from_us(500);
/// Table size of a switch, in flows; the least recently used entry is evicted first.
const FLOWS: usize = 65_536;

/// One direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FlowHash(u32);

impl SoftKey for FlowHash {
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        mix64(u64::from(self.0) ^ secrets[0])
    }
}

/// Makes the switches of a fabric.
struct Flowlet {
    routes: Arc<Forwarding>,
}

impl Blueprint for Flowlet {
    type Switch = FlowletSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> FlowletSwitch {
        let flowlets = SoftTable::new(FLOWS, &[GAP], u64::from(node.0));
        FlowletSwitch { next_hops: self.routes.at(node), flowlets }
    }
}

/// One switch: the equal-cost ports to every host, and the port of each flow's last packet, if that was
/// sent within the gap.
struct FlowletSwitch {
    next_hops: NextHops,
    flowlets: SoftTable<FlowHash, PortId>,
}

impl Switch for FlowletSwitch {
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let (now, flow) = (ctx.now(), FlowHash(header.flow_hash));
        let ports = header.destination().map_or(&[][..], |host| self.next_hops.all(host));
        // A successful lookup restarts the entry's lifetime.
        let last = self.flowlets.refresh(&flow, now).copied();
        if let Some(port) = last.filter(|port| ports.contains(port)) {
            return out.send(port);
        }
        if ports.is_empty() {
            return out.drop(DropReason::NoRoute);
        }
        let port = ports[ctx.random().next_u32() as usize % ports.len()];
        self.flowlets.insert(flow, port, 0, now);
        out.send(port);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }
}

/// The compared values: the mean slowdown of the finished flows, and the number of packets that arrived
/// out of order.
#[derive(Default)]
struct Means {
    flows: u64,
    slowdown: f64,
    out_of_order: u64,
}

impl Recorder for Means {
    fn flow(&mut self, record: &FlowRecord) {
        self.out_of_order += record.out_of_order;
        if let Some(end) = record.end {
            self.flows += 1;
            self.slowdown +=
                end.saturating_since(record.flow.start).as_secs_f64() / record.ideal.as_secs_f64();
        }
    }

    fn sample(&mut self, _sample: &Sample) {}
}

/// Runs a plan with the scheme above.
fn flowlet(plan: &Plan, recorder: &mut impl Recorder) -> RunReport {
    run_own(plan, |routes| Flowlet { routes: Arc::clone(routes) }, &Progress::default(), recorder)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected a scenario: flowlet scenarios/quickstart.toml")?;
    let scenario =
        Scenario::parse_with(&std::fs::read_to_string(&path)?, &path, &["scheme.name=ecmp".into()])?;
    let plan = scenario
        .plan(&scenario.points()[0], &|file| std::fs::read(file).map_err(|error| error.to_string()))?;
    let (mut hashed, mut drawn) = (Means::default(), Means::default());
    run(&plan, &Progress::default(), &mut hashed)?;
    flowlet(&plan, &mut drawn);
    for (name, means) in [("ecmp", hashed), ("flowlet", drawn)] {
        let slowdown = means.slowdown / means.flows as f64;
        println!(
            "{name:8} {} flows, slowdown {slowdown:.2}, {} out of order",
            means.flows, means.out_of_order
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows over two spines for a tenth of a second.
    fn plan() -> Plan {
        let text = r#"
            fabric = { kind = "spine-leaf", spines = 2, leaves = 2, hosts_per_leaf = 2, rate = "1 Gbps" }
            traffic = { sizes = { fixed = "4 MB" }, arrivals = "at-once", flows = 2 }
            scheme = { name = "ecmp" }
            run = { duration = "100 ms", limit = "10 s" }
        "#;
        let scenario = Scenario::parse_with(text, "text", &[]).unwrap();
        scenario.plan(&scenario.points()[0], &|_| Err("there is none".into())).unwrap()
    }

    #[test]
    fn every_flow_arrives_and_no_packet_is_lost_track_of() {
        let mut means = Means::default();
        let report = flowlet(&plan(), &mut means);
        assert_eq!((means.flows, report.flows_finished), (2, 2));
        assert!(report.counters.is_conserved());
    }

    #[test]
    fn a_flow_without_pauses_keeps_its_order() {
        let mut means = Means::default();
        flowlet(&plan(), &mut means);
        assert_eq!(means.out_of_order, 0);
    }
}
