//! The sections of a scenario, one file each: their keys, their meaning, and how they become parts of a plan.

pub(crate) mod cable;
pub(crate) mod collective;
pub(crate) mod congestion;
pub(crate) mod drawn;
pub(crate) mod event;
pub(crate) mod fabric;
pub(crate) mod flow_list;
pub(crate) mod inference;
pub(crate) mod interfaces;
pub(crate) mod link_set;
pub(crate) mod links;
pub(crate) mod measure;
pub(crate) mod model;
pub(crate) mod optional;
pub(crate) mod pairs;
pub(crate) mod run;
pub(crate) mod scheme;
pub(crate) mod served;
pub(crate) mod shapes;
pub(crate) mod sizes;
pub(crate) mod trace;
pub(crate) mod traffic;
pub(crate) mod training;
pub(crate) mod transport;

use weft_fabric::Fabric;
use weft_units::HostId;

use crate::diagnostic::{Problem, Problems};
use crate::nearest::nearest;
use crate::section::At;

/// Returns the bytes of a file that a scenario names, or the reason why not.
pub type Loader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Resolves names of hosts and files when parts of a scenario become parts of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Resolver<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) loader: Loader<'a>,
    pub(crate) problems: &'a Problems,
    /// The seed of the run.
    pub(crate) seed: u64,
}

impl Resolver<'_> {
    /// The host with this name.
    pub(crate) fn host(&self, name: &At<String>) -> Option<HostId> {
        find_host(self.fabric, &name.value).map_err(|why| self.problems.add(Problem::at(name.span, why))).ok()
    }

    /// The bytes of a file.
    pub(crate) fn file(&self, path: &At<String>) -> Option<Vec<u8>> {
        load(self.loader, path, self.problems)
    }
}

/// The host with this name, or an error message.
pub(crate) fn find_host(fabric: &Fabric, name: &str) -> Result<HostId, String> {
    match fabric.node_named(name) {
        Some(node) => fabric.node(node).host.ok_or_else(|| format!("`{name}` is a switch; expected a host")),
        None => Err(format!("there is no host `{name}`; {}", hosts(fabric, name))),
    }
}

/// The hosts to suggest for `name`: their range if they are numbered, else the nearest.
fn hosts(fabric: &Fabric, name: &str) -> String {
    let names = || fabric.hosts().iter().map(|&node| fabric.node(node).name.as_str());
    let numbered =
        names().enumerate().all(|(at, name)| name.strip_prefix('h') == Some(at.to_string().as_str()));
    match nearest(name, names()) {
        Some(nearest) if !numbered => format!("did you mean `{nearest}`?"),
        _ => match fabric.hosts() {
            [] => "the fabric has none".to_owned(),
            [only] => format!("the only one is `{}`", fabric.node(*only).name),
            [first, .., last] => {
                let (first, last) = (&fabric.node(*first).name, &fabric.node(*last).name);
                format!("the {} hosts are `{first}` to `{last}`", fabric.host_count())
            }
        },
    }
}

/// The bytes of a file; on failure, reports a problem at the position of its name.
pub(crate) fn load(loader: Loader<'_>, path: &At<String>, problems: &Problems) -> Option<Vec<u8>> {
    loader(&path.value)
        .map_err(|why| {
            problems.add(Problem::at(path.span, format!("`{}` cannot be read", path.value)).label(why));
        })
        .ok()
}
