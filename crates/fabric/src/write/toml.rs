//! Weft's own format.

use serde::Serialize;

use crate::read::attributes::LinkAttributes;
use crate::{Fabric, Limit, LinkSpec, Overhead, QueueSpec, Role};
use weft_units::{Duration, Rate};

#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<LinkAttributes>,
    node: Vec<Node<'a>>,
    link: Vec<Link<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    role: Role,
    tier: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pod: Option<u32>,
}

#[derive(Serialize)]
struct Link<'a> {
    between: [&'a str; 2],
    #[serde(skip_serializing_if = "is_up")]
    up: bool,
    #[serde(flatten)]
    forth: LinkAttributes,
    #[serde(flatten)]
    back: ReverseAttributes,
}

/// The attributes of the reverse direction, with names of their own.
#[derive(Serialize)]
struct ReverseAttributes {
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_back: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_back: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead_back: Option<Overhead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn_threshold_back: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_back: Option<QueueSpec>,
}

impl ReverseAttributes {
    /// The attributes of `back` that differ from `forth`.
    fn difference(back: &LinkSpec, forth: &LinkSpec) -> Self {
        let LinkAttributes { rate, delay, overhead, ecn_threshold, queue } =
            LinkAttributes::difference(back, forth);
        Self {
            rate_back: rate,
            delay_back: delay,
            overhead_back: overhead,
            ecn_threshold_back: ecn_threshold,
            queue_back: queue,
        }
    }
}

fn is_up(up: &bool) -> bool {
    *up
}

/// The fabric in Weft's own format. The properties of the first link are the defaults; other links list
/// differences.
pub fn toml(fabric: &Fabric) -> String {
    let name = |id| fabric.node(id).name.as_str();
    let defaults = fabric.links().first().map(crate::Link::spec).unwrap_or_default();
    let link = |cable: &[crate::Link]| {
        let (forth, back) = (cable[0].spec(), cable[1].spec());
        Link {
            between: [name(cable[0].from), name(cable[0].to)],
            up: cable[0].up,
            forth: LinkAttributes::difference(&forth, &defaults),
            back: ReverseAttributes::difference(&back, &forth),
        }
    };
    let file = File {
        name: fabric.name(),
        defaults: (fabric.cable_count() > 0).then(|| LinkAttributes::whole(&defaults)),
        node: fabric
            .nodes()
            .iter()
            .map(|node| Node { name: &node.name, role: node.role, tier: node.tier, pod: node.pod })
            .collect(),
        link: fabric.links().chunks(2).map(link).collect(),
    };
    toml::to_string(&file).expect("text, numbers and tables of these always have a TOML form")
}
