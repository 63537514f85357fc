//! Valid attributes of nodes and links in the formats of other programs.

use super::Why;
use super::attributes::{BACK, FORTH};
use crate::nearest;

/// Attributes for drawing and naming that other programs write. They do not change how a link or a node
/// behaves.
const DRAWING: [&str; 24] = [
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
    "Latitude",
    "Longitude",
    "Country",
    "Internal",
    "LinkLabel",
    "LinkNote",
    "LinkType",
    "hyperedge",
];

/// Names that other programs use for Weft's attributes.
const SYNONYMS: [(&str, &str); 12] = [
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("LinkSpeed", "rate"),
    ("LinkSpeedRaw", "rate"),
    ("LinkSpeedUnits", "rate"),
    ("latency", "delay"),
    ("buffer", "queue"),
    ("type", "role"),
    ("kind", "role"),
    ("layer", "tier"),
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
    /// Checks the names of attributes.
    ///
    /// # Errors
    /// The first unknown attribute, with the nearest valid name.
    pub fn check<'a>(self, mut names: impl Iterator<Item = &'a str>) -> Result<(), Why> {
        names.try_for_each(|name| self.check_one(name))
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

    fn check_one(self, name: &str) -> Result<(), Why> {
        let links = Self::Undirected.names();
        let synonym =
            SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, ours)| *ours);
        if matches!(self, Self::Graph) {
            // Graphs have titles, dates and sources, which are ignored.
            if links.contains(&name) || synonym.is_some_and(|ours| links.contains(&ours)) {
                return Err(Why::Syntax(format!(
                    "`{name}` of the whole graph is not supported: set it on each edge, or in `[fabric]` of the scenario"
                )));
            }
            return Ok(());
        }
        let known = self.names();
        if known.contains(&name) || DRAWING.iter().any(|one| one.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        if matches!(self, Self::Directed) && links.contains(&name) {
            return Err(Why::Syntax(format!(
                "`{name}` is for undirected edges: in a directed graph the reverse direction is a separate edge"
            )));
        }
        let meant =
            synonym.filter(|ours| known.contains(ours)).or_else(|| nearest(name, known.iter().copied()));
        Err(Why::Syntax(match meant {
            Some(meant) => format!("unknown attribute `{name}`: did you mean `{meant}`?"),
            None => format!("unknown attribute `{name}`: expected one of {}, or remove it", known.join(", ")),
        }))
    }
}
