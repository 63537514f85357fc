//! [`FlowChoice`]: which flow of a plan to follow.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use weft_fabric::{Fabric, nearest};
use weft_scenario::Plan;
use weft_traffic::Flow;
use weft_units::{HostId, Time};

/// Bytes of a flow that shows a congestion window well.
const LONG: u64 = 1_000_000;
/// Such a flow is looked for after 1/`WARM_UP` of the run's duration.
const WARM_UP: u64 = 10;
/// The maximum number of names that a message lists.
const LISTED: usize = 8;
const NO_FLOWS: &str = "the scenario has no flows";

/// The flow to follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowChoice {
    /// A suitable one.
    Any,
    /// The flow with this number.
    Number(u64),
    /// The first from one host to another, with these ports if given.
    Between {
        /// Name of the source.
        from: String,
        /// Name of the destination.
        to: String,
        /// Port of the source.
        sport: Option<u16>,
        /// Port of the destination.
        dport: Option<u16>,
    },
}

impl FlowChoice {
    /// The flow that it names; for any flow, the first long one after the beginning, else the largest.
    ///
    /// # Errors
    /// A message: there is no such flow.
    pub fn named_or_long<'a>(&self, plan: &'a Plan) -> Result<&'a Flow, String> {
        if let Some(flow) = self.named(plan)? {
            return Ok(flow);
        }
        let warm = Time::from_ps(plan.run.duration.ps() / WARM_UP);
        let flows = &plan.traffic.flows;
        let long = flows.iter().find(|flow| flow.start >= warm && flow.bytes >= LONG);
        let found = long.or_else(|| flows.iter().min_by_key(|flow| Reverse(flow.bytes)));
        found.ok_or_else(|| NO_FLOWS.to_owned())
    }

    /// The flow that it names; `None` for any flow.
    ///
    /// # Errors
    /// A message: there is no such flow.
    pub fn named<'a>(&self, plan: &'a Plan) -> Result<Option<&'a Flow>, String> {
        let flows = &plan.traffic.flows;
        match self {
            Self::Any => Ok(None),
            Self::Number(number) => {
                let flow = usize::try_from(*number).ok().and_then(|number| flows.get(number));
                flow.map(Some).ok_or_else(|| match flows.len() {
                    0 => NO_FLOWS.to_owned(),
                    count => format!("there is no flow {number}: flows are numbered 0 to {}", count - 1),
                })
            }
            Self::Between { from, to, sport, dport } => between(plan, from, to, *sport, *dport).map(Some),
        }
    }
}

fn between<'a>(
    plan: &'a Plan,
    from: &str,
    to: &str,
    sport: Option<u16>,
    dport: Option<u16>,
) -> Result<&'a Flow, String> {
    let fabric = &plan.fabric;
    let (src, dst) = (host(fabric, from)?, host(fabric, to)?);
    let of_hosts = |flow: &&Flow| flow.src == src && flow.dst == dst;
    let of_ports = |flow: &&Flow| {
        sport.is_none_or(|port| port == flow.sport) && dport.is_none_or(|port| port == flow.dport)
    };
    let flows = &plan.traffic.flows;
    if let Some(flow) = flows.iter().filter(of_hosts).find(of_ports) {
        return Ok(flow);
    }
    let there: Vec<String> = flows.iter().filter(of_hosts).map(ports).collect();
    if !there.is_empty() {
        let known = listed(there);
        return Err(format!("no flow from {from} to {to} has these ports; existing flows: {known}"));
    }
    let mut seen = BTreeSet::new();
    let others = flows.iter().filter(|flow| flow.src == src && seen.insert(flow.dst));
    let others: Vec<_> = others.map(|flow| fabric.host_name(flow.dst).to_owned()).collect();
    Err(match others.len() {
        0 => format!("no flow starts at {from} in this scenario"),
        _ => format!("no flow goes from {from} to {to}; flows from {from} go to {}", listed(others)),
    })
}

/// The host named `name`.
fn host(fabric: &Fabric, name: &str) -> Result<HostId, String> {
    let names: Vec<&str> = fabric.hosts().iter().map(|&node| fabric.node(node).name.as_str()).collect();
    fabric.host_named(name).ok_or_else(|| match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("there is no host `{name}`: did you mean `{nearest}`?"),
        None => format!("there is no host `{name}`; the hosts are {}", listed(names)),
    })
}

/// The ports of a flow, for messages.
pub fn ports(flow: &Flow) -> String {
    format!("ports {} to {}", flow.sport, flow.dport)
}

/// The first names, and the number of others.
fn listed<S: AsRef<str>>(names: Vec<S>) -> String {
    let first: Vec<&str> = names.iter().take(LISTED).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(LISTED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
