//! [`Scheduler`]: Hedera's central controller. At an interval it asks the edge switches for the bytes of their flows, finds
//! the large flows, estimates their demands and places them on paths (Al-Fares et al., "Hedera: dynamic flow scheduling
//! for data center networks", NSDI 2010, section 4).

use std::collections::{BTreeMap, BTreeSet};

use weft_control::{
    Command, Controller, Duration, FlowCount, Match, PortNo, Rule, RuleAction, RuleChange, SwitchId,
    SwitchPort, Time, Transaction, priority,
};
use weft_fabric::{EqualCost, Fabric};
use weft_units::{HostId, LinkId, NodeId};
use weft_wire::EtherType;

use super::annealing::Annealing;
use super::config::{Config, LEAST_INTERVAL, Placement};
use super::demand::estimate;
use super::paths::{Pods, paths};
use super::placement::{Demand, first_fit};
use super::switch::{Flow, host_of};
use crate::smoc::{address, port_id, port_no, switch_id};
use crate::streams::Stream;

/// The controller.
pub(super) struct Scheduler {
    fabric: Fabric,
    interval: Duration,
    /// The least rate and demand of a large flow, in percent of the source's link.
    elephant: u64,
    random: Stream,
    /// The links of the fabric that are down.
    down: BTreeSet<LinkId>,
    routes: EqualCost,
    /// The search for a placement, if it is by annealing.
    annealing: Option<Annealing>,
    next: Time,
    /// When switches were last asked, and the time between that and the question before.
    asked: (Time, Duration),
    /// Switches to ask.
    to_ask: Vec<SwitchId>,
    /// Switches whose answers have not come.
    awaited: usize,
    counts: Vec<FlowCount>,
    placed: BTreeMap<Flow, Vec<LinkId>>,
    polls: u64,
    elephants: u64,
    moves: u64,
}

impl Scheduler {
    pub(super) fn new(fabric: &Fabric, config: &Config, random: Stream) -> Self {
        let routes = EqualCost::compute(fabric);
        let interval = Duration::from_ns(config.interval.max(LEAST_INTERVAL).ps() / 1_000);
        let anneals = config.placement == Placement::Annealing;
        let annealing = anneals.then(|| Annealing::new(Pods::of(fabric, &routes), fabric.host_count()));
        Self {
            fabric: fabric.clone(),
            interval,
            elephant: config.elephant,
            random,
            down: BTreeSet::new(),
            routes,
            annealing,
            next: Time::ZERO + interval,
            asked: (Time::ZERO, interval),
            to_ask: Vec::new(),
            awaited: 0,
            counts: Vec::new(),
            placed: BTreeMap::new(),
            polls: 0,
            elephants: 0,
            moves: 0,
        }
    }

    /// The rate of a host's first link, in bits per second.
    fn nic(&self, host: HostId) -> f64 {
        let link = self.fabric.ports(self.fabric.host_node(host)).first();
        link.map_or(0.0, |link| self.fabric.link(*link).rate.bps() as f64)
    }

    /// Places the large flows, once all answers have arrived.
    fn schedule(&mut self, out: &mut Vec<Command>) {
        let passed = self.asked.1.as_secs_f64();
        let share = self.elephant as f64 / 100.0;
        let mut flows: Vec<Flow> = Vec::new();
        for count in std::mem::take(&mut self.counts) {
            let hosts = [count.source.address, count.destination.address].map(host_of);
            let [Some(source), Some(destination)] = hosts else { continue };
            let is_known = |host: HostId| host.index() < self.fabric.host_count();
            let is_large = |host| count.bytes as f64 * 8.0 / passed >= share * self.nic(host);
            if is_known(source) && is_known(destination) && is_large(source) {
                flows.push(([source, destination], [count.source.port, count.destination.port]));
            }
        }
        flows.sort_unstable();
        flows.dedup();
        let hosts = (0..self.fabric.host_count() as u32).map(HostId);
        let nics: Vec<f64> = hosts.map(|host| self.nic(host)).collect();
        let ends: Vec<[usize; 2]> = flows.iter().map(|(hosts, _)| hosts.map(HostId::index)).collect();
        let mut large = Vec::new();
        for (flow, rate) in flows.into_iter().zip(estimate(&ends, &nics)) {
            let paths = paths(&self.fabric, &self.routes, flow.0);
            if rate < share * nics[flow.0[0].index()] || paths.is_empty() {
                continue;
            }
            let before = self.placed.get(&flow);
            let placed = before.and_then(|before| paths.iter().position(|path| path == before));
            large.push((flow, Demand { destination: flow.0[1].index(), rate, paths, placed }));
        }
        self.elephants += large.len() as u64;
        let demands: Vec<Demand> = large.iter().map(|(_, demand)| demand.clone()).collect();
        let links = self.fabric.links().iter();
        let capacities: Vec<f64> = links.map(|link| link.rate.bps() as f64).collect();
        let places = match &mut self.annealing {
            Some(annealing) => {
                let nic = nics.iter().copied().fold(1.0, f64::max);
                annealing.place(&demands, &capacities, nic, &mut self.random)
            }
            None => first_fit(&demands, &capacities),
        };
        let mut placed = BTreeMap::new();
        for ((flow, demand), place) in large.into_iter().zip(places) {
            if let Some(path) = place.and_then(|place| demand.paths.into_iter().nth(place)) {
                placed.insert(flow, path);
            }
        }
        self.install(placed, out);
    }

    /// Changes the rules to those of `placed`. Flows that are no longer large go by hash again.
    fn install(&mut self, placed: BTreeMap<Flow, Vec<LinkId>>, out: &mut Vec<Command>) {
        let mut changes = Vec::new();
        for (flow, path) in &self.placed {
            let after = placed.get(flow).map_or(&[][..], Vec::as_slice);
            let stays = |link: &LinkId| {
                let node = self.fabric.link(*link).from;
                after.iter().any(|link| self.fabric.link(*link).from == node)
            };
            for link in path.iter().filter(|link| !stays(link)) {
                let rule = self.rule(*flow, *link);
                let removal = RuleChange::Remove { cookie: rule.cookie, matches: rule.matches };
                changes.push((switch_id(self.fabric.link(*link).from), removal));
            }
        }
        for (flow, path) in &placed {
            let before = self.placed.get(flow);
            self.moves += u64::from(before != Some(path));
            let is_new = |link: &&LinkId| !before.is_some_and(|before| before.contains(link));
            for link in path.iter().filter(is_new) {
                let node = self.fabric.link(*link).from;
                changes.push((switch_id(node), RuleChange::Add(self.rule(*flow, *link))));
            }
        }
        self.placed = placed;
        if !changes.is_empty() {
            // Nothing waits for them: until they are installed, the flows keep their paths.
            out.push(Command::Install(Transaction { id: 0, rules: changes, release: Vec::new() }));
        }
    }

    /// The rule that sends a flow over a link.
    fn rule(&self, ([source, destination], [sport, dport]): Flow, link: LinkId) -> Rule {
        // Switches count the flows of all protocols, whose ports have the fields of TCP's.
        let matches = Match {
            eth_type: Some(EtherType::IPV4.0),
            ip_src: Some(address(source)),
            ip_dst: Some(address(destination)),
            tcp_src: Some(sport),
            tcp_dst: Some(dport),
            ..Match::ALL
        };
        let port = port_no(self.fabric.link(link).from_port);
        Rule {
            cookie: u64::from(source.0) << 32 | u64::from(sport) << 16 | u64::from(dport),
            priority: priority::FLOW,
            matches,
            actions: [RuleAction::Output(port)].into_iter().collect(),
            idle_timeout_s: 0,
            notify_removed: false,
        }
    }

    fn link_at(&self, at: SwitchPort) -> Option<LinkId> {
        let node = NodeId(u32::try_from(at.switch.0.checked_sub(1)?).ok()?);
        let is_known = node.index() < self.fabric.nodes().len();
        self.fabric.link_at(node, port_id(at.port)).filter(|_| is_known)
    }
}

impl Controller for Scheduler {
    fn switch_up(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        _ports: &[PortNo],
        _rules: &[Rule],
        _out: &mut Vec<Command>,
    ) {
    }

    fn port_changed(&mut self, _now: Time, at: SwitchPort, up: bool, _out: &mut Vec<Command>) {
        let Some(link) = self.link_at(at) else { return };
        let changed = if up { self.down.remove(&link) } else { self.down.insert(link) };
        if changed {
            let is_down = |link: LinkId| self.down.contains(&link) || self.down.contains(&link.reverse());
            self.routes = EqualCost::compute_where(&self.fabric, |link| !is_down(link));
        }
    }

    fn next_deadline(&self) -> Time {
        self.next
    }

    fn on_deadline(&mut self, now: Time, _out: &mut Vec<Command>) {
        if now < self.next {
            return;
        }
        self.next = now + self.interval;
        // Answers that take longer than an interval make it skip a round.
        if self.awaited == 0 {
            self.asked = (now, now.saturating_since(self.asked.0));
            let is_edge = |node: &NodeId| {
                let mut links = self.fabric.ports(*node).iter();
                links.any(|link| self.fabric.node(self.fabric.link(*link).to).is_host())
            };
            self.to_ask = self.fabric.switches().filter(is_edge).map(switch_id).collect();
            self.awaited = self.to_ask.len();
            self.polls += 1;
        }
    }

    fn counts_wanted(&mut self) -> Vec<SwitchId> {
        std::mem::take(&mut self.to_ask)
    }

    fn flows_counted(&mut self, _now: Time, _switch: SwitchId, counts: &[FlowCount], out: &mut Vec<Command>) {
        self.counts.extend_from_slice(counts);
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited == 0 {
            self.schedule(out);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let placed = self.placed.len() as u64;
        vec![
            ("polls", self.polls),
            ("elephants", self.elephants),
            ("moves", self.moves),
            ("placed_now", placed),
        ]
    }
}
