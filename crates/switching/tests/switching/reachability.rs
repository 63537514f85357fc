//! Announcements of reachability on random fabrics: links fail and heal, switches notice late, messages are late or lost.

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use weft_fabric::{EqualCost, Fabric, FabricBuilder, LinkSpec};
use weft_switching::reachability::{PortBits, PortStates, Reachability};
use weft_switching::{Mac, Unreached};
use weft_units::{HostId, LinkId, NodeId, PortId};

/// Something that happens; a number selects where.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A cable fails, or works again.
    Toggle(usize),
    /// A switch notices the state of one of its links.
    Notice(usize),
    /// The first message on a link arrives.
    Deliver(usize),
    /// The first message on a link is lost.
    Lose(usize),
    /// Hello messages of a switch are due.
    Tick(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let at = any::<usize>;
    prop_oneof![
        2 => at().prop_map(Event::Toggle),
        3 => at().prop_map(Event::Notice),
        6 => at().prop_map(Event::Deliver),
        1 => at().prop_map(Event::Lose),
        2 => at().prop_map(Event::Tick),
    ]
}

/// A connected fabric of switches, some cables beyond a tree, and hosts with one or two links.
fn fabric() -> impl Strategy<Value = Fabric> {
    let (tree, more) = (vec(any::<usize>(), 1..8), vec(any::<[usize; 2]>(), 0..10));
    let hosts = vec((any::<[usize; 2]>(), any::<bool>()), 1..6);
    (tree, more, hosts).prop_map(|(tree, more, hosts)| {
        let (mut builder, spec) = (FabricBuilder::new("random"), LinkSpec::default());
        let count = tree.len() + 1;
        let switches: Vec<NodeId> =
            (0..count).map(|at| builder.add_switch(format!("s{at}"), 1, None).unwrap()).collect();
        let mut cables: Vec<[usize; 2]> =
            tree.iter().enumerate().map(|(at, to)| [to % (at + 1), at + 1]).collect();
        cables.extend(more.iter().map(|ends| ends.map(|end| end % count)).filter(|[a, b]| a != b));
        for [a, b] in cables {
            builder.connect(switches[a], switches[b], &spec).unwrap();
        }
        for (number, (ends, has_two)) in hosts.iter().enumerate() {
            let host = builder.add_host(format!("h{number}"), 0, None).unwrap();
            let [a, b] = ends.map(|end| end % count);
            builder.connect(host, switches[a], &spec).unwrap();
            if *has_two && a != b {
                builder.connect(host, switches[b], &spec).unwrap();
            }
        }
        builder.build().unwrap()
    })
}

/// A fabric whose switches announce to each other what they do not reach.
struct World {
    fabric: Fabric,
    configured: EqualCost,
    switches: BTreeMap<NodeId, Reachability>,
    /// Links of switches, with what their senders believe of them.
    believed: BTreeMap<LinkId, bool>,
    is_up: BTreeMap<LinkId, bool>,
    messages: BTreeMap<LinkId, VecDeque<Unreached>>,
}

fn bits(ports: impl IntoIterator<Item = PortId>) -> PortBits {
    ports.into_iter().fold(0, |bits, port| bits | 1 << port.0)
}

impl World {
    fn new(fabric: Fabric) -> Self {
        let configured = EqualCost::compute(&fabric);
        let mut switches = BTreeMap::new();
        for node in fabric.switches() {
            let mut switch = Reachability::new(fabric.ports(node).len());
            let hosts = (0..fabric.host_count() as u32).map(HostId);
            let route =
                |host: HostId| (Mac::of_host(host.0), bits(configured.next_hops(node, host).iter().copied()));
            switch.set_routes(hosts.map(route), |_| None);
            switches.insert(node, switch);
        }
        let all = || fabric.links().iter().enumerate().map(|(number, _)| LinkId(number as u32));
        let of_switch = |link: &LinkId| !fabric.node(fabric.link(*link).from).is_host();
        Self {
            believed: all().filter(of_switch).map(|link| (link, false)).collect(),
            is_up: all().map(|link| (link, true)).collect(),
            messages: all().map(|link| (link, VecDeque::new())).collect(),
            configured,
            switches,
            fabric,
        }
    }

    /// The links of a switch that it believes to be up and that lead to hosts, or to switches.
    fn links(&self, node: NodeId, to_hosts: bool) -> Vec<LinkId> {
        let links = self.fabric.ports(node).iter().copied();
        let is_wanted = |link: &LinkId| self.fabric.node(self.fabric.link(*link).to).is_host() == to_hosts;
        links.filter(|link| is_wanted(link) && self.believed[link]).collect()
    }

    /// Sends the announcements of a switch over these links.
    fn say(&mut self, node: NodeId, over: &[LinkId]) {
        for link in over.iter().filter(|link| self.is_up[link]) {
            self.messages.get_mut(link).unwrap().extend(self.switches[&node].parts().iter().cloned());
        }
    }

    fn settle(&mut self, node: NodeId) {
        if self.switches.get_mut(&node).unwrap().settle().says_other {
            self.say(node, &self.links(node, false));
        }
    }

    fn notice(&mut self, link: LinkId) {
        let node = self.fabric.link(link).from;
        let was_up = self.believed.insert(link, self.is_up[&link]).unwrap();
        let [hosts, fabric] = [true, false].map(|to_hosts| {
            bits(self.links(node, to_hosts).into_iter().map(|link| self.fabric.link(link).from_port))
        });
        self.switches.get_mut(&node).unwrap().set_ports(PortStates { up: hosts | fabric, fabric, hosts });
        self.settle(node);
        if !was_up && self.links(node, false).contains(&link) {
            self.say(node, &[link]);
        }
    }

    fn deliver(&mut self, link: LinkId) {
        let Some(part) = self.messages.get_mut(&link).and_then(VecDeque::pop_front) else { return };
        // A port that leads to no switch hears nothing.
        if self.believed[&link.reverse()] {
            let (to, port) = (self.fabric.link(link).to, self.fabric.link(link.reverse()).from_port);
            self.switches.get_mut(&to).unwrap().hear(port, part);
            self.settle(to);
        }
    }

    /// One of the links on which messages wait.
    fn waiting(&self, at: usize) -> Option<LinkId> {
        let waiting: Vec<LinkId> =
            self.messages.iter().filter(|(_, queue)| !queue.is_empty()).map(|(link, _)| *link).collect();
        (!waiting.is_empty()).then(|| waiting[at % waiting.len()])
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Toggle(at) => self.toggle(LinkId((at % self.fabric.links().len()) as u32)),
            Event::Notice(at) => {
                let link = *self.believed.keys().nth(at % self.believed.len()).unwrap();
                self.notice(link);
            }
            Event::Deliver(at) => self.waiting(at).into_iter().for_each(|link| self.deliver(link)),
            Event::Lose(at) => {
                let lost = self.waiting(at).and_then(|link| self.messages.get_mut(&link));
                lost.map(VecDeque::pop_front);
            }
            Event::Tick(at) => {
                let node = *self.switches.keys().nth(at % self.switches.len()).unwrap();
                self.say(node, &self.links(node, false));
            }
        }
    }

    fn toggle(&mut self, link: LinkId) {
        for link in [link, link.reverse()] {
            self.messages.get_mut(&link).unwrap().clear();
            self.is_up.entry(link).and_modify(|up| *up = !*up);
        }
    }

    /// All switches notice all links, and say what they reach as often as it takes.
    fn calm_down(&mut self) {
        self.believed.clone().into_keys().for_each(|link| self.notice(link));
        for _ in 0..=self.switches.len() {
            for node in self.switches.clone().into_keys() {
                self.say(node, &self.links(node, false));
            }
            while let Some(link) = self.waiting(0) {
                self.deliver(link);
            }
        }
    }

    /// The next hops of a switch to a host.
    fn next_hops(&self, node: NodeId, host: HostId) -> PortBits {
        self.switches[&node].routes().find(|(station, _)| *station == Mac::of_host(host.0)).unwrap().1
    }

    fn configured(&self, node: NodeId, host: HostId) -> PortBits {
        bits(self.configured.next_hops(node, host).iter().copied())
    }

    /// Those of the configured next hops over which frames to the host arrive whatever switches choose.
    fn arriving(&self, node: NodeId, host: HostId) -> PortBits {
        let works = |port: &PortId| {
            let link = self.fabric.ports(node)[port.index()];
            let to = self.fabric.link(link).to;
            self.is_up[&link] && (self.fabric.node(to).is_host() || self.arriving(to, host) != 0)
        };
        bits(self.configured.next_hops(node, host).iter().copied().filter(works))
    }

    /// Whether frames from the switch to the host may come to a switch twice.
    fn has_loop(&self, node: NodeId, host: HostId, path: &mut Vec<NodeId>) -> bool {
        if path.contains(&node) {
            return true;
        }
        path.push(node);
        let hops = self.next_hops(node, host);
        let found = self.fabric.ports(node).iter().enumerate().any(|(port, link)| {
            let to = self.fabric.link(*link).to;
            hops & 1 << port != 0 && !self.fabric.node(to).is_host() && self.has_loop(to, host, path)
        });
        path.pop();
        found
    }

    fn pairs(&self) -> impl Iterator<Item = (NodeId, HostId)> {
        let hosts = self.fabric.host_count() as u32;
        self.switches.keys().flat_map(move |node| (0..hosts).map(move |host| (*node, HostId(host))))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_loop_ever_forms_and_in_the_end_frames_take_the_ways_that_arrive(
        fabric in fabric(), events in vec(event(), 0..120),
    ) {
        let mut world = World::new(fabric);
        world.calm_down();
        for event in events {
            world.happens(event);
            for (node, host) in world.pairs() {
                let (hops, configured) = (world.next_hops(node, host), world.configured(node, host));
                prop_assert!(hops != 0 || configured == 0, "no next hop is left");
                prop_assert_eq!(hops & !configured, 0, "a next hop that is not configured");
                prop_assert!(!world.has_loop(node, host, &mut Vec::new()), "a loop");
            }
        }
        world.calm_down();
        for (node, host) in world.pairs() {
            let (hops, arriving) = (world.next_hops(node, host), world.arriving(node, host));
            let expected = if arriving == 0 { world.configured(node, host) } else { arriving };
            prop_assert_eq!(hops, expected, "{:?} to {:?}", node, host);
        }
        let broken: Vec<LinkId> = world.is_up.iter().filter(|(_, up)| !**up).map(|(link, _)| *link).collect();
        for link in broken {
            if !world.is_up[&link] {
                world.toggle(link);
            }
        }
        world.calm_down();
        for (node, host) in world.pairs() {
            prop_assert_eq!(world.next_hops(node, host), world.configured(node, host), "healed");
        }
    }
}
