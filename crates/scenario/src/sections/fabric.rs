//! `[fabric]`: hosts and switches, from a builder or a file, with single cables changed or failed.

use weft_fabric::build::{self, RailLinks, Rails, ThreeLayer};
use weft_fabric::{Fabric, FabricError, HostQueue, LinkSpec, SharedBuffer, read};
use weft_units::{Duration, Rate};

use super::cable::{CABLE_KEYS, Cable, cable_problem};
use super::links::{LINK_KEYS, LinkSettings};
use super::served::{BUFFER_KEYS, buffer};
use super::shapes::{KIND, SCALE_UP_KEYS, SHAPES, Shape, instead, kinds};
use super::{Loader, load};
use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind, key};
use crate::nearest::list;
use crate::section::{At, Section};
use crate::source::Span;

/// The keys of every shape.
pub(crate) const COMMON_KEYS: &[Key] = &[
    key("rate", Kind::Rate, "", "link rate, each direction").of(|| LinkSpec::default().rate.to_string()),
    key("failed", Kind::Texts, "", "links that are down from the start, such as \"e0-a1\""),
    key("link", Kind::Tables(CABLE_KEYS), "", "single links that differ"),
    key(
        "reaction",
        Kind::Duration,
        "10 ms",
        "time from a change of a link's state or rate until computed routes take it into account",
    ),
    key(
        "host_queue",
        Kind::Either(&[Kind::Limit, Kind::Word(&[HostQueue::AS_SWITCHES])]),
        "4 packets",
        "queue of a host's own interface: sources wait in turn while it is full; as-switches: it drops and marks",
    ),
];

/// The rate of host links; not available for fabric files.
pub(crate) const HOST_RATE: Key = key("host_rate", Kind::Rate, "", "rate of host links (default: `rate`)");

/// The key of a fabric from a file.
pub(crate) const FILE_KEY: Key = key(
    "file",
    Kind::Text,
    "",
    "fabric file: TOML (.toml), GraphML (.graphml), NetworkX node-link JSON (.json), htsim (.topo), conweave-ns3 or SimAI (.txt), InfraGraph (.yaml)",
);

/// `[fabric]` as written.
#[derive(Clone, Debug)]
pub(crate) struct FabricSettings {
    span: Span,
    kind: Base,
    rate: Option<At<Rate>>,
    host_rate: Option<At<Rate>>,
    fabric_rate: Option<At<Rate>>,
    oversubscription: Option<At<f64>>,
    bottleneck_delay: Option<At<Duration>>,
    links: LinkSettings,
    failed: Vec<At<String>>,
    cables: Vec<Cable>,
    /// Time from a change of a link until computed routes take it into account.
    pub(crate) reaction: Duration,
    buffer: Option<At<SharedBuffer>>,
    host_queue: HostQueue,
    /// Hosts per scale-up domain.
    scale_up: Option<At<u32>>,
    scale_up_link: LinkSpec,
    scale_up_rate: Option<At<Rate>>,
    rails: Option<At<u32>>,
    tors: Option<At<u32>>,
    planes: Option<At<u32>>,
}

/// The origin of the fabric.
#[derive(Clone, Debug)]
enum Base {
    /// A shape, with its counts in order.
    Shape(&'static str, Vec<At<u32>>),
    File(At<String>),
}

/// The valid keys of a shape.
pub(crate) fn keys_of(shape: &Shape) -> Vec<Key> {
    let own = [shape.counts, shape.extra].concat();
    own.into_iter()
        .chain([HOST_RATE])
        .chain(COMMON_KEYS.iter().copied())
        .chain(LINK_KEYS.iter().copied())
        .chain(BUFFER_KEYS.iter().copied())
        .chain(SCALE_UP_KEYS.iter().copied())
        .collect()
}

/// The keys of a fabric from a file.
pub(crate) fn keys_of_file() -> Vec<Key> {
    let of_links = LINK_KEYS.iter().chain(BUFFER_KEYS).chain(SCALE_UP_KEYS).copied();
    [FILE_KEY].into_iter().chain(COMMON_KEYS.iter().copied()).chain(of_links).collect()
}

impl FabricSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let base = Self::decode_base(section);
        let cables: Vec<Option<Cable>> = section.sections("link").iter().map(Cable::decode).collect();
        let links = LinkSettings::decode(section);
        let rates =
            ["rate", "host_rate", "fabric_rate", "bottleneck_rate"].map(|key| section.get::<Rate>(key));
        let oversubscription = section.get::<f64>("oversubscription");
        let bottleneck_delay = section.get("bottleneck_delay");
        let failed = section.list("failed").map(|list| list.value).unwrap_or_default();
        let (reaction, host_queue) =
            (section.value(COMMON_KEYS, "reaction"), section.value(COMMON_KEYS, "host_queue"));
        let scale_up_link = build::scale_up_link(
            section.value(SCALE_UP_KEYS, "scale_up_rate")?,
            section.value(SCALE_UP_KEYS, "scale_up_delay")?,
        );
        if let (Some(_), Some(ratio)) = (rates[2], oversubscription) {
            let label = "expected `fabric_rate` or `oversubscription`, not both";
            section.problem(ratio.span, "the rate of the uplinks is given twice", label);
        }
        Some(Self {
            span: section.span,
            kind: base?,
            rate: rates[0],
            host_rate: rates[1],
            fabric_rate: rates[2].or(rates[3]),
            oversubscription,
            bottleneck_delay,
            links,
            failed,
            reaction: reaction?,
            buffer: buffer(section),
            host_queue: host_queue?,
            scale_up: section.get("scale_up"),
            scale_up_link,
            scale_up_rate: section.get("scale_up_rate"),
            rails: section.get("rails"),
            tors: section.get("tors"),
            planes: section.get("planes"),
            cables: cables.into_iter().collect::<Option<_>>()?,
        })
    }

    fn decode_base(section: &Section<'_>) -> Option<Base> {
        if section.node("file").is_some() {
            if let Some(kind) = section.table.entry("kind") {
                let label = "expected `kind` or `file`, not both";
                section.problem(kind.span, "the fabric comes from a file and has no `kind`", label);
            }
            section.only(&[&keys_of_file(), &[KIND]]);
            return Some(Base::File(section.get("file")?));
        }
        if section.node("kind").is_none() {
            let label = format!("expected `kind`, one of {}, or `file`", list(kinds()));
            section.problem(section.span, "[fabric] has neither `kind` nor `file`", label);
            return None;
        }
        let choices: Vec<_> = SHAPES.iter().map(|shape| (shape.name, shape)).collect();
        let shape = section.choose(&section.get("kind")?, "kind", &choices)?.value;
        let keys = keys_of(shape);
        let known = |name: &str| keys.iter().any(|key| key.name == name) || name == "kind";
        for entry in section.table.0.iter().filter(|entry| !known(&entry.key)) {
            let owners = SHAPES
                .iter()
                .filter(|shape| [shape.counts, shape.extra].concat().iter().any(|key| key.name == entry.key));
            let owners: Vec<&str> = owners.map(|shape| shape.name).collect();
            if !owners.is_empty() {
                let message = format!("a fabric of kind \"{}\" has no `{}`", shape.name, entry.key);
                let problem = Problem::at(entry.span, message).label(format!("belongs to {}", list(owners)));
                let own = shape.counts.iter().chain(shape.extra).map(|key| key.name);
                let help = instead(shape.name, &entry.key)
                    .map_or_else(|| format!("\"{}\" has {}", shape.name, list(own)), str::to_owned);
                section.problems.add(problem.help(help));
            }
        }
        let of_any = |name: &str| {
            SHAPES.iter().any(|shape| shape.counts.iter().chain(shape.extra).any(|key| key.name == name))
        };
        let mut others = section.table.clone();
        others.0.retain(|entry| known(&entry.key) || !of_any(&entry.key));
        Section { table: &others, ..section.clone() }.only(&[&keys, &[KIND, FILE_KEY]]);
        let counts: Vec<Option<At<u32>>> = shape.counts.iter().map(|key| section.need(key.name)).collect();
        Some(Base::Shape(shape.name, counts.into_iter().collect::<Option<_>>()?))
    }

    /// The file it comes from.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.kind {
            Base::File(path) => Some(&path.value),
            Base::Shape(..) => None,
        }
    }

    /// The fabric.
    pub(crate) fn build(&self, loader: Loader<'_>, problems: &Problems) -> Option<Fabric> {
        let fabric = match &self.kind {
            Base::File(path) => {
                let bytes = load(loader, path, problems)?;
                let read = |spec: &LinkSpec| read::file(&path.value, &bytes, spec);
                let fabric = read(&self.spec(self.rate)).map_err(|error| {
                    let message = format!("`{}` is not a valid fabric file", path.value);
                    problems.add(Problem::at(path.span, message).label(error.to_string()));
                });
                fabric
                    .map(|fabric| self.note_keys_without_effect(fabric, &path.value, |spec| read(spec).ok()))
            }
            Base::Shape(shape, counts) => {
                self.shape(shape, counts).map_err(|error| problems.add(self.blame(counts, &error)))
            }
        };
        let fabric = self.join_hosts(fabric.ok()?, problems)?;
        let fabric = self.change(fabric, problems)?;
        let buffered = fabric.with_buffer(self.buffer.map(|at| at.value));
        buffered
            .map(|fabric| fabric.with_host_queue(self.host_queue))
            .map_err(|error| {
                let cables = self.cables.iter().rev().find_map(|cable| cable.links.span_of(&error));
                let shared = self
                    .buffer
                    .map(|at| at.span)
                    .filter(|_| matches!(error, FabricError::SharedHeadroom { .. }));
                let span = shared.or(cables).or(self.links.span_of(&error)).unwrap_or(self.span);
                problems.add(Problem::at(span, error.to_string()));
            })
            .ok()
    }

    /// The fabric of a file, with a note of the keys of links that have no effect on it.
    fn note_keys_without_effect(
        &self,
        fabric: Fabric,
        path: &str,
        read: impl FnOnce(&LinkSpec) -> Option<Fabric>,
    ) -> Fabric {
        let keys = self.links.without_effect(self.rate.map(|at| at.value), &fabric, read);
        if keys.is_empty() {
            return fabric;
        }
        let named: Vec<String> = keys.iter().map(|(key, _)| format!("`fabric.{key}`")).collect();
        let mut own: Vec<&str> = keys.iter().map(|(_, own)| *own).collect();
        own.dedup();
        let has = if keys.len() == 1 { "has" } else { "have" };
        let replaces_more = keys.iter().any(|(key, own)| key != own);
        let all = if replaces_more { ", which replaces all keys about queues" } else { "" };
        let (named, own) = (named.join(", "), own.join(" and "));
        fabric.with_note(format!("{named} {has} no effect: each link of `{path}` has its own {own}{all}"))
    }

    /// The fabric with its hosts in scale-up domains, if they are to be.
    fn join_hosts(&self, fabric: Fabric, problems: &Problems) -> Option<Fabric> {
        let Some(size) = self.scale_up else { return Some(fabric) };
        if fabric.has_scale_up() {
            let problem = Problem::at(size.span, "the hosts of this fabric form scale-up domains already");
            problems.add(problem.label("expected no `scale_up`"));
            return None;
        }
        let mut builder = fabric.edit();
        let joined = builder.scale_up(size.value, &self.scale_up_link).and_then(|()| builder.build());
        let span = |error: &FabricError| match error {
            FabricError::Rate { .. } => self.scale_up_rate.map(|at| at.span),
            _ => None,
        };
        joined
            .map_err(|error| problems.add(Problem::at(span(&error).unwrap_or(size.span), error.to_string())))
            .ok()
    }

    /// The fabric with its single links changed and failed.
    fn change(&self, fabric: Fabric, problems: &Problems) -> Option<Fabric> {
        if self.failed.is_empty() && self.cables.is_empty() {
            return Some(fabric);
        }
        let mut builder = fabric.edit();
        for cable in &self.cables {
            cable.apply(&mut builder, problems);
        }
        for cable in &self.failed {
            let failed = fabric
                .pair_named(&cable.value)
                .and_then(|(a, b)| builder.fail(&fabric.node(a).name, &fabric.node(b).name));
            if let Err(error) = failed {
                problems.add(cable_problem(cable, &error));
            }
        }
        let span = self.failed.last().map_or(self.span, |cable| cable.span);
        builder.build().map_err(|error| problems.add(Problem::at(span, error.to_string()))).ok()
    }

    fn spec(&self, rate: Option<At<Rate>>) -> LinkSpec {
        self.links.apply(&LinkSpec::default(), rate.map(|at| at.value))
    }

    fn shape(&self, shape: &str, counts: &[At<u32>]) -> Result<Fabric, FabricError> {
        let host = self.spec(self.host_rate.or(self.rate));
        let trunk = self.spec(self.fabric_rate.or(self.rate));
        let counts: Vec<u32> = counts.iter().map(|count| count.value).collect();
        let uplink = |hosts, uplinks| match self.oversubscription {
            None => Ok(trunk.clone()),
            Some(ratio) => Ok(trunk.clone().with_rate(build::oversubscribed_rate(
                host.rate,
                hosts,
                uplinks,
                ratio.value,
            )?)),
        };
        let rails_of = |counts: Rails| {
            let of_leaf = counts.servers.saturating_mul(counts.gpus) / counts.rails.max(1);
            let uplink = uplink(of_leaf, counts.spines)?;
            build::rails(&counts, RailLinks { host: &host, uplink: &uplink, scale_up: &self.scale_up_link })
        };
        let [tors, planes] = [self.tors, self.planes].map(|count| count.map_or(1, |at| at.value));
        let domain = "server";
        match (shape, counts.as_slice()) {
            ("fat-tree", &[k]) => build::fat_tree(k, &host, &trunk),
            ("spine-leaf", &[spines, leaves, hosts]) => {
                build::spine_leaf_with_tors(spines, leaves, hosts, tors, &host, &uplink(hosts, spines)?)
            }
            ("three-layer", &[pods, tors_per_pod, planes, spines_per_plane, hosts_per_tor]) => {
                let counts = ThreeLayer { pods, tors_per_pod, planes, spines_per_plane, hosts_per_tor };
                let uplink = uplink(hosts_per_tor, planes)?;
                build::three_layer(&counts, &host, &uplink, &uplink)
            }
            ("dumbbell", &[left, right]) => {
                let delay = self.bottleneck_delay.map_or(trunk.delay, |at| at.value);
                build::dumbbell(left, right, &host, &LinkSpec { delay, ..trunk })
            }
            ("rail-optimised", &[pods, servers, gpus, spines]) => {
                let rails = self.rails.map_or(gpus, |at| at.value);
                rails_of(Rails { pods, servers, gpus, rails, tors, planes, spines, domain })
            }
            ("rail-only", &[servers, gpus]) => {
                rails_of(Rails { pods: 1, servers, gpus, rails: gpus, tors, planes, spines: 0, domain })
            }
            ("dual-plane", &[leaves, servers, gpus, spines]) => {
                rails_of(Rails { pods: leaves, servers, gpus, rails: 1, tors, planes: 2, spines, domain })
            }
            ("rack-scale", &[racks, gpus, rails, spines]) => rails_of(Rails {
                pods: 1,
                servers: racks,
                gpus,
                rails,
                tors,
                planes: 1,
                spines,
                domain: "rack",
            }),
            ("ring", &[switches, hosts]) => build::ring(switches, hosts, &host, &trunk),
            (_, counts) => {
                let (switches, hosts) = (counts.first().copied(), counts.get(1).copied());
                build::mesh(switches.unwrap_or(0), hosts.unwrap_or(0), &host, &trunk)
            }
        }
    }

    /// Converts a builder's error into a problem at the key that caused it.
    fn blame(&self, counts: &[At<u32>], error: &FabricError) -> Problem {
        let all = || counts.iter().chain(&self.tors).chain(&self.rails).chain(&self.planes);
        let of_count = |given: u64| all().find(|count| u64::from(count.value) == given).map(|at| at.span);
        let rates = [self.rate, self.host_rate, self.fabric_rate, self.scale_up_rate];
        let span = match error {
            FabricError::OddPorts { k } => of_count(u64::from(*k)),
            FabricError::UnevenRails { rails, .. } => {
                self.rails.map(|at| at.span).or_else(|| of_count(u64::from(*rails)))
            }
            FabricError::UnevenTors { .. } => self.tors.map(|at| at.span),
            FabricError::TooFew { given, .. } => of_count(u64::from(*given)),
            FabricError::TooMany { .. } | FabricError::TooManyPorts { .. } => {
                all().max_by_key(|count| count.value).map(|count| count.span)
            }
            FabricError::Oversubscription(_) => self.oversubscription.map(|at| at.span),
            FabricError::Rate { rate, .. } => {
                let given = rates.into_iter().flatten().find(|at| at.value == *rate).map(|at| at.span);
                given.or(self.oversubscription.map(|at| at.span))
            }
            FabricError::Delay { .. } => self.links.delay.or(self.bottleneck_delay).map(|at| at.span),
            _ => self.links.span_of(error),
        };
        let problem = Problem::at(span.unwrap_or(self.span), error.to_string());
        match error {
            FabricError::TooMany { .. } if counts.len() > 1 => {
                problem.label("the largest count, which others multiply: lower it or them")
            }
            _ => problem,
        }
    }
}
