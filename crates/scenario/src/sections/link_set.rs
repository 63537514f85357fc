//! [`LinkSet`]: the links of an `[[event]]`: one by its name, a list, or a share of the uplinks.

use rand_core::RngCore as _;
use weft_fabric::Fabric;
use weft_switching::{pick, stream};
use weft_units::LinkId;

use super::Resolver;
use super::cable::cable_problem;
use crate::change::Cables;
use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::tree::{Value, shown};

/// The forms of the links of an event.
pub(crate) const LINKS: Kind = Kind::Either(&[Kind::Text, Kind::Texts, Kind::Table(SHARE_KEYS)]);

const SHARE_KEYS: &[Key] = &[key(
    "share",
    Kind::Number,
    "",
    "share of the uplinks of the lowest switches, above 0 and up to 1; drawn by the seed",
)];

/// Links as written.
#[derive(Clone, Debug)]
pub(crate) enum LinkSet {
    Named(Vec<At<String>>),
    Share(At<f64>),
}

impl LinkSet {
    /// The links under the key `name` of an event.
    pub(crate) fn decode(section: &Section<'_>, name: &str) -> Option<Self> {
        let node = section.node(name)?;
        match &node.value {
            Value::List(names) => {
                let listed = section.list::<String>(name)?.value;
                if names.is_empty() {
                    section.problem(node.span, "the event names no link", "expected links such as \"l0-s0\"");
                }
                (!listed.is_empty()).then_some(Self::Named(listed))
            }
            Value::Table(_) => {
                let table = section.section(name)?;
                table.only(&[SHARE_KEYS]);
                let share = table.need::<f64>("share")?;
                if share.value <= 0.0 || share.value > 1.0 {
                    let label = "expected a share above 0 and up to 1, such as 0.2";
                    let message = format!("{} is not a share of the uplinks", shown(share.value));
                    section.problem(share.span, message, label);
                    return None;
                }
                Some(Self::Share(share))
            }
            _ => Some(Self::Named(vec![section.get(name)?])),
        }
    }

    /// The cables. One share and seed always select the same cables, and a smaller share some of these.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Cables> {
        match self {
            Self::Named(names) => named(names, resolver),
            Self::Share(share) => {
                let uplinks = shuffled_uplinks(resolver.fabric, resolver.seed);
                if uplinks.is_empty() {
                    let message = "this fabric has no uplinks: all its switches are of one tier";
                    let problem = Problem::at(share.span, message);
                    resolver.problems.add(problem.label("expected names of links, such as [\"s0-s1\"]"));
                    return None;
                }
                let count = (share.value * uplinks.len() as f64).round().max(1.0) as usize;
                let mut links = uplinks[..count].to_vec();
                links.sort_unstable();
                let percent = (share.value * 1e6).round() / 1e4;
                let label = format!("{percent} % of the uplinks").into();
                Some(Cables { links: links.into(), label, drawn: true })
            }
        }
    }
}

/// The cables with these names, with their parallel cables.
fn named(names: &[At<String>], resolver: &Resolver<'_>) -> Option<Cables> {
    let fabric = resolver.fabric;
    let found = names.iter().map(|name| {
        let link = fabric.link_named(&name.value);
        let link = link.map_err(|error| resolver.problems.add(cable_problem(name, &error))).ok()?;
        let label = format!(
            "{}-{}",
            fabric.node(fabric.link(link).from).name,
            fabric.node(fabric.link(link).to).name
        );
        Some((label, fabric.parallel(link).map(|link| LinkId(link.0 & !1)).collect::<Vec<_>>()))
    });
    let found: Vec<Option<(String, Vec<LinkId>)>> = found.collect();
    let (labels, links): (Vec<String>, Vec<Vec<LinkId>>) =
        found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let mut links = links.concat();
    links.sort_unstable();
    links.dedup();
    Some(Cables { links: links.into(), label: labels.join(", ").into(), drawn: false })
}

/// The uplinks of the lowest switches that are up at the start, one link of each cable, in an order drawn by the seed.
fn shuffled_uplinks(fabric: &Fabric, seed: u64) -> Vec<LinkId> {
    let tier = |node| fabric.node(node).tier;
    let switches = || fabric.switches().filter(|node| !fabric.node(*node).is_scale_up());
    let lowest = switches().map(tier).min();
    let lowest_switches = switches().filter(|node| Some(tier(*node)) == lowest);
    let ports = lowest_switches.flat_map(|node| fabric.ports(node).iter().copied());
    let is_uplink = |link: &LinkId| {
        let link = fabric.link(*link);
        link.up && tier(link.to) > tier(link.from)
    };
    let mut uplinks: Vec<LinkId> = ports.filter(is_uplink).map(|link| LinkId(link.0 & !1)).collect();
    let mut random = stream(seed, "event", 0);
    for at in (1..uplinks.len()).rev() {
        uplinks.swap(at, pick(random.next_u64(), at + 1));
    }
    uplinks
}
