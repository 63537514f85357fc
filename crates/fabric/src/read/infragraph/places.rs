//! [`Places`]: the instances of a file as hosts and switches, and the edges between them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::notes::Notes;
use super::devices::{Budget, Layouts};
use super::document::{Edge, End, Infrastructure, Instance, Kind, unknown};
use super::domains::{Domain, Domains};
use super::endpoint::{Piece, Spot, index_count, indices};
use super::links::Link;
use super::servers::owners;
use super::short::Short;
use super::table::{Fault, Word};
use crate::builder::check_size;
use crate::{Role, visible};

/// What each copy of a device becomes.
enum Form<'y> {
    /// A host for each `xpu`.
    Gpus {
        /// The number of each host in the device.
        xpus: Vec<u32>,
        /// The host, by its place in `xpus`, of each interface.
        owners: BTreeMap<u32, u32>,
        domains: Vec<Domain<'y>>,
    },
    /// One node.
    Whole(Role),
}

/// The nodes of an instance.
struct Site {
    /// Its device.
    device: usize,
    /// The number of its first node.
    first: u32,
    /// Nodes of each copy.
    each: u32,
}

/// An edge between two nodes.
pub(super) struct Wire<'y> {
    pub nodes: [u32; 2],
    /// Whether each end is an `xpu` itself, not one of its interfaces.
    pub is_xpu: [bool; 2],
    pub link: &'y Link<'y>,
    pub edge: &'y Edge<'y>,
}

/// A node.
pub(super) struct Node {
    pub name: String,
    pub role: Role,
    /// Where its instance begins in the file.
    pub byte: usize,
    /// Its instance, for messages.
    pub element: String,
}

/// The domains of one copy of an instance.
pub(super) struct Inside<'p, 'y> {
    /// The name of the switch.
    pub name: String,
    pub domain: &'p Domain<'y>,
    /// The node of each member.
    pub nodes: Vec<u32>,
    pub byte: usize,
}

/// The instances of a file.
pub(super) struct Places<'y> {
    file: &'y Infrastructure<'y>,
    layouts: &'y Layouts<'y>,
    forms: BTreeMap<usize, Form<'y>>,
    sites: Vec<Site>,
    pub wires: Vec<Wire<'y>>,
    pub short: Vec<Short<'y>>,
}

impl<'y> Places<'y> {
    pub fn new(
        file: &'y Infrastructure<'y>,
        layouts: &'y Layouts<'y>,
        budget: &mut Budget,
        notes: &mut Notes,
        line_of: impl Fn(usize) -> usize,
    ) -> Result<Self, Fault> {
        let mut devices = Vec::new();
        let mut kinds: BTreeMap<usize, Vec<Kind>> = BTreeMap::new();
        for instance in &file.instances {
            let fault = |why| Fault::said(instance.device.byte, &called(instance), why);
            let device = layouts.find(instance.device.text).map_err(fault)?;
            devices.push(device);
            if let std::collections::btree_map::Entry::Vacant(entry) = kinds.entry(device) {
                let size = layouts.size(device) as u64;
                budget.take(size).map_err(|why| Fault::new(instance.byte, &called(instance), why))?;
                entry.insert(layouts.kinds(device));
            }
        }
        let mut short = Vec::new();
        let mut joined: Vec<(Spot, Spot, &'y Edge<'y>)> = Vec::new();
        for edge in &file.edges {
            let mut end = |end: &End<'y>| spots(file, &devices, layouts, end, &edge.element, budget);
            let [a, b] = [end(&edge.ends[0])?, end(&edge.ends[1])?];
            let is_host = |spot: &Spot| {
                kinds[&devices[spot.0]].iter().any(|kind| matches!(kind, Kind::Xpu | Kind::Nic))
            };
            if let Some(found) = Short::of(edge, &a, &b) {
                if found.all.get(found.joined).is_some_and(is_host) {
                    notes.add_line("one2one", line_of(edge.byte), || {
                        let (all, joined) = (found.all.len(), found.joined);
                        format!("{} joins {joined} of {all} interfaces of hosts, one to one", edge.element)
                    });
                }
                short.push(found);
            }
            joined.extend(layouts.pairs(edge, &a, &b, budget)?.into_iter().map(|(a, b)| (a, b, edge)));
        }
        let mut interfaces: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for (instance, _, number) in joined.iter().flat_map(|(a, b, _)| [*a, *b]) {
            interfaces.entry(devices[instance]).or_default().insert(number);
        }
        let (sites, wires) = (Vec::new(), Vec::new());
        let mut places = Self { file, layouts, forms: BTreeMap::new(), sites, wires, short };
        for (instance, device) in file.instances.iter().zip(&devices) {
            places.add(instance, *device, &kinds[device], interfaces.get(device), budget)?;
        }
        let mut seen = BTreeSet::new();
        for (a, b, edge) in joined {
            if a != b && seen.insert((a.min(b), a.max(b))) {
                let is_xpu = [a, b]
                    .map(|(instance, _, number)| kinds[&devices[instance]][number as usize] == Kind::Xpu);
                let (Some(from), Some(to)) = (places.node(a), places.node(b)) else { continue };
                let nodes = [from, to];
                places.wires.push(Wire { nodes, is_xpu, link: &file.links[edge.link], edge });
            }
        }
        Ok(places)
    }

    /// Adds the nodes of an instance.
    fn add(
        &mut self,
        instance: &Instance<'y>,
        device: usize,
        kinds: &[Kind],
        interfaces: Option<&BTreeSet<u32>>,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        if !self.forms.contains_key(&device) {
            let form = self.form(instance, device, kinds, interfaces, budget)?;
            self.forms.insert(device, form);
        }
        let each = match &self.forms[&device] {
            Form::Gpus { xpus, .. } => xpus.len() as u32,
            Form::Whole(_) => 1,
        };
        let first = self.node_count();
        let total = u64::from(first) + u64::from(each) * u64::from(instance.count);
        check_size(total, 0).map_err(|why| Fault::new(instance.byte, &called(instance), why))?;
        self.sites.push(Site { device, first, each });
        Ok(())
    }

    /// What each copy of a device becomes.
    fn form(
        &self,
        instance: &Instance<'y>,
        device: usize,
        kinds: &[Kind],
        interfaces: Option<&BTreeSet<u32>>,
        budget: &mut Budget,
    ) -> Result<Form<'y>, Fault> {
        let is = |wanted: Kind| move |kind: &Kind| *kind == wanted;
        if !kinds.iter().any(is(Kind::Xpu)) {
            let has_nic = kinds.iter().any(is(Kind::Nic));
            return Ok(Form::Whole(if has_nic { Role::Host } else { Role::Switch }));
        }
        let element = format!("device `{}`", visible(self.layouts.name(device)));
        let fault = |why: String| Fault::said(instance.byte, &element, why);
        let path = |number: u32| self.layouts.path(device, number);
        let edges = self.layouts.edges(device, budget)?;
        let domains = Domains::of(kinds, &edges).map_err(|[a, b]| {
            fault(format!(
                "its xpus have links to each other, but `{}` has none to `{}`: an xpu forwards nothing for others, so \
                 that each needs a link to each, or to a switch",
                path(a),
                path(b)
            ))
        })?;
        let xpus: Vec<u32> =
            (0..).zip(kinds).filter(|(_, kind)| **kind == Kind::Xpu).map(|(number, _)| number).collect();
        let outside: Vec<_> = edges.iter().filter(|edge| !domains.has(edge)).copied().collect();
        let used = interfaces.cloned().unwrap_or_default();
        let owned =
            owners(kinds, &outside, &used, budget).map_err(|why| Fault::new(instance.byte, &element, why))?;
        if let Some(alone) = used.iter().find(|interface| !owned.contains_key(interface)) {
            let why = "has an edge of the infrastructure, but no edges of the device lead from it to an xpu";
            return Err(fault(format!("`{}` {why}: add one, such as from an xpu to its nic", path(*alone))));
        }
        let with: BTreeSet<u32> = owned.values().copied().collect();
        if let Some(without) = xpus.iter().find(|xpu| !with.is_empty() && !with.contains(xpu)) {
            return Err(fault(format!(
                "{} with edges of the infrastructure for {} xpus: `{}` has none, and each needs one of its own",
                weft_units::plural(used.len() as u64, "component"),
                xpus.len(),
                path(*without)
            )));
        }
        let place = |xpu: u32| xpus.partition_point(|other| *other < xpu) as u32;
        let owners = owned.into_iter().map(|(interface, xpu)| (interface, place(xpu))).collect();
        Ok(Form::Gpus { owners, domains: domains.domains, xpus })
    }

    /// The nodes so far.
    pub fn node_count(&self) -> u32 {
        let last = self.sites.last().zip(self.file.instances.get(self.sites.len().wrapping_sub(1)));
        last.map_or(0, |(site, instance)| site.first + site.each * instance.count)
    }

    /// The node of a component; none if no edge of the infrastructure makes it an interface.
    pub fn node(&self, (instance, copy, number): Spot) -> Option<u32> {
        let site = &self.sites[instance];
        let within = match &self.forms[&site.device] {
            Form::Gpus { owners, .. } => *owners.get(&number)?,
            Form::Whole(_) => 0,
        };
        Some(site.first + copy * site.each + within)
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        self.copies().flat_map(move |(instance, site, copy)| {
            let node = |name, role| Node { name, role, byte: instance.byte, element: called(instance) };
            let whole = format!("{}.{copy}", instance.name);
            match &self.forms[&site.device] {
                Form::Whole(role) => vec![node(whole, *role)],
                Form::Gpus { xpus, .. } => xpus
                    .iter()
                    .map(|xpu| node(format!("{whole}.{}", self.layouts.path(site.device, *xpu)), Role::Host))
                    .collect(),
            }
        })
    }

    /// The domains within the copies of instances.
    pub fn domains(&self) -> impl Iterator<Item = Inside<'_, 'y>> {
        self.copies().flat_map(move |(instance, site, copy)| {
            let (xpus, domains) = match &self.forms[&site.device] {
                Form::Gpus { xpus, domains, .. } => (&xpus[..], &domains[..]),
                Form::Whole(_) => (&[][..], &[][..]),
            };
            domains.iter().map(move |domain| {
                let Domain { switch, members, link } = domain;
                let name =
                    switch.map_or_else(|| link.name.to_owned(), |at| self.layouts.path(site.device, at));
                let place = |xpu: &u32| xpus.partition_point(|other| other < xpu) as u32;
                let first = site.first + copy * site.each;
                Inside {
                    name: format!("{}.{copy}.{name}", instance.name),
                    domain,
                    nodes: members.keys().map(|xpu| first + place(xpu)).collect(),
                    byte: instance.byte,
                }
            })
        })
    }

    fn copies(&self) -> impl Iterator<Item = (&'y Instance<'y>, &Site, u32)> {
        let each = self.file.instances.iter().zip(&self.sites);
        each.flat_map(|(instance, site)| (0..instance.count).map(move |copy| (instance, site, copy)))
    }
}

/// An instance in messages.
fn called(instance: &Instance<'_>) -> String {
    format!("instance `{}`", visible(instance.name))
}

/// The components that an end of an edge selects.
fn spots<'y>(
    file: &'y Infrastructure<'y>,
    devices: &[usize],
    layouts: &Layouts<'y>,
    end: &End<'y>,
    element: &str,
    budget: &mut Budget,
) -> Result<Vec<Spot>, Fault> {
    let within: Word<'y> = end.within.unwrap_or(end.component);
    let fault = |why| Fault::said(within.byte, element, why);
    let piece = Piece::read(within.text).map_err(fault)?;
    let Some(at) = file.instances.iter().position(|instance| instance.name == piece.name) else {
        return Err(fault(unknown(
            "instance",
            piece.name,
            file.instances.iter().map(|instance| instance.name),
        )));
    };
    let copies = piece.range(file.instances[at].count).map_err(fault)?;
    let numbers = layouts.select(devices[at], end.component, element, budget)?;
    let count = index_count(copies).saturating_mul(numbers.len() as u64);
    budget.take(count).map_err(|why| Fault::new(within.byte, element, why))?;
    Ok(indices(copies).flat_map(|copy| numbers.iter().map(move |number| (at, copy, *number))).collect())
}
