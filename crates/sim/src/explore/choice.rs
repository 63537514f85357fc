//! [`Chooser`]: selects the flow of a plan to follow, among those the scheme explores for.

use std::collections::BTreeMap;

use weft_scenario::Plan;
use weft_switching::exploration::Exploration;
use weft_switching::tfe::Classifier;
use weft_switching::{Explores, Kind, explores};
use weft_traffic::Flow;
use weft_units::{Bytes, Duration, FlowId, HostId, Time, plural};

use crate::flow_choice::{FlowChoice, ports};

/// A flow that takes at least this long at its source's full link rate can have its path cut.
const LONG: Duration = Duration::from_ms(4);
/// The fabric carries its full load after 1/`WARM_UP` of the run's duration.
const WARM_UP: u64 = 10;

/// Decides whether the scheme explores for a flow.
pub struct Chooser<'a> {
    plan: &'a Plan,
    /// How the scheme classifies elephants; `None` if it explores for all flows.
    classifier: Option<Classifier>,
    /// Whether the scheme explores per station instead of per flow.
    of_stations: bool,
    /// The first flow between two hosts, if the scheme explores only for that one.
    first_flows: BTreeMap<[HostId; 2], FlowId>,
}

impl<'a> Chooser<'a> {
    /// A chooser for the scheme and the flows of `plan`.
    pub fn new(plan: &'a Plan) -> Self {
        let scheme = &plan.scheme;
        let explores = explores(&scheme.name);
        let of_stations = explores == Some(Explores::Stations);
        let arp_cache = Exploration::from_spec(scheme).arp_cache;
        let mut first_flows = BTreeMap::new();
        if of_stations && arp_cache > Duration::ZERO {
            for flow in &plan.traffic.flows {
                first_flows.entry(pair(flow)).or_insert(flow.id);
            }
        }
        let classifier = (explores == Some(Explores::Elephants)).then(|| Classifier::from_spec(scheme));
        Self { plan, classifier, of_stations, first_flows }
    }

    /// The first frame of an exploration.
    pub fn first_kind(&self) -> Kind {
        match self.classifier {
            _ if self.of_stations => Kind::ArpRequest,
            Some(Classifier::Auto(_)) => Kind::RecoveryRequest,
            _ => Kind::Tcp,
        }
    }

    /// Bytes that a flow has left to send when its exploration starts.
    pub fn bytes_after(&self, flow: &Flow) -> u64 {
        match self.classifier {
            Some(Classifier::Auto(enough)) => flow.bytes.saturating_sub(enough.0),
            _ => flow.bytes,
        }
    }

    /// The flow that matches `choice`.
    ///
    /// # Errors
    /// A message: there is no such flow, or the scheme does not explore for it.
    pub fn choose(&self, choice: &FlowChoice) -> Result<Flow, String> {
        let Some(flow) = choice.named(self.plan)? else {
            return self.good().ok_or_else(|| self.none_explores());
        };
        match self.why_not(flow) {
            None => Ok(*flow),
            Some(why) => Err(match self.good() {
                Some(good) => format!("{why}; try --flow {}", good.id.0),
                None => why,
            }),
        }
    }

    fn none_explores(&self) -> String {
        let why = self.plan.traffic.flows.first().and_then(|flow| self.why_not(flow));
        let example = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("`{}` does not explore for any flow of this scenario{example}", self.plan.scheme.name)
    }

    /// Why the scheme does not explore for `flow`; `None` if it does.
    fn why_not(&self, flow: &Flow) -> Option<String> {
        let fabric = &self.plan.fabric;
        let [src, dst] = [flow.src, flow.dst].map(|host| fabric.host_name(host));
        let number = flow.id.0;
        if fabric.edge_switch(flow.src) == fabric.edge_switch(flow.dst) {
            return Some(format!("the hosts of flow {number}, {src} and {dst}, are on the same switch"));
        }
        let selects = |classifier: &Classifier| classifier.selects(flow.sport, flow.dport, flow.dscp);
        let scheme = &self.plan.scheme.name;
        let not_elephant =
            |is| Some(format!("`{scheme}` explores for elephants only, and flow {number} {is}"));
        match &self.classifier {
            Some(Classifier::Auto(enough)) if flow.bytes < enough.0 => {
                return not_elephant(format!("has {}, fewer than {}", plural(flow.bytes, "byte"), enough.0));
            }
            Some(ports_of @ Classifier::Ports(first, last)) if !selects(ports_of) => {
                return not_elephant(format!("has {}, not {first} to {last}", ports(flow)));
            }
            Some(marked @ Classifier::Dscp(dscp)) if !selects(marked) => {
                return not_elephant(format!("has DSCP {}, not {dscp}", flow.dscp));
            }
            _ => {}
        }
        self.first_flows.get(&pair(flow)).filter(|first| **first != flow.id).map(|first| {
            format!(
                "{src} already knows the address of {dst} from flow {} when flow {number} starts",
                first.0
            )
        })
    }

    /// The first flow that shows an exploration well: explored for, long enough to be cut, and after
    /// warm-up; otherwise the longest flow that is explored for.
    fn good(&self) -> Option<Flow> {
        let warm = Time::from_ps(self.plan.run.duration.ps() / WARM_UP);
        let flows = &self.plan.traffic.flows;
        let is_long = |flow: &&Flow| self.lasts(flow) >= LONG;
        let is_explored = |flow: &&Flow| self.why_not(flow).is_none();
        let (early, late) = flows.split_at(flows.partition_point(|flow| flow.start < warm));
        let good = late.iter().chain(early).filter(is_long).find(is_explored);
        let longest = || flows.iter().filter(is_explored).max_by_key(|flow| (flow.bytes, flow.id));
        good.or_else(longest).copied()
    }

    /// How long the flow's remaining bytes take at its source's full link rate.
    fn lasts(&self, flow: &Flow) -> Duration {
        let fabric = &self.plan.fabric;
        let nic = fabric.ports(fabric.host_node(flow.src)).first();
        nic.map_or(Duration::ZERO, |&nic| fabric.link(nic).rate.tx_time(Bytes(self.bytes_after(flow))))
    }
}

/// The two hosts of a flow, lower number first.
fn pair(flow: &Flow) -> [HostId; 2] {
    [flow.src.min(flow.dst), flow.src.max(flow.dst)]
}
