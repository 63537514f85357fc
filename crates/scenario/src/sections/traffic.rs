//! `[traffic]`, or several `[[traffic]]`: groups of flows, drawn, listed or read from a trace.

use std::collections::BTreeMap;
use std::fmt::Display;

use weft_traffic::{
    Arrivals, Collective, Drawn, EPHEMERAL, Flows, Group, Intensity, ListedFlow, LoadOf, MAX_DSCP, Node,
    Point, Program, TrafficError,
};
use weft_units::{Bytes, Duration, Time};

use super::collective::{self, COLLECTIVE_KEYS, RANK_KEYS, RankSettings};
use super::pairs::PairsSettings;
use super::sizes::{self, SizesSettings};
use super::trace::{Beside, read_trace};
use super::{Resolver, pairs};
use crate::diagnostic::{Problem, Problems};
use crate::nearest::suggest;
use crate::section::{At, Key, Kind, Section, key};
use crate::source::Span;
use crate::tree::shown;

/// The keys of a group with random flows.
pub(crate) const DRAWN_KEYS: &[Key] = &[
    key(
        "sizes",
        Kind::Either(&[Kind::Choice(sizes::names), Kind::Table(sizes::FORMS)]),
        "",
        "flow sizes: a published distribution or your own",
    ),
    key("truncate", Kind::Bytes, "", "leave out larger flows"),
    key("clamp", Kind::Bytes, "", "cap larger flows at this size"),
    key("scale_to_mean", Kind::Bytes, "", "scale all sizes to this mean"),
    key("arrivals", Kind::Word(Arrivals::WORDS), "poisson", "arrival process"),
    key("load", Kind::Number, "", "offered load, as a fraction of link capacity"),
    key("load_of", Kind::Word(LoadOf::WORDS), "fabric-uplinks", "links whose capacity the load refers to"),
    key("flows_per_second", Kind::Number, "", "arrival rate, instead of a load"),
    key("flows", Kind::Count(0), "", "number of flows; with a load, the maximum"),
    key(
        "pairs",
        Kind::Either(&[
            Kind::Word(pairs::WORDS),
            Kind::Table(pairs::FORMS),
            Kind::List(&Kind::Pair(&Kind::Text)),
        ]),
        "inter-leaf",
        "pattern of sources and destinations",
    ),
    key("start", Kind::Duration, "0 s", "earliest flow start of the group"),
    key("jitter", Kind::Duration, "0 s", "upper bound of a random delay added to every start"),
];

/// The keys of every group.
pub(crate) const COMMON_KEYS: &[Key] = &[
    key("class", Kind::Text, "by size", "class name in reports"),
    key("dscp", DSCP, "0", "DSCP of the packets; selects the queue of a port with several"),
    key(
        "elephant_ports",
        Kind::Pair(&PORT),
        "",
        "first and last source port of elephants, by which `tfe` recognises them; other flows use higher ports",
    ),
];

/// The keys of a group with explicit flows.
pub(crate) const GIVEN_KEYS: &[Key] = &[
    key("flow_list", Kind::Tables(FLOW_KEYS), "", "explicit list of flows"),
    key(
        "trace",
        Kind::Text,
        "",
        "file of flows: CSV (.csv), Parquet (.parquet), a list of conweave-ns3 or HPCC (.txt), a connection matrix of \
         htsim (.cm), or GOAL (.goal)",
    ),
];

/// The keys of all kinds of groups.
pub(crate) fn key_lists() -> [&'static [Key]; 5] {
    [COMMON_KEYS, GIVEN_KEYS, COLLECTIVE_KEYS, RANK_KEYS, DRAWN_KEYS]
}

const DSCP: Kind = Kind::UpTo(MAX_DSCP as u64);
const PORT: Kind = Kind::UpTo(u16::MAX as u64);

const FLOW_KEYS: &[Key] = &[
    key("src", Kind::Text, "", "sending host"),
    key("dst", Kind::Text, "", "receiving host"),
    key("bytes", Kind::Bytes, "", "flow size"),
    key("start", Kind::Duration, "0 s", "start time"),
    key("class", Kind::Text, "that of the group", "class name in reports"),
    key("dscp", DSCP, "that of the group", "DSCP of its packets"),
    key("sport", PORT, "", "TCP source port; assigned if not given"),
    key("dport", PORT, "", "TCP destination port; assigned if not given"),
    key("id", Kind::Text, "", "name by which other flows of the list wait for this one"),
    key("after_received", Kind::Texts, "", "flows that must be received before this one starts"),
    key("after_acknowledged", Kind::Texts, "", "flows that must be acknowledged before this one starts"),
    key("delay", Kind::Duration, "0 s", "time from then to the start"),
];

/// A group as written.
#[derive(Clone, Debug)]
pub(crate) struct GroupSettings {
    span: Span,
    class: Option<String>,
    dscp: u8,
    elephant_ports: Option<At<(u16, u16)>>,
    source: Source,
    /// Positions of these keys, for error messages.
    pairs_span: Option<Span>,
    intensity_span: Option<Span>,
    load_of_span: Option<Span>,
    flows_span: Option<Span>,
    ranks_span: Option<Span>,
    connections_span: Option<Span>,
}

#[derive(Clone, Debug)]
enum Source {
    Drawn(Box<DrawnSettings>),
    Listed(Vec<Listed>),
    Trace(At<String>, RankSettings),
    Collective(Collective, RankSettings),
}

/// How the flows of a group are drawn.
#[derive(Clone, Debug)]
struct DrawnSettings {
    sizes: SizesSettings,
    arrivals: Arrivals,
    intensity: Option<Intensity>,
    flows: Option<u64>,
    pairs: PairsSettings,
    start: Duration,
    jitter: Duration,
}

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
    id: Option<At<String>>,
    /// The flows that it waits for.
    after: Vec<(At<String>, Point)>,
    delay: Duration,
}

impl GroupSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let span = |key: &str| section.node(key).map(|node| node.span);
        let sources = GIVEN_KEYS.iter().map(|key| key.name).chain(["collective"]);
        let given: Vec<&str> = sources.filter(|key| span(key).is_some()).collect();
        section.only(&key_lists());
        let has = |keys: &[Key], name: &str| keys.iter().any(|key| key.name == name);
        let source = given.first().copied().unwrap_or_default();
        let idle = section.table.0.iter().filter(|entry| match source {
            "collective" => false,
            "trace" => has(COLLECTIVE_KEYS, &entry.key),
            _ => has(COLLECTIVE_KEYS, &entry.key) || has(RANK_KEYS, &entry.key),
        });
        for entry in idle.filter(|entry| !given.contains(&entry.key.as_str())) {
            let message = format!("`{}` has no effect without `collective`", entry.key);
            let example = "expected `collective` as well, such as \"ring-all-reduce\"";
            section.problem(entry.span, message, example);
        }
        if !source.is_empty() {
            let is_start = |name: &str| source == "collective" && matches!(name, "start" | "jitter");
            let entries = section.table.0.iter().filter(|entry| {
                (has(DRAWN_KEYS, &entry.key) && !is_start(&entry.key))
                    || given[1..].contains(&entry.key.as_str())
            });
            for entry in entries {
                let message = format!("`{}` cannot be combined with `{source}`", entry.key);
                section.problem(
                    entry.span,
                    message,
                    format!("all flows of {} come from `{source}`", section.title()),
                );
            }
        }
        let (dscp, elephant_ports) = (dscp(section), elephant_ports(section));
        let source = match given.first() {
            Some(&"flow_list") => Source::Listed(decode_list(section)?),
            Some(&"collective") => {
                let ranks = RankSettings::decode(section);
                let (start, jitter) =
                    (section.value(DRAWN_KEYS, "start")?, section.value(DRAWN_KEYS, "jitter")?);
                Source::Collective(collective::decode(section, start, jitter)?, ranks?)
            }
            Some(_) => Source::Trace(section.get("trace")?, RankSettings::decode(section)?),
            None => Source::Drawn(Box::new(DrawnSettings::decode(section)?)),
        };
        let class = section.get::<String>("class");
        if let Some(class) = class.as_ref().filter(|class| class.value.trim().is_empty()) {
            section.problem(class.span, "the class name is empty", "expected a word such as \"long\"");
        }
        Some(Self {
            span: section.span,
            class: class.map(|class| class.value),
            dscp: dscp?.unwrap_or_default(),
            elephant_ports: elephant_ports?,
            source,
            pairs_span: span("pairs"),
            intensity_span: span("load").or(span("flows_per_second")),
            load_of_span: span("load_of"),
            flows_span: span("flows"),
            ranks_span: span("ranks").or(span("trace")).or(span("collective")),
            connections_span: span("connections"),
        })
    }

    /// The position of its section.
    pub(crate) const fn span(&self) -> Span {
        self.span
    }

    /// The position of its `connections`.
    pub(crate) const fn connections_span(&self) -> Option<Span> {
        self.connections_span
    }

    /// The file with its flows or their sizes.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.source {
            Source::Drawn(drawn) => drawn.sizes.file(),
            Source::Listed(_) | Source::Collective(..) => None,
            Source::Trace(path, _) => Some(&path.value),
        }
    }

    /// The group, with its hosts and files resolved, and what else its file says.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<(Group, Beside)> {
        let mut beside = Beside::default();
        let flows = match &self.source {
            Source::Drawn(drawn) => Flows::Drawn(drawn.resolve(resolver)?),
            Source::Listed(list) => {
                let flows: Vec<Option<ListedFlow>> = list.iter().map(|flow| flow.resolve(resolver)).collect();
                let flows = flows.into_iter().collect::<Option<_>>()?;
                let ids = ids(list, resolver)?;
                if list.iter().all(|flow| flow.after.is_empty()) {
                    Flows::Listed(flows)
                } else {
                    Flows::Ordered(order(list, &ids, flows, resolver)?, None)
                }
            }
            Source::Trace(path, ranks) => {
                let (flows, said) = read_trace(path, ranks, resolver)?;
                beside = said;
                flows
            }
            Source::Collective(collective, ranks) => Flows::Collective(*collective, ranks.resolve(resolver)?),
        };
        let elephant_ports = self.elephant_ports.map(|ports| ports.value);
        let group = Group { class: self.class.clone(), dscp: self.dscp, elephant_ports, flows };
        Some((group, beside))
    }

    /// Converts a generator error into a problem at the key that caused it.
    pub(crate) fn blame(&self, error: &TrafficError) -> Problem {
        let span = match error {
            TrafficError::Pairs { .. } => self.pairs_span,
            TrafficError::Intensity { .. } | TrafficError::AtOnce { .. } => self.intensity_span,
            TrafficError::NoCapacity { .. } => self.load_of_span.or(self.intensity_span),
            TrafficError::TooMany { .. } => self.intensity_span.or(self.flows_span),
            TrafficError::Listed { index, .. } => match &self.source {
                Source::Listed(list) => list.get(index - 1).map(|flow| flow.span),
                Source::Trace(path, _) => Some(path.span),
                Source::Drawn(_) | Source::Collective(..) => None,
            },
            TrafficError::Ranks { .. } => self.ranks_span,
            TrafficError::Circle { .. } => match &self.source {
                Source::Trace(path, _) => Some(path.span),
                _ => None,
            },
            TrafficError::Unbounded { .. }
            | TrafficError::SamePorts { .. }
            | TrafficError::TooManyClasses => None,
        };
        let problem = Problem::at(span.unwrap_or(self.span), error.to_string());
        match error {
            TrafficError::Unbounded { .. } => problem.label("expected `load`, `flows_per_second` or `flows`"),
            _ => problem,
        }
    }
}

impl DrawnSettings {
    fn decode(section: &Section<'_>) -> Option<Self> {
        let sizes = SizesSettings::decode(section);
        let pairs = section.node_or_default(DRAWN_KEYS, "pairs");
        let pairs = pairs.and_then(|node| PairsSettings::decode(section, &node));
        let arrivals = section.value(DRAWN_KEYS, "arrivals");
        let intensity = decode_intensity(section);
        let flows = section.get::<u64>("flows").map(|flows| flows.value);
        let (start, jitter) = (section.value(DRAWN_KEYS, "start"), section.value(DRAWN_KEYS, "jitter"));
        Some(Self {
            sizes: sizes?,
            arrivals: arrivals?,
            intensity: intensity?,
            flows,
            pairs: pairs?,
            start: start?,
            jitter: jitter?,
        })
    }

    fn resolve(&self, resolver: &Resolver<'_>) -> Option<Drawn> {
        let (sizes, pairs) = (self.sizes.resolve(resolver), self.pairs.resolve(resolver));
        Some(Drawn {
            sizes: sizes?,
            arrivals: self.arrivals,
            intensity: self.intensity,
            count: self.flows,
            pairs: pairs?,
            start: self.start,
            jitter: self.jitter,
        })
    }
}

/// The source ports of elephants; the outer `None` means invalid.
fn elephant_ports(section: &Section<'_>) -> Option<Option<At<(u16, u16)>>> {
    let Some(node) = section.node("elephant_ports") else { return Some(None) };
    let (first, last) = sizes::pair::<u64>(section, "elephant_ports")?;
    let highest = u64::from(EPHEMERAL.start) - 1;
    if let Some(wrong) = [first, last].into_iter().find(|port| !(1..=highest).contains(&port.value)) {
        let message = format!("source port {} is not reserved for elephants", wrong.value);
        section.problem(
            wrong.span,
            message,
            format!("expected 1 to {highest}: other flows use higher ports"),
        );
        return None;
    }
    if first.value > last.value {
        let message = format!("the port range {} to {} is empty", first.value, last.value);
        section.problem(node.span, message, "expected the first port, then the last");
        return None;
    }
    Some(Some(At { value: (first.value as u16, last.value as u16), span: node.span }))
}

/// Rejects overlapping elephant ports of two groups.
pub(crate) fn check_elephant_ports(groups: &[GroupSettings], problems: &Problems) {
    let ranges: Vec<At<(u16, u16)>> = groups.iter().filter_map(|group| group.elephant_ports).collect();
    for (at, range) in ranges.iter().enumerate() {
        let ((first, last), before) = (range.value, &ranges[..at]);
        if let Some(other) = before.iter().find(|other| other.value.0 <= last && first <= other.value.1) {
            let (first, last) = other.value;
            let problem = Problem::at(range.span, "the elephant ports of two groups overlap");
            problems.add(problem.label(format!("expected none of {first} to {last}, used by another group")));
        }
    }
}

/// Load or flows per second; the outer `None` means invalid.
fn decode_intensity(section: &Section<'_>) -> Option<Option<Intensity>> {
    if let (Some(node), None) = (section.node("load_of"), section.node("load")) {
        section.problem(node.span, "`load_of` has no effect without `load`", "expected `load` as well");
    }
    let of = section.value(DRAWN_KEYS, "load_of")?;
    if let (Some(_), Some(rate)) = (section.node("load"), section.node("flows_per_second")) {
        let label = "expected `load` or `flows_per_second`, not both";
        section.problem(rate.span, "the arrival rate is given twice", label);
    }
    for key in ["load", "flows_per_second"] {
        if section.node(key).is_none() {
            continue;
        }
        let number = section.get::<f64>(key)?;
        if number.value <= 0.0 {
            let message = format!("`{}` is {}", section.path_of(key), shown(number.value));
            let label = match key {
                "load" => "expected a fraction above 0, such as 0.4",
                _ => "expected a number above 0",
            };
            section.problem(number.span, message, label);
            return None;
        }
        return Some(Some(match key {
            "load" => Intensity::Load { share: number.value, of },
            _ => Intensity::FlowsPerSecond(number.value),
        }));
    }
    Some(None)
}

fn decode_list(section: &Section<'_>) -> Option<Vec<Listed>> {
    let node = section.node("flow_list")?;
    let flows = section.sections("flow_list");
    if flows.is_empty() && matches!(&node.value, crate::tree::Value::List(list) if list.is_empty()) {
        let label = "expected flows such as { src = \"h0\", dst = \"h15\", bytes = \"10 MB\" }";
        section.problem(node.span, "the list of flows is empty", label);
    }
    let flows: Vec<Option<Listed>> = flows.iter().map(Listed::decode).collect();
    flows.into_iter().collect()
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
        })
    }
}

/// The flows of a list by id.
fn ids<'a>(list: &'a [Listed], resolver: &Resolver<'_>) -> Option<BTreeMap<&'a str, u32>> {
    let mut ids = BTreeMap::new();
    for (at, id) in (0..).zip(list).filter_map(|(at, flow)| Some((at, flow.id.as_ref()?))) {
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

/// The flows of a list, some of which wait for others.
fn order(
    list: &[Listed],
    ids: &BTreeMap<&str, u32>,
    flows: Vec<ListedFlow>,
    resolver: &Resolver<'_>,
) -> Option<Program> {
    let mut program = Program { flows, ..Program::default() };
    let mut is_good = true;
    for (at, flow) in (0..).zip(list) {
        for (name, point) in &flow.after {
            match ids.get(name.value.as_str()) {
                Some(on) => program.need(Node::Flow(at), (Node::Flow(*on), *point), flow.delay),
                None => {
                    let problem =
                        Problem::at(name.span, format!("no flow of the list has the id `{}`", name.value));
                    resolver.problems.add(problem.label(suggest(&name.value, ids.keys().copied())));
                    is_good = false;
                }
            }
        }
    }
    is_good.then_some(program)
}

/// An optional TCP port; the outer `None` means invalid.
fn port(section: &Section<'_>, key: &str) -> Option<Option<u16>> {
    up_to(section, key, u16::MAX, "port")
}

/// An optional DSCP; the outer `None` means invalid.
fn dscp(section: &Section<'_>) -> Option<Option<u8>> {
    up_to(section, "dscp", MAX_DSCP, "DSCP")
}

/// An optional number from 0 to `most`, called `what` in messages; the outer `None` means invalid.
fn up_to<T: TryFrom<u64> + PartialOrd + Display>(
    section: &Section<'_>,
    key: &str,
    most: T,
    what: &str,
) -> Option<Option<T>> {
    if section.node(key).is_none() {
        return Some(None);
    }
    let given = section.get::<u64>(key)?;
    match T::try_from(given.value) {
        Ok(number) if number <= most => Some(Some(number)),
        _ => {
            let message = format!("{} is not a valid {what}", given.value);
            section.problem(given.span, message, format!("expected a number from 0 to {most}"));
            None
        }
    }
}
