//! A scheme of your own: flowlet switching, to be changed.
//!
//! A flow that pauses for longer than `gap` may take another path without reordering its packets; LetFlow draws a new
//! random path each time (Vanini et al., "Let it flow: resilient asymmetric load balancing with flowlet switching", NSDI
//! 2017).

use std::sync::Arc;

use weft_plugin::{
    Actions, Blueprint, Context, Descriptor, DropReason, Duration, Fabric, Forwarding, Header, Hops,
    NextHops, NodeId, PortId, RngCore, Scheme, Setting, SoftKey, SoftTable, Switch, TableEntries, Time,
    mix64, params,
};

weft_plugin::export!(Flowlet);

/// Table size of a switch, in flows; the least recently used entry is evicted first.
const FLOWS: usize = 65_536;

params! {
    /// The parameters, which scenarios set in [scheme]; Weft checks their values.
    struct Config {
        /// pause after which a flow may change its path
        gap: Duration = Duration::from_us(500);
    }
}

/// Makes the switches of a fabric.
struct Flowlet {
    routes: Arc<Forwarding>,
    config: Config,
}

impl Scheme for Flowlet {
    // Shown by `weft schemes`.
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "flowlet",
        summary: "each flowlet takes a random equal-cost path",
        decides: "switches",
        observes: "pauses of flows",
        source: "Vanini et al., NSDI 2017",
        params: Config::PARAMS,
        next_hops: Some(Hops::EqualCost),
        ..Descriptor::PLAIN
    };

    fn new(setting: &Setting<'_>) -> Self {
        Self { routes: Arc::clone(setting.routes), config: Config::of(&setting.parameters.params) }
    }
}

impl Blueprint for Flowlet {
    type Switch = FlowletSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> FlowletSwitch {
        let flowlets = SoftTable::new(FLOWS, &[self.config.gap], u64::from(node.0));
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

    fn table_entries(&mut self, now: Time) -> TableEntries {
        self.flowlets.sweep(now);
        TableEntries { flows: self.flowlets.len(), ..TableEntries::default() }
    }
}

/// One direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FlowHash(u32);

impl SoftKey for FlowHash {
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        mix64(u64::from(self.0) ^ secrets[0])
    }
}

#[cfg(test)]
mod tests {
    use weft_plugin::{Outcome, simulate};

    use super::*;

    /// The first run of the scenario with this scheme, with few flows.
    fn outcome(sets: &[&str]) -> Outcome {
        let short = ["run.duration=20 ms", "measure.window=[\"0 s\", \"20 ms\"]", "run.seeds=1"];
        simulate::<Flowlet>(include_str!("../compare.toml"), &[&short, sets].concat()).unwrap()
    }

    #[test]
    fn every_flow_arrives_and_no_packet_is_lost_track_of() {
        let Outcome { report, flows } = outcome(&[]);
        assert!(report.flows_started > 10, "{} flows", report.flows_started);
        assert_eq!(report.flows_finished, report.flows_started);
        assert_eq!(flows.len() as u64, report.flows_started);
        assert!(report.counters.is_conserved());
    }

    #[test]
    fn flows_that_never_change_their_path_keep_their_order() {
        let reordered = |gap| outcome(&[gap]).flows.iter().map(|flow| flow.out_of_order).sum::<u64>();
        assert_eq!(reordered("scheme.gap=10 s"), 0);
        assert!(reordered("scheme.gap=1 us") > 0);
    }
}
