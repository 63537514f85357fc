//! ConWeave in the engine: packets of moved flows wait in the switch of their destination, and arrive in order.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_scenario::{Plan, Scenario};
use weft_sim::engine::Progress;
use weft_sim::record::{MemoryRecorder, RunReport};
use weft_sim::run::run_own;
use weft_switching::conweave::ConWeave;
use weft_switching::spray::Spray;
use weft_switching::{Actions, Blueprint, Context, Forwarding, Header, Switch};
use weft_units::{NodeId, PortId, Time};

/// One of two schemes, so that one engine is compiled.
enum Scheme {
    ConWeave(ConWeave),
    Spray(Spray),
}

enum Either<A, B> {
    ConWeave(A),
    Spray(B),
}

impl Blueprint for Scheme {
    type Switch = Either<<ConWeave as Blueprint>::Switch, <Spray as Blueprint>::Switch>;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> Self::Switch {
        match self {
            Self::ConWeave(scheme) => Either::ConWeave(scheme.switch(fabric, node)),
            Self::Spray(scheme) => Either::Spray(scheme.switch(fabric, node)),
        }
    }
}

impl<A: Switch, B: Switch> Switch for Either<A, B> {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        match self {
            Self::ConWeave(switch) => switch.receive(ctx, ingress, header, out),
            Self::Spray(switch) => switch.receive(ctx, ingress, header, out),
        }
    }

    fn next_deadline(&self) -> Time {
        match self {
            Self::ConWeave(switch) => switch.next_deadline(),
            Self::Spray(switch) => switch.next_deadline(),
        }
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        match self {
            Self::ConWeave(switch) => switch.on_deadline(ctx, out),
            Self::Spray(switch) => switch.on_deadline(ctx, out),
        }
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        match self {
            Self::ConWeave(switch) => switch.routes_changed(routes),
            Self::Spray(switch) => switch.routes_changed(routes),
        }
    }
}

const LEAF_SPINE: &str = "kind = \"spine-leaf\"\nspines = 4\nleaves = 4\nhosts_per_leaf = 4";
const FAT_TREE: &str = "kind = \"fat-tree\"\nk = 4";
const LOSSLESS: &str =
    "queue = \"2 MB\"\npfc = {}\nred = { kmin = \"20 kB\", kmax = \"100 kB\", pmax = 0.2 }";
/// Moves often, and waits long.
const PATIENT: &str = "name = \"conweave\"\ncutoff = \"0 s\"\nwait = \"1 ms\"\nslack = \"1 ms\"\nexpiry = \"1 ms\"\naging = \"4 ms\"";

/// Random flows over a fabric whose uplinks are as fast as a host's link.
fn plan(fabric: &str, scheme: &str, transport: &str, rest: &str) -> Plan {
    let text = format!(
        "[fabric]\n{fabric}\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n[traffic]\narrivals = \"at-once\"\npairs = \"all-to-all\"\n\
         flows = 120\nsizes = {{ fixed = \"300 kB\" }}\n[scheme]\n{scheme}\n[transport]\nprotocol = \"roce\"\n{transport}\n\
         [run]\nduration = \"10 ms\"\nlimit = \"1 s\"\n{rest}\n"
    );
    let scenario = Scenario::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let point = scenario.points().first().expect("a scenario has a point");
    scenario.plan(point, &|_| Ok(Vec::new())).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The outcome, in which every packet is accounted for and every flow is finished.
fn run(plan: &Plan, threads: usize) -> (RunReport, MemoryRecorder) {
    let scheme = |routes: &Arc<Forwarding>| {
        let routes = Arc::clone(routes);
        match plan.scheme.name.as_str() {
            "spray" => Scheme::Spray(Spray::new(routes)),
            _ => Scheme::ConWeave(ConWeave::new(&plan.fabric, routes, plan.seed, &plan.scheme).unwrap()),
        }
    };
    let mut kept = MemoryRecorder::default();
    let report = run_own(plan, scheme, threads, &Progress::default(), &mut kept);
    assert!(report.counters.is_conserved(), "{:?}", report.counters);
    assert_eq!(report.flows_finished, kept.flows.len() as u64);
    kept.flows.sort_by_key(|record| record.flow.id);
    (report, kept)
}

/// Packets out of order, and messages between switches.
fn disorder((report, kept): &(RunReport, MemoryRecorder)) -> (u64, u64) {
    (kept.flows.iter().map(|flow| flow.out_of_order).sum(), report.counters.packets_of_switches)
}

#[test]
fn moved_flows_arrive_in_order_where_sprayed_ones_do_not() {
    for shape in [LEAF_SPINE, FAT_TREE] {
        for buffer in ["", "\nbuffer = \"6 MB\""] {
            let fabric = format!("{shape}\n{LOSSLESS}{buffer}");
            let of = |scheme: &str| disorder(&run(&plan(&fabric, scheme, "", ""), 1));
            let (ordered, sprayed) = (of(PATIENT), of("name = \"spray\""));
            assert_eq!(ordered.0, 0, "{fabric}");
            assert!(ordered.1 > 1_000 && sprayed.0 > 1_000, "{fabric}: {ordered:?}, {sprayed:?}");
            let few = of(&format!("{PATIENT}\nqueues = 1"));
            assert!(few.0 > 50, "flows move, and most cannot wait: {few:?}");
        }
    }
}

#[test]
fn results_are_the_same_with_any_number_of_threads() {
    for (shape, scheme) in [(LEAF_SPINE, PATIENT), (FAT_TREE, "name = \"conweave\"\nflow_table = 16")] {
        let plan = plan(&format!("{shape}\n{LOSSLESS}"), scheme, "", "");
        let said = |threads| {
            let (mut report, kept) = run(&plan, threads);
            report.state_bytes = 0;
            format!("{report:?} {kept:?}")
        };
        let alone = said(1);
        for threads in [2, 3, 8] {
            assert!(said(threads) == alone, "{threads} threads differ");
        }
    }
}

#[test]
fn packets_whose_tail_is_lost_do_not_wait_for_ever() {
    let losses = "[[event]]\nat = \"0 s\"\nchange = { share = 1.0 }\nloss = 0.01";
    let transport = "loss_recovery = \"selective-repeat\"";
    for shape in [LEAF_SPINE, FAT_TREE] {
        let (report, kept) = run(&plan(&format!("{shape}\nqueue = \"1 MB\""), PATIENT, transport, losses), 1);
        assert!(kept.flows.iter().map(|flow| flow.drops).sum::<u64>() > 100);
        assert_eq!(report.counters.packets_in_flight, 0, "{shape}");
    }
}
