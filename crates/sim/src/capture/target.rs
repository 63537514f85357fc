//! [`Target`]: links or a flow to capture, as users name them, and [`Subject`], the part of a run in one file.

use std::fmt;
use std::str::FromStr;

use weft_fabric::{Fabric, FabricError};
use weft_scenario::Plan;
use weft_units::LinkId;

use crate::journal::FlowNumber;

/// Prefix of a flow's name.
const FLOW: &str = "flow:";
/// The maximum number of neighbours that a message lists.
const LISTED: usize = 8;

/// The target of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The flow with this number: `flow:17`.
    Flow(u64),
    /// A link, `l0->s0` in one direction or `l0-s0` in both, with the links parallel to it.
    Link(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.strip_prefix(FLOW) {
            Some(number) => number.trim().parse().map(Self::Flow).map_err(|_| {
                format!("`{text}` does not name a flow: write its number in flows.parquet, such as `flow:17`")
            }),
            None => Ok(Self::Link(text.to_owned())),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(number) => write!(f, "{FLOW}{number}"),
            Self::Link(name) => f.write_str(name),
        }
    }
}

/// The frames that a file captures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frames {
    /// All frames on these links.
    OnLinks(Vec<LinkId>),
    /// Those of a flow: its segments, and the frames by which hosts and switches find its destination and its
    /// path. On these links, or on all.
    OfFlow(FlowNumber, Option<Vec<LinkId>>),
}

/// One capture file of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The file's name.
    pub file: String,
    /// Its description.
    pub description: String,
    /// The frames.
    pub frames: Frames,
}

impl Target {
    /// The capture files of this target for a run of `plan`.
    ///
    /// # Errors
    /// A message: the run has no such link or flow.
    pub fn resolve(&self, plan: &Plan) -> Result<Vec<Subject>, String> {
        match self {
            Self::Flow(number) => flow(*number, plan),
            Self::Link(name) => link(name, &plan.fabric).map(|subject| vec![subject]),
        }
    }
}

/// A flow at its source, as tcpdump would see it there, and on all links.
fn flow(number: u64, plan: &Plan) -> Result<Vec<Subject>, String> {
    let flows = &plan.traffic.flows;
    let is_it = |flow: &&weft_traffic::Flow| u64::from(flow.id.0) == number;
    let Some((place, flow)) = (0..).zip(flows).find(|(_, flow)| is_it(flow)) else {
        return Err(match flows.len() {
            0 => "the scenario has no flows".to_owned(),
            count => format!("there is no flow {number}: flows are numbered 0 to {}", count - 1),
        });
    };
    let fabric = &plan.fabric;
    let out = fabric.ports(fabric.host_node(flow.src));
    let both = out.iter().flat_map(|link| [*link, link.reverse()]).collect();
    let ends = format!("flow {number}, {} to {}", fabric.host_name(flow.src), fabric.host_name(flow.dst));
    let subject = |end: &str, place_text: &str, frames| Subject {
        file: format!("flow-{number}{end}.pcapng"),
        description: format!("{ends}, {place_text}"),
        frames,
    };
    Ok(vec![
        subject("", "at its source", Frames::OfFlow(place, Some(both))),
        subject("-hops", "on every link", Frames::OfFlow(place, None)),
    ])
}

fn link(name: &str, fabric: &Fabric) -> Result<Subject, String> {
    let one_way = name.split_once("->");
    let text = one_way.map_or_else(|| name.to_owned(), |(from, to)| format!("{}-{}", from.trim(), to.trim()));
    let link = fabric.link_named(&text).map_err(|error| match error {
        FabricError::NoCable { ref a, .. } => format!("{error}{}", neighbours(a, fabric)),
        FabricError::BadPair { nearest, .. } => {
            FabricError::BadPair { text: name.to_owned(), nearest }.to_string()
        }
        _ => error.to_string(),
    })?;
    let ends = [fabric.link(link).from, fabric.link(link).to].map(|node| fabric.node(node).name.as_str());
    let mut links: Vec<LinkId> = fabric.parallel(link).collect();
    let between = if one_way.is_some() {
        "-to-"
    } else {
        links = links.into_iter().flat_map(|link| [link, link.reverse()]).collect();
        "-"
    };
    let description = format!("link {}{}{}", ends[0], if one_way.is_some() { "->" } else { "-" }, ends[1]);
    let plain = |name: &str| name.replace(|letter: char| !letter.is_alphanumeric() && letter != '_', "_");
    let file = format!("link-{}{between}{}.pcapng", plain(ends[0]), plain(ends[1]));
    Ok(Subject { file, description, frames: Frames::OnLinks(links) })
}

/// The end of a message: the nodes to which node `name` has links.
fn neighbours(name: &str, fabric: &Fabric) -> String {
    let Some(node) = fabric.node_named(name) else { return String::new() };
    let mut names: Vec<&str> = Vec::new();
    for &link in fabric.ports(node) {
        let name = fabric.node(fabric.link(link).to).name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > LISTED { " and others" } else { "" };
    names.truncate(LISTED);
    format!(": `{name}` has links to {}{more}", names.join(", "))
}
