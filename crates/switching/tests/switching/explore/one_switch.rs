//! One switch of any scheme receives arbitrary frames while ports and rules change and time passes. A fuzz target
//! (`fuzz/fuzz_targets/switching.rs`) and a property test drive it with arbitrary bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_control::{Match, Rule, RuleAction, RuleChange};
use weft_fabric::{Fabric, LinkSpec, build};
use weft_switching::{
    Action, Actions, Blueprint, Context, Forwarding, Header, Kind, Mac, ParamKind, ParamValue, Report,
    SchemeSpec, SchemeVisitor, Stream, Switch, descriptor, registry, stream, visit_scheme,
};
use weft_units::{Bytes, Duration, NodeId, PortId, Time};

/// The limit of every table of flows and stations.
const ENTRIES: u64 = 12;
/// Maximum number of rules in the switch.
const RULES: u64 = 8;

/// Bytes as a test's choices, followed by zeros.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// One of a few numbers, or any number.
    fn number(&mut self, usual: &[u16]) -> u16 {
        match self.below(usual.len() + 1) {
            place if place < usual.len() => usual[place],
            _ => self.word(),
        }
    }

    fn mac(&mut self, hosts: u32) -> Mac {
        let host = Mac::of_host(u32::from(self.byte()) % hosts);
        match self.byte() % 16 {
            0 => Mac::BROADCAST,
            1 => Mac::HELLO,
            2 => host.marked(),
            3 => Mac([self.byte(), self.byte(), self.byte(), self.byte(), self.byte(), self.byte()]),
            4 => Mac::of_host(self.word().into()),
            _ => host,
        }
    }

    fn header(&mut self, hosts: u32) -> Header {
        const KINDS: [Kind; 11] = [
            Kind::Tcp,
            Kind::Other,
            Kind::ArpRequest,
            Kind::ArpReply,
            Kind::Hello,
            Kind::PathRequest,
            Kind::PathReply,
            Kind::PathFail,
            Kind::RecoveryRequest,
            Kind::RecoveryReply,
            Kind::Probe,
        ];
        let kind = KINDS[self.below(2 * KINDS.len()).saturating_sub(KINDS.len())];
        let mut overlay = [0; 8];
        if self.below(4) == 0 {
            overlay.fill_with(|| self.byte());
        } else {
            // Few explorations and hops: most frames refer to earlier ones.
            (overlay[3], overlay[4]) = (self.byte() % 4, self.byte() % 4);
        }
        Header {
            dst: self.mac(hosts),
            src: self.mac(hosts),
            sport: self.number(&[1, 2, 3_500]),
            dport: self.number(&[80, 0]),
            flow_hash: self.word().into(),
            entropy: self.byte().into(),
            overlay,
            kind,
            tcp_flags: [2, 18, 16, 17, 4, self.byte()][self.below(6)],
            traffic_class: self.byte(),
            option_words: self.byte() % 11,
            ip_bytes: self.number(&[40, 1_500, 46]),
            payload: self.number(&[0, 1_448]),
        }
    }
}

/// A scheme with small tables and random other parameters.
fn spec(choices: &mut Choices<'_>) -> SchemeSpec {
    let info = registry()[choices.below(registry().len())];
    let mut params = BTreeMap::new();
    for param in info.params {
        let value = match param.kind {
            ParamKind::Choice(words) => ParamValue::Text(words[choices.below(words.len())].to_owned()),
            ParamKind::Count if limits_a_table(param.name) => ParamValue::Count(ENTRIES),
            ParamKind::Count if choices.below(3) == 0 => ParamValue::Count(1 + u64::from(choices.word())),
            ParamKind::Duration if choices.below(3) == 0 => {
                ParamValue::Duration(Duration::from_ms(1 + u64::from(choices.word())))
            }
            ParamKind::Bytes => ParamValue::Bytes(Bytes(choices.word().into())),
            _ => continue,
        };
        params.insert(param.name.to_owned(), value);
    }
    let mut spec = SchemeSpec { name: info.name.to_owned(), params };
    // A scenario rejects such parameters; the tables stay small.
    if info.contradiction_of(&spec).is_some() {
        spec.params.retain(|name, _| limits_a_table(name));
    }
    spec
}

/// Whether a parameter is the size of a table.
fn limits_a_table(parameter: &str) -> bool {
    parameter.ends_with("_table") || parameter == "table_size"
}

struct World {
    now: Time,
    random: Stream,
    queued: u64,
}

impl Context for World {
    fn now(&self) -> Time {
        self.now
    }

    fn queue_bytes(&self, port: PortId) -> u64 {
        self.queued.rotate_left(u32::from(port.0)) & 0xffff
    }

    fn random(&mut self) -> &mut Stream {
        &mut self.random
    }
}

/// Runs one switch with the choices in `bytes`.
///
/// # Panics
/// If the switch breaks a rule: an invalid action, a frame without an action, a table beyond its limit, or an overdue
/// deadline that does not advance.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let link = LinkSpec::default();
    let spec = spec(&mut choices);
    let fabric = match spec.name.as_str() {
        "conga" => build::spine_leaf(2, 3, 2, &link, &link),
        _ => build::fat_tree(4, &link, &link),
    };
    let fabric = fabric.expect("a good fabric");
    let is_limited = spec.params.keys().any(|name| limits_a_table(name));
    let is_at_hosts = descriptor(&spec.name).is_some_and(|scheme| scheme.is_at_hosts);
    // Under a host scheme, the tables of switches have their default sizes.
    let most = if is_limited { Some(ENTRIES) } else { is_at_hosts.then_some(65_536) };
    let switches: Vec<NodeId> = fabric.switches().collect();
    let node = switches[choices.below(switches.len())];
    let routes = Arc::new(Forwarding::new(&fabric, |_| true));
    let driver = Driver { choices, fabric: &fabric, node, routes: &routes, most };
    visit_scheme(&spec, &fabric, &routes, 1, driver).expect("a scheme of the registry on a fabric that fits");
}

struct Driver<'a> {
    choices: Choices<'a>,
    fabric: &'a Fabric,
    node: NodeId,
    routes: &'a Arc<Forwarding>,
    /// The most entries that the tables may have, if the scheme limits them.
    most: Option<u64>,
}

impl SchemeVisitor for Driver<'_> {
    type Output = ();

    fn visit<B: Blueprint>(mut self, blueprint: B) {
        let mut switch = blueprint.switch(self.fabric, self.node);
        let ports = self.fabric.ports(self.node).len();
        let hosts = self.fabric.host_count() as u32;
        let mut world = World { now: Time::ZERO, random: stream(1, "one switch", 0), queued: 0 };
        let mut out = Actions::default();
        let mut up = vec![true; ports];
        while !self.choices.0.is_empty() {
            let port = PortId(self.choices.below(ports) as u16);
            match self.choices.below(16) {
                0 => {
                    let is_up = &mut up[port.index()];
                    *is_up = !*is_up;
                    switch.port_changed(&mut world, port, *is_up, &mut out);
                    self.check_emitted(&mut out, ports);
                    switch.routes_changed(self.routes);
                }
                1 => self.pass(&mut switch, &mut world, &mut out, ports),
                2 => switch.apply(world.now, &self.rule(ports, hosts)),
                _ => {
                    world.queued = u64::from(self.choices.word()) << 24;
                    let header = self.choices.header(hosts);
                    switch.receive(&mut world, port, &header, &mut out);
                    self.decided(&mut out, ports, header);
                    let _ = switch.kept(&header, world.now);
                }
            }
            let entries = switch.table_entries(world.now);
            let limit = self.most.unwrap_or(RULES.max(hosts.into())) as usize;
            // Under TFE, flows without a path are counted in addition to those with one.
            assert!(entries.stations <= limit && entries.flows <= 2 * limit, "{entries:?} of {limit}");
        }
    }
}

impl Driver<'_> {
    /// Advances time, and runs the switch's due timers.
    fn pass<S: Switch>(&mut self, switch: &mut S, world: &mut World, out: &mut Actions, ports: usize) {
        let span = Duration::from_us(1) * (1_u64 << (self.choices.byte() % 24));
        let end = world.now + span;
        let mut wakes = 0;
        while switch.next_deadline() <= end {
            world.now = world.now.max(switch.next_deadline());
            switch.on_deadline(world, out);
            self.check_emitted(out, ports);
            assert!(switch.next_deadline() > world.now, "a deadline has not passed");
            wakes += 1;
            if wakes == 200 {
                break;
            }
        }
        world.now = end;
    }

    /// A rule change by the central controller: few cookies, existing ports.
    fn rule(&mut self, ports: usize, hosts: u32) -> RuleChange {
        let choices = &mut self.choices;
        let cookie = 1 + choices.below(RULES as usize) as u64;
        let matches = match choices.below(4) {
            0 => Match::ALL,
            1 => Match::to(choices.mac(hosts)),
            2 => Match { tcp_src: Some(choices.number(&[1, 2])), ..Match::ALL },
            _ => Match { in_port: Some(weft_control::PortNo(1 + choices.below(ports) as u32)), ..Match::ALL },
        };
        let action = |choices: &mut Choices<'_>| match choices.below(4) {
            0 => RuleAction::SetDestination(choices.mac(hosts)),
            1 => RuleAction::Controller { max_len: 128 },
            _ => RuleAction::Output(weft_control::PortNo(1 + choices.below(ports) as u32)),
        };
        let actions = (0..choices.below(4)).map(|_| action(choices)).collect();
        let rule = Rule {
            cookie,
            priority: u16::from(choices.byte() % 3),
            matches,
            actions,
            idle_timeout_s: u16::from(choices.byte() % 3),
            notify_removed: choices.below(2) == 0,
        };
        match choices.below(3) {
            // The controller uses each cookie for one rule at a time.
            0 => RuleChange::Remove { cookie, matches: Match::ALL },
            1 => RuleChange::Modify(rule),
            _ => RuleChange::Add(Rule { priority: cookie as u16, matches: Match::ALL, ..rule }),
        }
    }

    /// Checks the frames that a switch makes by itself.
    fn check_emitted(&self, out: &mut Actions, ports: usize) {
        assert!(out.all().next().is_none(), "no frame to forward");
        assert!(out.emitted().iter().all(|(port, _)| port.index() < ports));
        assert!(out.emitted().len() <= 4 * ENTRIES as usize * ports, "{} frames", out.emitted().len());
        out.clear();
    }

    /// Checks a switch's actions on a frame: forward, end, or wait at the controller.
    fn decided(&self, out: &mut Actions, ports: usize, mut header: Header) {
        let actions: Vec<Action> = out.all().collect();
        let waits = out.reports().iter().any(|report| matches!(report, Report::Frame(_)));
        assert!(waits || !actions.is_empty(), "no action for {header:?}");
        let ends = actions.iter().any(|action| matches!(action, Action::Drop(_) | Action::Consume));
        assert!(!ends || actions.len() == 1, "{actions:?}: both forwarded and ended");
        for action in &actions {
            if let Action::Send(port) | Action::Deliver(port) = action {
                assert!(port.index() < ports, "no port {port}");
            }
        }
        assert!(out.emitted().iter().all(|(port, _)| port.index() < ports));
        assert!(out.emitted().len() <= 4 * ports, "{} frames for one", out.emitted().len());
        out.rewriting().apply(&mut header);
        let _ = header.as_sent();
        out.clear();
    }
}
