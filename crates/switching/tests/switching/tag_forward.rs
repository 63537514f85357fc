//! Tag-and-Forward: every pair over every way, with one lookup in one flow table; untrusted frames; failing ports.

use std::sync::Arc;

use proptest::prelude::*;
use weft_fabric::gates::{Gate, GateFlag, GatePlan, Hop, Layer, Numbering, Steering, TagWidth};
use weft_fabric::{Fabric, LinkSpec, build};
use weft_switching::tag_forward::{
    Counters, FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, Limits, PathChoice,
    TagForwardSwitch, Way, addresses,
};
use weft_switching::{Action, Actions, DropReason, Header, Kind, Mac, Rewrite, Switch, pick, stream};
use weft_units::{HostId, NodeId, PortId};
use weft_wire::{EtherType, Tag};

use crate::common::World;

/// A fat-tree with k/2 routers at each core, as in the paper.
fn paper(k: u32) -> Fabric {
    let link = LinkSpec::default();
    build::fat_tree_with_routers(k, k / 2, &link, &link, &link).unwrap()
}

fn frame(from: HostId, to: HostId, sport: u16) -> Header {
    crate::common::frame(from.0, to.0, sport, 80)
}

fn world() -> World {
    World::new(stream(1, "switch", 0))
}

/// A switch's decision on a frame.
#[derive(Debug, PartialEq)]
enum Did {
    Sent(PortId, Rewrite, u8),
    Dropped(DropReason),
    Consumed,
}

fn receive(switch: &mut TagForwardSwitch, ctx: &mut World, ingress: PortId, header: &Header) -> Did {
    let mut out = Actions::default();
    switch.receive(ctx, ingress, header, &mut out);
    let all: Vec<Action> = out.all().collect();
    match all.as_slice() {
        [Action::Send(port)] => Did::Sent(*port, out.rewriting(), out.queued()),
        [Action::Drop(reason)] => Did::Dropped(*reason),
        [Action::Consume] => Did::Consumed,
        _ => panic!("{all:?}"),
    }
}

/// The destination of a frame, its switches and ports, and its final form.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Arrival {
    hops: Vec<(NodeId, PortId)>,
    frame: Header,
    host: HostId,
}

/// The switches of a fat-tree, with the gates of its plan.
struct Net<'a> {
    fabric: &'a Fabric,
    plan: GatePlan,
    /// By node.
    switches: Vec<Option<TagForwardSwitch>>,
    ctx: World,
}

impl<'a> Net<'a> {
    fn new(fabric: &'a Fabric, width: TagWidth) -> Self {
        let plan = GatePlan::of(fabric, &Numbering { width, ..Numbering::default() }).unwrap();
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let switch = |node| {
            let gates = plan.switch(node)?;
            Some(TagForwardSwitch::new(gates, width, Limits::default(), PathChoice::Spray).unwrap())
        };
        let switches = nodes.map(switch).collect();
        Self { fabric, plan, switches, ctx: world() }
    }

    fn at(&mut self, node: NodeId) -> &mut TagForwardSwitch {
        self.switches[node.index()].as_mut().unwrap()
    }

    fn named(&mut self, name: &str) -> &mut TagForwardSwitch {
        let node = self.fabric.find(name).unwrap();
        self.at(node)
    }

    /// The rule that sends frames between two hosts over a way.
    fn rule(from: HostId, to: HostId, steering: Steering, queue: u8) -> FlowRule {
        let between = addresses(&frame(from, to, 0)).unwrap();
        let matches = FlowMatch::new(between.source.into(), between.destination.into()).unwrap();
        let way = Way { gate: steering.gate, up: steering.up };
        FlowRule {
            priority: 1,
            matches,
            action: FlowAction { queue, down: steering.down, to: FlowTarget::Way(way) },
        }
    }

    /// Sends a frame that its host sends to switch `at`; returns the switches and ports, and the frame as it arrives.
    fn send(&mut self, at: NodeId, mut header: Header) -> Result<Arrival, DropReason> {
        let source = self.fabric.host_node(header.source().unwrap());
        let first = self.fabric.link_between(source, at).unwrap();
        let (mut node, mut ingress) = (at, self.fabric.link(first).to_port);
        let mut hops = Vec::new();
        loop {
            assert!(hops.len() < 6, "a loop: {hops:?}");
            let switch = self.switches[node.index()].as_mut().unwrap();
            match receive(switch, &mut self.ctx, ingress, &header) {
                Did::Sent(port, rewrite, _) => {
                    rewrite.apply(&mut header);
                    hops.push((node, port));
                    let link = self.fabric.link(self.fabric.link_at(node, port).unwrap());
                    if let Some(host) = self.fabric.node(link.to).host {
                        return Ok(Arrival { hops, frame: header, host });
                    }
                    assert_eq!(header.ip_bytes, 1508, "tagged between switches");
                    (node, ingress) = (link.to, link.to_port);
                }
                Did::Dropped(reason) => return Err(reason),
                Did::Consumed => panic!("a switch consumed a host's frame"),
            }
        }
    }

    fn lookups(&self) -> u64 {
        self.switches.iter().flatten().map(|switch| switch.counters().lookups).sum()
    }

    /// Sends a pair over a way, and asserts that its frame arrives unchanged over exactly the way's switches, with one
    /// lookup, at the source.
    fn takes(&mut self, from: HostId, to: HostId, choice: usize) {
        let (at, steering) = self.plan.steering(from, to, choice).unwrap();
        let expected: Vec<Hop> = self.plan.route(at, steering).unwrap();
        let rule = Self::rule(from, to, steering, 0);
        self.at(at).change(&FlowChange::Add(rule)).unwrap();
        let (before, of_source) = (self.lookups(), self.at(at).counters().lookups);
        let sent = frame(from, to, 7);
        let arrival = self.send(at, sent).unwrap();
        let hops = expected.iter().map(|hop| (hop.switch, hop.port)).collect();
        assert_eq!(
            arrival,
            Arrival { hops, frame: sent, host: to },
            "{from} to {to} by {choice}, {}",
            self.fabric.name()
        );
        assert_eq!((self.lookups() - before, self.at(at).counters().lookups - of_source), (1, 1));
        let FlowRule { priority, matches, .. } = rule;
        self.at(at).change(&FlowChange::Remove { priority, matches }).unwrap();
    }
}

#[test]
fn every_pair_takes_every_way_over_exactly_its_switches_with_one_lookup() {
    for k in [4, 6, 8] {
        let fabric = paper(k);
        let mut net = Net::new(&fabric, TagWidth::Narrow);
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let (mut pairs, mut external) = (0, 0);
        for from in hosts.clone() {
            for to in hosts.clone() {
                for choice in 0..net.plan.choices(from, to) {
                    net.takes(from, to, choice);
                    pairs += 1;
                }
                let layer = |host: HostId| fabric.node(fabric.edge_switch(host).unwrap()).tier;
                external += usize::from(layer(from) != layer(to));
            }
        }
        let (half, k) = (k as usize / 2, k as usize);
        let (servers, routers) = (k * half * half, half * half * half);
        let within = servers * (half - 1);
        let in_pod = servers * (half * half - half) * half;
        let between = servers * (servers - half * half) * half * half;
        assert_eq!(
            (pairs, external),
            (within + in_pod + between + 2 * servers * routers, 2 * servers * routers),
            "k = {k}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn so_do_pairs_of_larger_fat_trees(
        half in 5_u32..=14,
        pairs in prop::collection::vec(any::<[prop::sample::Index; 3]>(), 300),
    ) {
        let fabric = paper(2 * half);
        let width = if half <= 12 { TagWidth::Narrow } else { TagWidth::Wide };
        let mut net = Net::new(&fabric, width);
        for [from, to, choice] in pairs {
            let [from, to] = [from, to].map(|host| HostId(host.index(fabric.host_count()) as u32));
            let choices = net.plan.choices(from, to);
            if choices > 0 {
                net.takes(from, to, choice.index(choices));
            }
        }
    }
}

#[test]
fn the_papers_packet_has_the_papers_tag_at_each_switch() {
    let fabric = paper(4);
    let mut net = Net::new(&fabric, TagWidth::Narrow);
    // Section IV: es1 to the first server of es8 over cs2, with QID 1.
    let (from, to) = (HostId(0), HostId(14));
    let (at, steering) = net.plan.steering(from, to, 1).unwrap();
    net.at(at).change(&FlowChange::Add(Net::rule(from, to, steering, 1))).unwrap();
    let mut header = frame(from, to, 1);
    let mut ingress = PortId(0);
    for (name, gate, rewrite) in [
        ("e0", 48, Rewrite::PushTag(EtherType(0xff1f), [0x20, 0, 0, 0x06, 0, 0x1e])),
        ("a0", 48, Rewrite::Keep),
        ("c1", 32, Rewrite::Keep),
        ("a6", 32, Rewrite::Keep),
        ("e7", 30, Rewrite::PopTag),
    ] {
        let gates = net.plan.switch_named(name).unwrap();
        let port = gates.gates.iter().find(|port| port.gate == Gate(gate)).unwrap().port;
        let switch = net.switches[fabric.find(name).unwrap().index()].as_mut().unwrap();
        let did = receive(switch, &mut net.ctx, ingress, &header);
        assert_eq!(did, Did::Sent(port, rewrite, 1), "{name}: through gate {gate}, in queue 1");
        rewrite.apply(&mut header);
        ingress = fabric.link(fabric.link_at(fabric.find(name).unwrap(), port).unwrap()).to_port;
    }
    assert_eq!(header, frame(from, to, 1));
    let counters = |net: &mut Net<'_>, name| net.named(name).counters();
    assert_eq!(counters(&mut net, "e0"), Counters { lookups: 1, pushed: 1, ..Counters::default() });
    assert_eq!(counters(&mut net, "c1"), Counters { forwarded: 1, ..Counters::default() });
    assert_eq!(counters(&mut net, "e7"), Counters { forwarded: 1, popped: 1, ..Counters::default() });
}

/// A tagged frame.
fn tagged(from: HostId, to: HostId, up: u32, down: u32) -> Header {
    let mut header = frame(from, to, 1);
    let bytes = Tag { queue: 0, up, down }.to_bytes(TagWidth::Narrow).unwrap();
    Rewrite::PushTag(EtherType::TAG, bytes).apply(&mut header);
    header
}

#[test]
fn a_host_cannot_steer_itself_by_a_tag_and_is_counted() {
    let fabric = paper(4);
    let mut net = Net::new(&fabric, TagWidth::Narrow);
    let hosts = [("e0", HostId(0)), ("c0", HostId(16))];
    for (name, host) in hosts {
        let node = fabric.find(name).unwrap();
        let port = net.plan.gates_of(host).find(|(at, _)| *at == node).unwrap().1.port;
        for (up, down) in [(48, 30), (0, 30), (42, 0)] {
            let header = tagged(host, HostId(14), up, down);
            let did = receive(&mut net.named(name).clone(), &mut world(), port, &header);
            assert_eq!(did, Did::Dropped(DropReason::Untrusted), "{name}");
            assert_eq!(net.send(node, header), Err(DropReason::Untrusted));
        }
        let counted = Counters { tags_of_hosts: 3, ..Counters::default() };
        assert_eq!(net.named(name).counters(), counted, "without a lookup");
        for kind in [Kind::Hello, Kind::PathRequest] {
            let header = Header { kind, ..frame(host, HostId(14), 0) };
            assert_eq!(net.send(node, header), Err(DropReason::Untrusted));
        }
    }
}

#[test]
fn a_tag_that_leads_nowhere_goes_nowhere_and_a_tagged_frame_is_never_looked_up() {
    let fabric = paper(4);
    let mut net = Net::new(&fabric, TagWidth::Narrow);
    let (from, to) = (HostId(0), HostId(14));
    let port = |net: &Net<'_>, name: &str, gate| {
        net.plan.switch_named(name).unwrap().gates.iter().find(|port| port.gate == Gate(gate)).unwrap().port
    };
    // A rule for exactly this packet.
    let (_, steering) = net.plan.steering(from, to, 0).unwrap();
    for (name, gate, up, down, expected) in [
        // DOWN beyond the last server, UP that is not a core of this switch, a DOWN gate as UP.
        ("c0", 8, 0, 34, DropReason::NoRoute),
        ("a0", 4, 56, 30, DropReason::NoRoute),
        ("a0", 4, 8, 30, DropReason::NoRoute),
        ("e7", 48, 0, 2, DropReason::NoRoute),
        // Back to its ingress.
        ("c0", 8, 0, 2, DropReason::SamePort),
        ("a0", 44, 44, 0, DropReason::SamePort),
    ] {
        net.named(name).change(&FlowChange::Add(Net::rule(from, to, steering, 0))).ok();
        let ingress = port(&net, name, gate);
        let header = tagged(from, to, up, down);
        let did = receive(net.named(name), &mut world(), ingress, &header);
        assert_eq!(did, Did::Dropped(expected), "{name}, up {up} down {down}");
    }
    let mut empty = tagged(from, to, 1, 1);
    empty.set_tag(EtherType::TAG, [0xe0, 0, 0, 0, 0, 0]);
    let ingress = port(&net, "a0", 4);
    assert_eq!(receive(net.named("a0"), &mut world(), ingress, &empty), Did::Dropped(DropReason::NoRoute));
    assert_eq!(net.lookups(), 0);
}

#[test]
fn what_no_rule_is_for_is_dropped_and_so_is_what_comes_where_no_gate_is() {
    let fabric = paper(4);
    let mut net = Net::new(&fabric, TagWidth::Narrow);
    let node = fabric.find("e0").unwrap();
    assert_eq!(net.send(node, frame(HostId(0), HostId(14), 1)), Err(DropReason::NoRoute));
    let to_all = Header { dst: Mac::BROADCAST, kind: Kind::Other, ..frame(HostId(0), HostId(14), 1) };
    assert_eq!(net.send(node, to_all), Err(DropReason::NoRoute), "it has no addresses");
    let counted = Counters { lookups: 1, misses: 1, ..Counters::default() };
    assert_eq!(net.at(node).counters(), counted);
    let nowhere = receive(net.at(node), &mut world(), PortId(9), &frame(HostId(0), HostId(1), 1));
    assert_eq!(nowhere, Did::Dropped(DropReason::UnknownPort));
    let from_switch =
        net.plan.switch(node).unwrap().gates.iter().find(|gate| gate.flag.is_none()).unwrap().port;
    let header = |kind| Header { kind, ..frame(HostId(0), HostId(14), 1) };
    assert_eq!(receive(net.at(node), &mut world(), from_switch, &header(Kind::Hello)), Did::Consumed);
    let path = receive(net.at(node), &mut world(), from_switch, &header(Kind::PathReply));
    assert_eq!(path, Did::Dropped(DropReason::Stale));
}

/// The first edge of a fat-tree with k = 4, whose group 1 has the four ways to other pods.
fn edge(choice: PathChoice) -> (TagForwardSwitch, Vec<Way>, [PortId; 2]) {
    let plan = GatePlan::fat_tree(4, &Numbering::default()).unwrap();
    let (at, _) = plan.steering(HostId(0), HostId(14), 0).unwrap();
    let gates = plan.switch(at).unwrap();
    assert_eq!(gates.layer, Layer::Edge);
    let steerings = (0..4).map(|choice| plan.steering(HostId(0), HostId(14), choice).unwrap().1);
    let ways: Vec<Way> = steerings.map(|steering| Way { gate: steering.gate, up: steering.up }).collect();
    let uplinks =
        [ways[0], ways[3]].map(|way| gates.gates.iter().find(|gate| gate.gate == way.gate).unwrap().port);
    let mut switch = TagForwardSwitch::new(gates, TagWidth::Narrow, Limits::default(), choice).unwrap();
    let id = GroupId(1);
    let to = addresses(&frame(HostId(0), HostId(14), 0)).unwrap().destination;
    let action = FlowAction { queue: 0, down: 30, to: FlowTarget::Group(id) };
    let rule = FlowRule { priority: 1, matches: FlowMatch::to(to), action };
    switch.change(&FlowChange::SetGroup { id, ways: ways.as_slice().into() }).unwrap();
    switch.change(&FlowChange::Add(rule)).unwrap();
    (switch, ways, uplinks)
}

fn server_port(switch: &str) -> PortId {
    let plan = GatePlan::fat_tree(4, &Numbering::default()).unwrap();
    let gates = plan.switch_named(switch).unwrap();
    gates.gates.iter().find(|gate| gate.flag == Some(GateFlag::Srv)).unwrap().port
}

/// How often each way is used by `count` packets, each of its own flow or all of one.
fn taken(switch: &mut TagForwardSwitch, ways: &[Way], ctx: &mut World, count: u16, flows: bool) -> Vec<u64> {
    let mut taken = vec![0; ways.len()];
    let ingress = server_port("e0");
    for number in 0..count {
        let header = frame(HostId(0), HostId(14), if flows { number } else { 0 });
        let Did::Sent(_, Rewrite::PushTag(_, bytes), _) = receive(switch, ctx, ingress, &header) else {
            continue;
        };
        let tag = Tag::from_bytes(bytes, TagWidth::Narrow).unwrap();
        taken[ways.iter().position(|way| way.up == tag.up).unwrap()] += 1;
    }
    taken
}

#[test]
fn ecmp_keeps_a_flow_on_its_way_and_spreads_flows_spraying_spreads_packets() {
    let (mut switch, ways, _) = edge(PathChoice::Ecmp { key: 7 });
    let one = taken(&mut switch, &ways, &mut world(), 100, false);
    assert_eq!(one.iter().filter(|count| **count > 0).count(), 1, "{one:?}");
    let spread = taken(&mut switch, &ways, &mut world(), 4000, true);
    assert!(spread.iter().all(|count| (880..1120).contains(count)), "{spread:?}");
    let (mut switch, ways, _) = edge(PathChoice::Spray);
    let sprayed = taken(&mut switch, &ways, &mut world(), 4000, false);
    assert!(sprayed.iter().all(|count| (880..1120).contains(count)), "{sprayed:?}");
}

#[test]
fn least_loaded_takes_the_uplink_with_the_shortest_queue_and_any_core_behind_it() {
    let (mut switch, ways, [first, second]) = edge(PathChoice::LeastLoaded);
    let mut ctx = world();
    ctx.queues = vec![0; 8];
    ctx.queues[first.index()] = 1500;
    let by_second = taken(&mut switch, &ways, &mut ctx, 2000, false);
    assert_eq!(by_second[..2], [0, 0]);
    assert!(by_second[2..].iter().all(|count| (880..1120).contains(count)), "{by_second:?}");
    ctx.queues[second.index()] = 3000;
    assert_eq!(taken(&mut switch, &ways, &mut ctx, 100, false)[2..], [0, 0]);
    ctx.queues[first.index()] = 3000;
    let all = taken(&mut switch, &ways, &mut ctx, 4000, false);
    assert!(all.iter().all(|count| (880..1120).contains(count)), "{all:?}");
}

#[test]
fn a_way_through_a_port_that_is_down_is_not_taken_and_without_any_the_frame_is_dropped() {
    for choice in [PathChoice::Ecmp { key: 7 }, PathChoice::Spray, PathChoice::LeastLoaded] {
        let (mut switch, ways, [first, second]) = edge(choice);
        let ctx = &mut world();
        switch.port_changed(ctx, first, false, &mut Actions::default());
        let by_second = taken(&mut switch, &ways, ctx, 400, true);
        assert_eq!((by_second[0] + by_second[1], by_second[2] + by_second[3]), (0, 400), "{choice:?}");
        switch.port_changed(ctx, second, false, &mut Actions::default());
        let header = frame(HostId(0), HostId(14), 0);
        assert_eq!(receive(&mut switch, ctx, server_port("e0"), &header), Did::Dropped(DropReason::LinkDown));
        switch.port_changed(ctx, first, true, &mut Actions::default());
        assert_eq!(taken(&mut switch, &ways, ctx, 100, true)[2..], [0, 0]);
        let empty = FlowChange::SetGroup { id: GroupId(1), ways: Arc::new([]) };
        switch.change(&empty).unwrap();
        assert_eq!(receive(&mut switch, ctx, server_port("e0"), &header), Did::Dropped(DropReason::NoRoute));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Any frame on any port: one action, never back to the ingress, no tagged frames from hosts, no tags towards
    /// hosts.
    #[test]
    fn no_frame_makes_a_switch_do_anything_else(
        layer in 0_usize..3,
        port in 0_u16..8,
        overlay in any::<[u8; 8]>(),
        is_tag in any::<bool>(),
        up in 0_u32..64,
        down in 0_u32..40,
    ) {
        let fabric = paper(4);
        let mut net = Net::new(&fabric, TagWidth::Narrow);
        let node = fabric.find(["e3", "a3", "c3"][layer]).unwrap();
        let mut header = Header { overlay, ..frame(HostId(0), HostId(14), 1) };
        if is_tag {
            header.set_tag(EtherType::TAG, [0, (up >> 11) as u8, (up >> 3) as u8, 0, 0, 0]);
            if let Ok(bytes) = (Tag { queue: 0, up, down }).to_bytes(TagWidth::Narrow) {
                header.set_tag(EtherType::TAG, bytes);
            }
        }
        let gates = net.plan.switch(node).unwrap().clone();
        let flag = |port| gates.at(port).and_then(|gate| gate.flag);
        let from_host = flag(PortId(port)).is_some_and(GateFlag::pops);
        match receive(net.at(node), &mut world(), PortId(port), &header) {
            Did::Sent(to, rewrite, _) => {
                prop_assert!(to != PortId(port) && !from_host && is_tag);
                prop_assert_eq!(rewrite == Rewrite::PopTag, flag(to).is_some_and(GateFlag::pops));
            }
            Did::Dropped(reason) => {
                prop_assert_eq!(reason == DropReason::UnknownPort, gates.at(PortId(port)).is_none());
            }
            Did::Consumed => prop_assert!(false),
        }
    }
}

#[test]
fn draws_are_within_their_bounds() {
    // The same order as in the eBPF program: the drawn way, then those after it, cyclically.
    let (mut switch, ways, _) = edge(PathChoice::Ecmp { key: 0 });
    let header = frame(HostId(0), HostId(14), 5);
    let hash = weft_switching::mix64(u64::from(header.flow_hash));
    let Did::Sent(_, Rewrite::PushTag(_, bytes), 0) =
        receive(&mut switch, &mut world(), server_port("e0"), &header)
    else {
        panic!("it has a rule")
    };
    let tag = Tag::from_bytes(bytes, TagWidth::Narrow).unwrap();
    assert_eq!((tag.up, tag.down), (ways[pick(hash, ways.len())].up, 30));
}
