//! [`Settings`]: a scenario at one point of its sweep with every key read, before hosts and files are
//! resolved.

use weft_switching::{Descriptor, SchemeSpec, Schemes};

use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind, key};
use crate::nearest::{list, nearest, suggest};
use crate::section::Section;
use crate::sections::event::{EventSettings, check_order};
use crate::sections::fabric::{FILE_KEY, FabricSettings, keys_of};
use crate::sections::interfaces;
use crate::sections::measure::{self, Measure};
use crate::sections::run::{self, Run};
use crate::sections::scheme;
use crate::sections::shapes::{KIND, SHAPES};
use crate::sections::traffic::{self, GroupSettings, check_elephant_ports};
use crate::sections::transport::Transport;
use crate::source::Span;
use crate::tree::{Table, Value};

/// The top-level keys of a scenario.
pub(crate) const TOP_KEYS: &[Key] = &[
    key("name", Kind::Text, "the file name", "name of the scenario in results and reports"),
    key("description", Kind::Text, "", "purpose of the scenario"),
];

/// The sections.
pub(crate) const SECTIONS: &[&str] =
    &["fabric", "traffic", "scheme", "transport", "run", "measure", "event", "sweep", "variant"];

/// The sections that every scenario needs, each with lines to write.
const EXAMPLES: [(&str, &str); 3] = [
    ("fabric", "write, for example, the lines: `[fabric]`, `kind = \"fat-tree\"`, `k = 4`"),
    ("traffic", "write, for example, the lines: `[traffic]`, `sizes = \"web-search\"`, `load = 0.4`"),
    ("scheme", "write, for example, the lines: `[scheme]`, `name = \"ecmp\"`"),
];

/// A scenario at one point of its sweep.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) fabric: FabricSettings,
    pub(crate) traffic: Vec<GroupSettings>,
    pub(crate) scheme: SchemeSpec,
    pub(crate) descriptor: &'static Descriptor,
    /// The positions of `[scheme]` and its keys.
    pub(crate) scheme_at: scheme::At,
    pub(crate) transport: Transport,
    /// The keys of [transport] that are set at this point.
    pub(crate) transport_keys: Vec<String>,
    /// The positions of `[transport]` and its keys.
    pub(crate) transport_at: scheme::At,
    /// The swept keys.
    pub(crate) swept: Vec<String>,
    pub(crate) run: Run,
    pub(crate) measure: Measure,
    pub(crate) events: Vec<EventSettings>,
}

/// The whole scenario as one section.
pub(crate) fn root<'a>(table: &'a Table, problems: &'a Problems) -> Section<'a> {
    Section { path: String::new(), table, span: Span::default(), problems }
}

impl Settings {
    /// Reads every section of `table`; `None` on errors. `schemes` are available, `others` those of the sweep.
    pub(crate) fn decode(
        table: &Table,
        schemes: &Schemes,
        others: &[&Descriptor],
        problems: &Problems,
    ) -> Option<Self> {
        let root = root(table, problems);
        check_names(&root);
        for key in TOP_KEYS {
            root.get::<String>(key.name);
        }
        let need = |name: &str| {
            let unknown = || table.0.iter().filter(|entry| !is_name(&entry.key));
            let misspelt = || unknown().any(|entry| nearest(&entry.key, names()) == Some(name));
            if root.node(name).is_none() && !misspelt() {
                let label = format!("a scenario needs the sections {}", list(EXAMPLES.map(|(name, _)| name)));
                let missing =
                    Problem::at(Span::default(), format!("section [{name}] is missing")).label(label);
                let example = EXAMPLES.into_iter().find(|&(of, _)| of == name);
                problems.add(example.into_iter().fold(missing, |problem, (_, lines)| problem.help(lines)));
            }
            root.section(name)
        };
        let fabric = need("fabric").and_then(|section| FabricSettings::decode(&section));
        let scheme_section = need("scheme");
        let scheme_at = scheme_section.as_ref().map(scheme::At::of);
        let scheme = scheme_section.and_then(|section| scheme::decode(&section, schemes, others));
        let traffic = match root.node("traffic").map(|node| &node.value) {
            Some(Value::List(groups)) if !groups.is_empty() => root.sections("traffic"),
            _ => need("traffic").into_iter().collect(),
        };
        let traffic: Vec<Option<GroupSettings>> = traffic.iter().map(GroupSettings::decode).collect();
        let traffic = traffic.into_iter().collect::<Option<Vec<_>>>();
        check_elephant_ports(traffic.as_deref().unwrap_or_default(), problems);
        let section = root.section_or_empty("transport");
        let transport = Transport::decode(&section, &schemes.controllers);
        let transport_keys = section.table.0.iter().map(|entry| entry.key.clone()).collect();
        let transport_at = scheme::At::of(&section);
        let run = Run::decode(&root.section_or_empty("run"));
        let measure = run.and_then(|run| Measure::decode(&root.section_or_empty("measure"), &run));
        let events: Vec<Option<EventSettings>> =
            root.sections("event").iter().map(EventSettings::decode).collect();
        let events = events.into_iter().collect::<Option<Vec<_>>>();
        check_order(events.as_deref().unwrap_or_default(), problems);
        let (fabric, traffic, (descriptor, scheme)) = (fabric?, traffic?, scheme?);
        let (scheme_at, transport) = (scheme_at?, transport?);
        let mut traffic = traffic;
        if transport.keeps_connections() {
            traffic.iter_mut().for_each(GroupSettings::keep_connections);
        }
        if let Some(problem) = transport
            .misfit(descriptor, scheme_at.key(scheme::NAME.name))
            .or_else(|| interfaces::misfit(transport.interfaces, descriptor, &scheme, &transport_at))
        {
            problems.add(problem);
            return None;
        }
        Some(Self {
            fabric,
            traffic,
            scheme,
            descriptor,
            scheme_at,
            transport,
            transport_keys,
            transport_at,
            swept: Vec::new(),
            run: run?,
            measure: measure?,
            events: events?,
        })
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> Vec<String> {
        let traffic = self.traffic.iter().flat_map(GroupSettings::files);
        self.fabric.file().into_iter().chain(traffic).map(str::to_owned).collect()
    }
}

/// All valid top-level names of a scenario.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    SECTIONS.iter().copied().chain(TOP_KEYS.iter().map(|key| key.name))
}

fn is_name(key: &str) -> bool {
    names().any(|name| name == key)
}

/// Rejects unknown sections and keys, with a suggestion.
fn check_names(root: &Section<'_>) {
    for entry in root.table.0.iter().filter(|entry| !is_name(&entry.key)) {
        let key = &entry.key;
        let message = match entry.node.value {
            Value::Table(_) => format!("unknown section [{key}]"),
            _ => format!("unknown key `{key}`"),
        };
        let label = match section_of(key) {
            Some(section) => format!("a key of [{section}]: write it there, or as {section}.{key}"),
            None => suggest(key, names()),
        };
        root.problem(entry.span, message, label);
    }
}

/// The section that has a key of this name, if it is the name of no section.
fn section_of(key: &str) -> Option<&'static str> {
    let mut of_fabric = SHAPES.iter().flat_map(keys_of).chain([KIND, FILE_KEY]).map(|key| key.name);
    let has = |keys: &[Key]| keys.iter().any(|own| own.name == key);
    [
        ("fabric", of_fabric.any(|own| own == key)),
        ("traffic", traffic::key_lists().into_iter().any(has)),
        ("run", has(run::KEYS)),
        ("measure", has(measure::KEYS)),
    ]
    .into_iter()
    .find_map(|(section, is_its)| is_its.then_some(section))
}
