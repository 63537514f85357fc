//! A plan as JSON, for the emulation or another simulator.
//!
//! Everything is explicit: addresses, ports, parameters with their defaults, every flow. Cables are numbered
//! by their index in `links`, ports by their index at their node, both from 0.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use weft_fabric::{EqualCost, Fabric, Limit, Link, Overhead, QueueSpec};
use weft_switching::ecmp::hash_id;
use weft_switching::wcmp::{self, Weights};
use weft_switching::{Forwarding, Hops, Mac, ParamInfo, ParamValue};
use weft_transport::{CongestionControl, Protocol};
use weft_units::{HostId, NodeId, Time};

use crate::link_states::LinkStates;
use crate::plan::Plan;

/// The network of the hosts' addresses, and its prefix length.
const NETWORK: (u32, u8) = (10 << 24, 8);

impl Plan {
    /// The plan as a serializable value; `_weft.pyi` describes it.
    pub fn export(&self) -> impl Serialize + '_ {
        Export {
            id: &self.id,
            label: &self.label,
            name: &self.name,
            seed: self.seed,
            overrides: &self.overrides,
            hosts: hosts(&self.fabric),
            switches: switches(self),
            links: cables(&self.fabric),
            buffer_bytes: self.fabric.buffer().map(|buffer| buffer.bytes.0),
            flows: Flows(self),
            flows_waiting: self.traffic.dependencies.waiting() + self.traffic.parts.len(),
            scheme: Scheme { name: &self.scheme.name, params: parameters(self) },
            transport: Transport {
                profile: &self.transport.profile,
                congestion: self.transport.protocol.tcp().map(|tcp| tcp.congestion_control),
                parameters: &self.transport.protocol,
            },
            run: Run {
                duration_ps: self.run.duration.ps(),
                limit_ps: self.run.limit.ps(),
                seed: self.seed,
                warm: self.run.warm,
            },
            measure: Measure {
                interval_ps: self.measure.interval.ps(),
                window_ps: [self.measure.window.0.ps(), self.measure.window.1.ps()],
                mouse_bytes: self.measure.thresholds.mouse.0,
                elephant_bytes: self.measure.thresholds.elephant.0,
            },
            events: events(self),
            reroutes: reroutes(self),
            routes: self.descriptor.next_hops.map(|_| self.routes(&self.down())),
            weights: (self.descriptor.name == wcmp::DESCRIPTOR.name).then(|| GroupWeights::new(self)),
            warnings: &self.warnings,
        }
    }

    /// The next hops of every switch to every host with the cables `down`, indices in `links`, down and all
    /// others up.
    pub fn routes(&self, down: &[usize]) -> Routes<'_> {
        let down: BTreeSet<usize> = down.iter().copied().collect();
        let paths = EqualCost::compute_where(&self.fabric, |link| !down.contains(&(link.index() / 2)));
        Routes { fabric: &self.fabric, paths, single: self.descriptor.next_hops == Some(Hops::Lowest) }
    }

    /// The cables that are down when the run starts.
    fn down(&self) -> Vec<usize> {
        let cables = self.fabric.links().iter().step_by(2).enumerate();
        cables.filter(|(_, link)| !link.up).map(|(at, _)| at).collect()
    }
}

/// Next hops: for each switch and each reachable host, the ports in order.
pub struct Routes<'a> {
    fabric: &'a Fabric,
    paths: EqualCost,
    /// Whether only the lowest-numbered of equal next hops is written.
    single: bool,
}

impl Routes<'_> {
    fn next_hops(&self, switch: NodeId, host: HostId) -> Vec<u16> {
        let ports = self.paths.next_hops(switch, host);
        if !self.single {
            return ports.iter().map(|port| port.0).collect();
        }
        let cables = self.fabric.ports(switch);
        let lowest = ports.iter().min_by_key(|port| (self.fabric.link(cables[port.index()]).to, **port));
        lowest.map(|port| port.0).into_iter().collect()
    }
}

impl Serialize for Routes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        by_host(self.fabric, |switch, host| self.next_hops(switch, host), serializer)
    }
}

/// For each switch and each reachable host, the weights of the next hops in the order of [`Routes`].
struct GroupWeights<'a> {
    fabric: &'a Fabric,
    weights: Weights,
}

impl<'a> GroupWeights<'a> {
    /// The weights of the groups with which a run starts.
    fn new(plan: &'a Plan) -> Self {
        let fabric = &plan.fabric;
        let routes = Forwarding::new(fabric, |link| fabric.link(link).up);
        Self { fabric, weights: Weights::new(fabric, &routes, &plan.scheme) }
    }
}

impl Serialize for GroupWeights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        by_host(self.fabric, |switch, host| self.weights.of(switch, host), serializer)
    }
}

/// Writes a list for each switch and each host; hosts with an empty list are left out.
fn by_host<S: Serializer, T: Serialize>(
    fabric: &Fabric,
    list: impl Fn(NodeId, HostId) -> Vec<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(fabric.switch_count()))?;
    for switch in fabric.switches() {
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let lists = hosts.map(|host| (fabric.host_name(host), list(switch, host)));
        let lists = InOrder(lists.filter(|(_, list)| !list.is_empty()).collect());
        map.serialize_entry(&fabric.node(switch).name, &lists)?;
    }
    map.end()
}

/// A map whose keys keep their order.
struct InOrder<'a, T>(Vec<(&'a str, Vec<T>)>);

impl<T: Serialize> Serialize for InOrder<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
struct Export<'a> {
    id: &'a str,
    label: &'a str,
    name: &'a str,
    seed: u64,
    overrides: &'a serde_json::Map<String, serde_json::Value>,
    hosts: Vec<Host<'a>>,
    switches: Vec<Switch<'a>>,
    links: Vec<Cable<'a>>,
    /// Of the buffer that the queues of a switch share, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_bytes: Option<u64>,
    flows: Flows<'a>,
    /// Flows that start after others, at times that are not known in advance.
    #[serde(skip_serializing_if = "is_zero")]
    flows_waiting: usize,
    scheme: Scheme<'a>,
    transport: Transport<'a>,
    run: Run,
    measure: Measure,
    events: Vec<Event>,
    reroutes: Vec<Reroute<'a>>,
    routes: Option<Routes<'a>>,
    /// The weights of the routes under `wcmp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<GroupWeights<'a>>,
    warnings: &'a [String],
}

const fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct Host<'a> {
    name: &'a str,
    mac: String,
    address: Ipv4Addr,
    prefix: u8,
}

#[derive(Serialize)]
struct Switch<'a> {
    name: &'a str,
    id: String,
    tier: u8,
    pod: Option<u32>,
    ports: usize,
}

#[derive(Serialize)]
struct Cable<'a> {
    a: End<'a>,
    b: End<'a>,
    up: bool,
}

/// An end of a cable, with the properties of the direction that leaves it.
#[derive(Serialize)]
struct End<'a> {
    node: &'a str,
    port: u16,
    rate_bps: u64,
    delay_ps: u64,
    queue_packets: Option<u32>,
    queue_bytes: Option<u64>,
    queue: &'a QueueSpec,
    overhead: Overhead,
}

#[derive(Serialize)]
struct Scheme<'a> {
    name: &'a str,
    params: BTreeMap<&'a str, ParamValue>,
}

#[derive(Serialize)]
struct Transport<'a> {
    profile: &'a str,
    congestion: Option<CongestionControl>,
    parameters: &'a Protocol,
}

#[derive(Serialize)]
struct Run {
    duration_ps: u64,
    limit_ps: u64,
    seed: u64,
    warm: bool,
}

#[derive(Serialize)]
struct Measure {
    interval_ps: u64,
    window_ps: [u64; 2],
    mouse_bytes: u64,
    elephant_bytes: u64,
}

#[derive(Serialize)]
struct Event {
    at_ps: u64,
    change: &'static str,
    target: String,
    /// Whether links go up (true) or down (false); absent if they do neither.
    up: Option<bool>,
    links: Vec<usize>,
}

/// The next hops from a time on.
#[derive(Serialize)]
struct Reroute<'a> {
    at_ps: u64,
    routes: Routes<'a>,
}

/// The flows in workload format.
struct Flows<'a>(&'a Plan);

impl Serialize for Flows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flow<'a> {
            flow: u32,
            src: &'a str,
            dst: &'a str,
            sport: u16,
            dport: u16,
            bytes: u64,
            dscp: u8,
            class: &'a str,
            start_ps: u64,
        }
        let Plan { traffic, fabric, .. } = self.0;
        let mut flows = serializer.serialize_seq(Some(traffic.flows.len()))?;
        for flow in &traffic.flows {
            flows.serialize_element(&Flow {
                flow: flow.id.0,
                src: fabric.host_name(flow.src),
                dst: fabric.host_name(flow.dst),
                sport: flow.sport,
                dport: flow.dport,
                bytes: flow.bytes,
                dscp: flow.dscp,
                class: traffic.classes.get(usize::from(flow.class)).map_or("", String::as_str),
                start_ps: flow.start.ps(),
            })?;
        }
        flows.end()
    }
}

fn hosts(fabric: &Fabric) -> Vec<Host<'_>> {
    let hosts = (0..fabric.host_count() as u32).map(HostId);
    hosts
        .map(|host| Host {
            name: fabric.host_name(host),
            mac: Mac::of_host(host.0).to_string(),
            address: Ipv4Addr::from_bits(NETWORK.0 + 1 + host.0),
            prefix: NETWORK.1,
        })
        .collect()
}

fn switches(plan: &Plan) -> Vec<Switch<'_>> {
    let switch = |id| {
        let node = plan.fabric.node(id);
        Switch {
            name: &node.name,
            id: format!("{:016x}", hash_id(plan.seed, id)),
            tier: node.tier,
            pod: node.pod,
            ports: plan.fabric.ports(id).len(),
        }
    };
    plan.fabric.switches().map(switch).collect()
}

/// Packets in the queue of an interface without a limit: Linux's `txqueuelen`.
const LONG_QUEUE: u32 = 1000;

fn cables(fabric: &Fabric) -> Vec<Cable<'_>> {
    fn end<'a>(fabric: &'a Fabric, link: &'a Link) -> End<'a> {
        let (queue_packets, queue_bytes) = match link.queue.limit {
            Limit::Packets(packets) => (Some(packets), None),
            Limit::Bytes(bytes) => (None, Some(bytes)),
            Limit::Unlimited => (Some(LONG_QUEUE), None),
        };
        End {
            node: &fabric.node(link.from).name,
            port: link.from_port.0,
            rate_bps: link.rate.bps(),
            delay_ps: link.delay.ps(),
            queue_packets,
            queue_bytes,
            queue: &link.queue,
            overhead: link.overhead,
        }
    }
    let pairs = fabric.links().chunks_exact(2);
    pairs.map(|pair| Cable { a: end(fabric, &pair[0]), b: end(fabric, &pair[1]), up: pair[0].up }).collect()
}

/// Every parameter of the scheme; its default unless the scenario sets it.
fn parameters(plan: &Plan) -> BTreeMap<&str, ParamValue> {
    let given = &plan.scheme.params;
    let value = |param: &ParamInfo| given.get(param.name).cloned().unwrap_or_else(|| param.default.into());
    plan.descriptor.params.iter().map(|param| (param.name, value(param))).collect()
}

/// The events with the cables that go down or up.
fn events(plan: &Plan) -> Vec<Event> {
    let fabric = &plan.fabric;
    let mut states = LinkStates::of(fabric);
    let events = plan.events.iter().map(|event| {
        let mut links: Vec<usize> =
            states.switch(&event.change).iter().map(|link| link.index() / 2).collect();
        links.sort_unstable();
        Event {
            at_ps: event.at.ps(),
            change: event.change.name(),
            target: event.change.target(fabric),
            up: event.change.goes_up(),
            links,
        }
    });
    events.collect()
}

/// The next hops after each reaction to events, over the links that are up by then.
fn reroutes(plan: &Plan) -> Vec<Reroute<'_>> {
    let Some(hops) = plan.descriptor.next_hops else { return Vec::new() };
    let fabric = &plan.fabric;
    let (mut states, mut events) = (LinkStates::of(fabric), plan.events.iter().peekable());
    let times: BTreeSet<Time> = plan.events.iter().filter_map(|event| plan.reroutes_at(event)).collect();
    let reroutes = times.into_iter().map(|at| {
        // An event at the very time of a reaction to an earlier one is not known yet.
        while let Some(event) = events.next_if(|event| event.at < at || plan.reroutes_at(event) == Some(at)) {
            states.apply(&event.change);
        }
        let paths = EqualCost::compute_where(fabric, |link| states.is_up(link));
        Reroute { at_ps: at.ps(), routes: Routes { fabric, paths, single: hops == Hops::Lowest } }
    });
    reroutes.collect()
}
