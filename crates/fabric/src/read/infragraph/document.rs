//! [`Infrastructure`]: a file's tables as they are written, with names found.

use std::collections::BTreeMap;

use super::super::notes::Notes;
use super::super::yaml::Yaml;
use super::links::Link;
use super::table::{Fault, Table, Word};
use crate::visible;

/// What a component is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Xpu,
    Nic,
    Switch,
    Port,
    Cpu,
    Memory,
    /// Another device of the file, with the component's name.
    Device,
    Custom,
}

const KINDS: [(&str, Kind); 8] = [
    ("custom", Kind::Custom),
    ("device", Kind::Device),
    ("cpu", Kind::Cpu),
    ("xpu", Kind::Xpu),
    ("nic", Kind::Nic),
    ("memory", Kind::Memory),
    ("port", Kind::Port),
    ("switch", Kind::Switch),
];

/// A component of a device.
#[derive(Debug)]
pub(super) struct Component<'y> {
    pub name: Word<'y>,
    pub count: u32,
    pub kind: Kind,
}

/// How the endpoints of an edge are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    /// The first with the first, and so on, as far as both reach.
    OneToOne,
    /// Each with each.
    ManyToMany,
}

/// One end of an edge: a component, in a device of the containing one or in an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'y> {
    pub within: Option<Word<'y>>,
    pub component: Word<'y>,
}

/// An edge.
#[derive(Debug)]
pub(super) struct Edge<'y> {
    pub ends: [End<'y>; 2],
    pub scheme: Scheme,
    /// The position of its link in the list.
    pub link: usize,
    pub byte: usize,
    /// Its name in messages.
    pub element: String,
}

/// A device.
#[derive(Debug)]
pub(super) struct Device<'y> {
    pub name: &'y str,
    pub components: Vec<Component<'y>>,
    pub links: Vec<Link<'y>>,
    pub edges: Vec<Edge<'y>>,
}

/// Copies of a device.
#[derive(Debug)]
pub(super) struct Instance<'y> {
    pub name: &'y str,
    pub device: Word<'y>,
    pub count: u32,
    pub byte: usize,
}

/// A whole file.
#[derive(Debug)]
pub(super) struct Infrastructure<'y> {
    pub name: Option<&'y str>,
    pub devices: Vec<Device<'y>>,
    pub links: Vec<Link<'y>>,
    pub instances: Vec<Instance<'y>>,
    pub edges: Vec<Edge<'y>>,
}

impl<'y> Infrastructure<'y> {
    /// Reads a document: the table of the infrastructure, or one with it under `infrastructure`.
    pub fn read(document: &'y Yaml<'y>, notes: &mut Notes) -> Result<Self, Fault> {
        let mut table = Table::of(document, "")?;
        if let Some(inner) = table.get("infrastructure") {
            table = Table::of(inner, "`infrastructure`")?;
        }
        let known = ["name", "description", "devices", "links", "instances", "edges"];
        table.check_draft()?;
        table.only(&known, "the infrastructure", notes)?;
        let links = links(&table, "", notes)?;
        Ok(Self {
            name: table.text("name")?.map(|name| name.text),
            devices: named(&table, "devices", "device", "")?
                .into_iter()
                .map(|(table, name)| Device::read(&table, name.text, notes))
                .collect::<Result<_, _>>()?,
            instances: named(&table, "instances", "instance", "")?
                .into_iter()
                .map(|(table, name)| {
                    table.only(&["name", "description", "device", "count"], "instances", notes)?;
                    let device = table.word("device", "`device`")?;
                    Ok(Instance {
                        name: name.text,
                        device,
                        count: table.count("count", "`count`")?,
                        byte: table.byte,
                    })
                })
                .collect::<Result<_, Fault>>()?,
            edges: edges(&table, "", "instance", &links, notes)?,
            links,
        })
    }
}

impl<'y> Device<'y> {
    fn read(table: &Table<'y>, name: &'y str, notes: &mut Notes) -> Result<Self, Fault> {
        table.only(&["name", "description", "components", "links", "edges"], "devices", notes)?;
        let of = format!("{}, ", table.element);
        let components = named(table, "components", "component", &of)?;
        let components = components.into_iter().map(|(table, name)| {
            let mut known = vec!["name", "description", "count", "choice"];
            known.extend(KINDS.map(|(word, _)| word));
            if let (Some(old), None) = (table.get("type"), table.get("choice")) {
                let why = "`type` is of the drafts of InfraGraph; expected `choice`, and `edges` in the place of `connections`";
                return Err(Fault::said(old.byte, &table.element, why));
            }
            table.only(&known, "components", notes)?;
            let choice = table.word("choice", "`choice`")?;
            let kind = KINDS.iter().find(|(word, _)| *word == choice.text).map(|(_, kind)| *kind);
            let kind = kind.ok_or_else(|| {
                let words = KINDS.map(|(word, _)| word).join(", ");
                table.invalid("choice", choice.byte, format!("`{}` is none of {words}", visible(choice.text)))
            })?;
            Ok(Component { name, count: table.count("count", "`count`")?, kind })
        });
        let components = components.collect::<Result<_, Fault>>()?;
        let links = links(table, &of, notes)?;
        table.check_draft()?;
        let edges = edges(table, &of, "device", &links, notes)?;
        Ok(Self { name, components, links, edges })
    }
}

/// The tables of a list, each with its name; no name twice.
fn named<'y>(
    table: &Table<'y>,
    key: &'static str,
    called: &str,
    of: &str,
) -> Result<Vec<(Table<'y>, Word<'y>)>, Fault> {
    let mut seen = BTreeMap::new();
    let each = table.list(key)?.iter().zip(1..).map(|(value, number)| {
        let mut item = Table::of(value, format!("{of}{called} {number}"))?;
        let name = item.word("name", "`name`")?;
        item.element = format!("{of}{called} `{}`", visible(name.text));
        match seen.insert(name.text, number) {
            None => Ok((item, name)),
            Some(first) => {
                let why = format!("{called} {first} has this name, too");
                Err(Fault::said(name.byte, &item.element, why))
            }
        }
    });
    each.collect()
}

fn links<'y>(table: &Table<'y>, of: &str, notes: &mut Notes) -> Result<Vec<Link<'y>>, Fault> {
    let links = named(table, "links", "link", of)?;
    links.into_iter().map(|(table, name)| Link::read(&table, name.text, notes)).collect()
}

/// The edges of a table; `within` is the key of an end beside `component`.
fn edges<'y>(
    table: &Table<'y>,
    of: &str,
    within: &'static str,
    links: &[Link<'y>],
    notes: &mut Notes,
) -> Result<Vec<Edge<'y>>, Fault> {
    let by_name: BTreeMap<&str, usize> = links.iter().enumerate().map(|(at, link)| (link.name, at)).collect();
    let each = table.list("edges")?.iter().zip(1..).map(|(value, number)| {
        let edge = Table::of(value, format!("{of}edge {number}"))?;
        edge.only(&["ep1", "ep2", "scheme", "link"], "edges", notes)?;
        let mut end = |key, missing| {
            let Some(end) = edge.table(key)? else {
                return Err(Fault::new(edge.byte, &edge.element, super::ErrorKind::Missing(missing)));
            };
            end.only(&[within, "component"], "edges", notes)?;
            let component = end.word("component", "`component`")?;
            let word = match within {
                "instance" => Some(end.word("instance", "`instance`")?),
                _ => end.text(within)?,
            };
            Ok(End { within: word, component })
        };
        let ends = [end("ep1", "`ep1`")?, end("ep2", "`ep2`")?];
        let scheme = match edge.word("scheme", "`scheme`")? {
            Word { text: "one2one", .. } => Scheme::OneToOne,
            Word { text: "many2many", .. } => Scheme::ManyToMany,
            Word { text: "ring", byte } => {
                let why = "the schema does not say which endpoints a `ring` joins: write one2one edges";
                return Err(edge.invalid("scheme", byte, why));
            }
            other => {
                let why = format!("`{}` is neither one2one nor many2many", visible(other.text));
                return Err(edge.invalid("scheme", other.byte, why));
            }
        };
        let name = edge.word("link", "`link`")?;
        let link = by_name.get(name.text).copied().ok_or_else(|| {
            edge.invalid("link", name.byte, unknown("link", name.text, by_name.keys().copied()))
        })?;
        Ok(Edge { ends, scheme, link, byte: edge.byte, element: edge.element })
    });
    each.collect()
}

/// The message about a name that does not exist, with the nearest one that does.
pub(super) fn unknown<'n>(what: &str, name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let hint = crate::nearest::nearest(name, names);
    let hint = hint.map_or(String::new(), |near| format!(": did you mean `{}`?", visible(near)));
    format!("there is no {what} `{}`{hint}", visible(name))
}
