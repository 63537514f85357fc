//! Valid attributes of nodes and links in the formats of other programs.

use super::ErrorKind;
use super::attributes::{BACK, FORTH, Tier};
use super::notes::Notes;
use super::zoo;
use crate::nearest::misspelt;

/// Attributes for drawing and naming that other programs write. They do not change how a link or a node
/// behaves.
const DRAWING: [&str; 33] = [
    "id",
    "key",
    "name",
    "label",
    "description",
    "url",
    "x",
    "y",
    "z",
    "pos",
    "color",
    "colour",
    "size",
    "shape",
    "style",
    "width",
    "doublecircle",
    "asn",
    "Network",
    "Latitude",
    "Longitude",
    "Country",
    "Internal",
    "geocode_name",
    "geocode_id",
    "geocode_country",
    "geocode_extent",
    "geocode_append",
    "doubted",
    "LinkLabel",
    "LinkNote",
    "LinkType",
    "hyperedge",
];

/// Parts of names by which other programs call the rate, delay or queue of a link.
const QUANTITIES: [(&str, &str); 7] = [
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("delay", "delay"),
    ("latency", "delay"),
    ("buffer", "queue"),
    ("queue", "queue"),
];
/// Words of names by which other programs call an attribute of a link. As a part of a word they mean nothing.
const WORDS: [(&str, &str); 6] = [
    ("rate", "rate"),
    ("bitrate", "rate"),
    ("datarate", "rate"),
    ("bw", "rate"),
    ("ecn", "ecn_threshold"),
    ("overhead", "overhead"),
];

/// The kind of an element of a file, which determines its attributes.
#[derive(Clone, Copy)]
pub(super) enum Element {
    Node,
    /// An edge for both directions.
    Undirected,
    /// An edge for one direction.
    Directed,
    /// The whole graph.
    Graph,
}

impl Element {
    /// Checks attributes, each with its value. Those without effect are ignored; `notes` say so, except for drawing
    /// and naming.
    ///
    /// # Errors
    /// The first attribute that seems to be meant for one of Weft's.
    pub fn check<'a>(
        self,
        mut attributes: impl Iterator<Item = (&'a str, &'a str)>,
        notes: &mut Notes,
    ) -> Result<(), ErrorKind> {
        attributes.try_for_each(|(name, value)| self.check_one(name, value, notes))
    }

    /// The attributes with an effect, without those for drawing and naming.
    fn names(self) -> Vec<&'static str> {
        let links = || FORTH.all().into_iter().chain(["up"]);
        match self {
            Self::Node => vec!["role", "tier", "pod"],
            Self::Undirected => links().chain(BACK.all()).collect(),
            Self::Directed => links().collect(),
            Self::Graph => vec!["name"],
        }
    }

    /// Whether an attribute has an effect here.
    pub fn knows(self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// Whether an attribute has an effect anywhere.
    pub fn is_known(name: &str) -> bool {
        [Self::Node, Self::Undirected, Self::Graph].iter().any(|element| element.knows(name))
    }

    fn check_one(self, name: &str, value: &str, notes: &mut Notes) -> Result<(), ErrorKind> {
        if matches!(self, Self::Graph) {
            // Graphs have titles, dates and sources, which are ignored.
            if Self::Undirected.knows(name) || quantity(name).is_some() {
                return Err(ErrorKind::Syntax(format!(
                    "`{name}` of the whole graph is not supported: set it on each edge, or in `[fabric]` of the scenario"
                )));
            }
            return Ok(());
        }
        let known = self.names();
        if known.contains(&name) || DRAWING.iter().any(|one| one.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let (elements, meant) = match self {
            Self::Node => ("nodes", role_or_tier(name, value)),
            _ if zoo::SPEED.contains(&name) => return Ok(()),
            _ => ("links", quantity(name)),
        };
        if matches!(self, Self::Directed) && Self::Undirected.knows(name) {
            return Err(ErrorKind::Syntax(format!(
                "`{name}` is for undirected edges: in a directed graph the reverse direction is a separate edge"
            )));
        }
        match misspelt(name, known.iter().copied()).or(meant) {
            Some(meant) => {
                Err(ErrorKind::Syntax(format!("unknown attribute `{name}`: did you mean `{meant}`?")))
            }
            None if Self::is_known(name) => Err(ErrorKind::Syntax(format!(
                "unknown attribute `{name}` of {elements}: expected one of {}, or remove it",
                known.join(", ")
            ))),
            None => {
                notes.ignore(elements, name);
                Ok(())
            }
        }
    }
}

/// The attribute of a link that another program's name seems to mean.
fn quantity(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let part = QUANTITIES.iter().find(|(part, _)| name.contains(part));
    let whole = || WORDS.iter().find(|(word, _)| words.contains(word));
    part.or_else(whole).map(|(_, ours)| *ours)
}

/// The attribute of a node that another program's name and value seem to mean. Of the Topology Zoo's nodes, `type` is
/// the symbol on the map.
fn role_or_tier(name: &str, value: &str) -> Option<&'static str> {
    let is = |names: &[&str], word: &str| names.iter().any(|one| word.trim().eq_ignore_ascii_case(one));
    if is(&["type", "kind", "node_type", "device_type"], name) && is(&["host", "server"], value) {
        return Some("role");
    }
    (is(&["layer", "level"], name) && value.parse::<Tier>().is_ok()).then_some("tier")
}
