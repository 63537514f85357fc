//! `flow_list`: explicit flows, some of which may wait for others.

use std::collections::BTreeMap;

use weft_traffic::{Flows, Lane, ListedFlow, Node, Point, Program};
use weft_units::{Bytes, Duration, Time};

use super::Resolver;
use super::interfaces::{PAIR, lane};
use super::optional::{DSCP, PORT, dscp, port};
use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::nearest::suggest;
use crate::section::{At, Section};
use crate::source::Span;
use crate::tree::Value;

/// The keys of a flow.
pub(crate) const FLOW_KEYS: &[Key] = &[
    key("src", Kind::Text, "", "sending host"),
    key("dst", Kind::Text, "", "receiving host"),
    key("bytes", Kind::Bytes, "", "flow size"),
    key("start", Kind::Duration, "0 s", "start time"),
    key("class", Kind::Text, "that of the group", "class name in reports"),
    key("dscp", DSCP, "that of the group", "DSCP of its packets"),
    key("sport", PORT, "", "TCP source port; assigned if not given"),
    key("dport", PORT, "", "TCP destination port; assigned if not given"),
    key("interfaces", PAIR, "that of the group", "numbers of its interfaces at source and destination"),
    key("id", Kind::Text, "", "name by which other flows of the list wait for this one"),
    key("after_received", Kind::Texts, "", "flows that must be received before this one starts"),
    key("after_acknowledged", Kind::Texts, "", "flows that must be acknowledged before this one starts"),
    key("delay", Kind::Duration, "0 s", "time from then to the start"),
];

/// The flows as written.
#[derive(Clone, Debug)]
pub(crate) struct FlowList(Vec<Listed>);

/// An entry of `flow_list`.
#[derive(Clone, Debug)]
struct Listed {
    span: Span,
    src: At<String>,
    dst: At<String>,
    bytes: Bytes,
    start: Duration,
    class: Option<String>,
    dscp: Option<u8>,
    ports: Option<(u16, u16)>,
    lane: Lane,
    id: Option<At<String>>,
    /// The flows that it waits for.
    after: Vec<(At<String>, Point)>,
    delay: Duration,
}

impl FlowList {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let node = section.node("flow_list")?;
        let flows = section.sections("flow_list");
        if flows.is_empty() && matches!(&node.value, Value::List(list) if list.is_empty()) {
            let label = "expected flows such as { src = \"h0\", dst = \"h15\", bytes = \"10 MB\" }";
            section.problem(node.span, "the list of flows is empty", label);
        }
        let flows: Vec<Option<Listed>> = flows.iter().map(Listed::decode).collect();
        flows.into_iter().collect::<Option<_>>().map(Self)
    }

    /// The position of a flow.
    pub(crate) fn span_of(&self, index: usize) -> Option<Span> {
        self.0.get(index).map(|flow| flow.span)
    }

    /// The flows, with their hosts resolved.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Flows> {
        let flows: Vec<Option<ListedFlow>> = self.0.iter().map(|flow| flow.resolve(resolver)).collect();
        let flows = flows.into_iter().collect::<Option<_>>()?;
        let ids = self.ids(resolver)?;
        if self.0.iter().all(|flow| flow.after.is_empty()) {
            Some(Flows::Listed(flows))
        } else {
            self.order(&ids, flows, resolver).map(|program| Flows::Ordered(program, None))
        }
    }

    /// The flows by id.
    fn ids(&self, resolver: &Resolver<'_>) -> Option<BTreeMap<&str, u32>> {
        let mut ids = BTreeMap::new();
        for (at, id) in (0..).zip(&self.0).filter_map(|(at, flow)| Some((at, flow.id.as_ref()?))) {
            if id.value.is_empty() {
                resolver
                    .problems
                    .add(Problem::at(id.span, "the id is empty").label("expected a name, or no `id`"));
                return None;
            }
            if ids.insert(id.value.as_str(), at).is_some() {
                let problem = Problem::at(id.span, format!("the id `{}` is given twice", id.value));
                resolver.problems.add(problem.label("expected a different one for each flow"));
                return None;
            }
        }
        Some(ids)
    }

    /// The flows, some of which wait for others.
    fn order(
        &self,
        ids: &BTreeMap<&str, u32>,
        flows: Vec<ListedFlow>,
        resolver: &Resolver<'_>,
    ) -> Option<Program> {
        let mut program = Program { flows, ..Program::default() };
        let mut is_good = true;
        for (at, flow) in (0..).zip(&self.0) {
            for (name, point) in &flow.after {
                match ids.get(name.value.as_str()) {
                    Some(on) => program.need(Node::Flow(at), Node::Flow(*on), *point, flow.delay),
                    None => {
                        let problem = Problem::at(
                            name.span,
                            format!("no flow of the list has the id `{}`", name.value),
                        );
                        resolver.problems.add(problem.label(suggest(&name.value, ids.keys().copied())));
                        is_good = false;
                    }
                }
            }
        }
        is_good.then_some(program)
    }
}

impl Listed {
    fn decode(section: &Section<'_>) -> Option<Self> {
        section.only(&[FLOW_KEYS]);
        let (src, dst, bytes) = (section.need("src"), section.need("dst"), section.need::<Bytes>("bytes"));
        let (start, dscp) = (section.value(FLOW_KEYS, "start"), dscp(section));
        let (sport, dport) = (port(section, "sport")?, port(section, "dport")?);
        let mut after = Vec::new();
        for (key, point) in [("after_received", Point::Received), ("after_acknowledged", Point::Acknowledged)]
        {
            if section.node(key).is_some() {
                after.extend(section.list::<String>(key)?.value.into_iter().map(|name| (name, point)));
            }
        }
        if let Some(delay) = section.node("delay").filter(|_| after.is_empty()) {
            let label = "expected `after_received` or `after_acknowledged` as well";
            section.problem(delay.span, "`delay` has no effect here", label);
        }
        if sport.is_some() != dport.is_some() {
            section.problem(
                section.span,
                "the flow has only one port",
                "expected `sport` and `dport`, or none",
            );
            return None;
        }
        Some(Self {
            span: section.span,
            src: src?,
            dst: dst?,
            bytes: bytes?.value,
            start: start?,
            class: section.get("class").map(|class| class.value),
            dscp: dscp?,
            ports: sport.zip(dport),
            lane: lane(section)?,
            id: section.get("id"),
            after,
            delay: section.value(FLOW_KEYS, "delay")?,
        })
    }

    fn resolve(&self, resolver: &Resolver<'_>) -> Option<ListedFlow> {
        let (src, dst) = (resolver.host(&self.src), resolver.host(&self.dst));
        Some(ListedFlow {
            src: src?,
            dst: dst?,
            bytes: self.bytes.0,
            start: Time::ZERO + self.start,
            class: self.class.clone(),
            dscp: self.dscp,
            ports: self.ports,
            lane: self.lane,
        })
    }
}
