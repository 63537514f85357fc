//! From the nodes and edges of a file of any format to a [`Fabric`](crate::Fabric): adds missing roles and
//! tiers, joins the two directions of a cable in a directed graph.

use std::collections::{BTreeMap, VecDeque};

use weft_units::NodeId;

use super::attributes::{NodeAttributes, Tier};
use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::{FabricBuilder, FabricError, LinkSpec, Role};

/// The position of an element: its byte in the text and its name in messages.
pub(super) struct Place {
    pub byte: usize,
    pub element: String,
}

/// A node of a file.
pub(super) struct FileNode {
    pub name: String,
    pub attributes: NodeAttributes,
    pub place: Place,
}

/// An edge of a file.
pub(super) struct FileEdge {
    pub from: String,
    pub to: String,
    pub forth: LinkSpec,
    /// `None` for an edge of a directed graph, whose reverse is another edge.
    pub back: Option<LinkSpec>,
    pub up: bool,
    pub place: Place,
}

/// The content of a file.
pub(super) struct FileGraph<'a> {
    pub text: &'a str,
    pub name: String,
    pub nodes: Vec<FileNode>,
    pub edges: Vec<FileEdge>,
    pub notes: Notes,
}

/// A cable between two nodes of the file, by their indexes.
struct Cable {
    a: usize,
    b: usize,
    forth: LinkSpec,
    back: LinkSpec,
    up: bool,
    edge: usize,
}

impl FileGraph<'_> {
    fn error(&self, why: impl Into<ErrorKind>, place: &Place) -> ReadError {
        ReadError::from(why.into()).at(self.text, place.byte).of(&*place.element)
    }

    /// The fabric, ready to be built.
    pub fn into_builder(self) -> Result<FabricBuilder, ReadError> {
        let mut index_of = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if index_of.insert(node.name.as_str(), index).is_some() {
                let why = FabricError::DuplicateName { name: node.name.clone() };
                return Err(self.error(why, &node.place));
            }
        }
        let cables = self.cables(&index_of)?;
        let roles = self.roles(&cables);
        let tiers = self.tiers(&roles, &cables)?;
        let mut builder = FabricBuilder::new(self.name.clone());
        for ((node, role), tier) in self.nodes.iter().zip(roles).zip(tiers) {
            let pod = node.attributes.pod;
            let added = match role {
                Role::Host => builder.add_host(node.name.clone(), tier, pod),
                Role::Switch => builder.add_switch(node.name.clone(), tier, pod),
            };
            added.map_err(|why| self.error(why, &node.place))?;
        }
        for cable in cables {
            let (a, b) = (NodeId(cable.a as u32), NodeId(cable.b as u32));
            let link = builder
                .connect_asymmetric(a, b, &cable.forth, &cable.back)
                .map_err(|why| self.error(why, &self.edges[cable.edge].place))?;
            builder.set_up(link, cable.up);
        }
        Ok(builder)
    }

    /// The cables, in order of first mention.
    fn cables(&self, index_of: &BTreeMap<&str, usize>) -> Result<Vec<Cable>, ReadError> {
        let find = |name: &str, place: &Place| match index_of.get(name) {
            Some(&index) => Ok(index),
            None => {
                let nearest = crate::nearest::nearest(name, index_of.keys().copied()).map(str::to_owned);
                Err(self.error(FabricError::UnknownNode { name: name.to_owned(), nearest }, place))
            }
        };
        let mut cables: Vec<Cable> = Vec::with_capacity(self.edges.len());
        // Cables of directed edges that still lack their reverse.
        let mut one_way: BTreeMap<(usize, usize), VecDeque<usize>> = BTreeMap::new();
        for (index, edge) in self.edges.iter().enumerate() {
            let (a, b) = (find(&edge.from, &edge.place)?, find(&edge.to, &edge.place)?);
            if edge.back.is_none() {
                if let Some(cable) = one_way.get_mut(&(b, a)).and_then(VecDeque::pop_front) {
                    cables[cable].back = edge.forth.clone();
                    cables[cable].up &= edge.up;
                    continue;
                }
                one_way.entry((a, b)).or_default().push_back(cables.len());
            }
            let back = edge.back.as_ref().unwrap_or(&edge.forth).clone();
            cables.push(Cable { a, b, forth: edge.forth.clone(), back, up: edge.up, edge: index });
        }
        match one_way.values().flatten().min() {
            Some(&cable) if cables[cable].a != cables[cable].b => {
                let edge = &self.edges[cables[cable].edge];
                let why = ErrorKind::OneWay { from: edge.from.clone(), to: edge.to.clone() };
                Err(self.error(why, &edge.place))
            }
            _ => Ok(cables),
        }
    }

    /// The role of each node: as given, else by its tier; if a file gives neither for any node, nodes with
    /// one cable are hosts.
    fn roles(&self, cables: &[Cable]) -> Vec<Role> {
        let host = |is: bool| if is { Role::Host } else { Role::Switch };
        if self.nodes.iter().any(|node| node.attributes.role.is_some() || node.attributes.tier.is_some()) {
            let by_tier = |tier| host(tier == Some(Tier(0)));
            let roles = self.nodes.iter().map(|node| node.attributes);
            return roles.map(|given| given.role.unwrap_or_else(|| by_tier(given.tier))).collect();
        }
        let mut degrees = vec![0_usize; self.nodes.len()];
        for cable in cables {
            degrees[cable.a] += 1;
            degrees[cable.b] += 1;
        }
        degrees.into_iter().map(|degree| host(degree == 1)).collect()
    }

    /// The tier of each node: as given, else the number of links to the nearest host, or 1 for a switch that
    /// reaches none. A switch of tier 0 joins the hosts of a scale-up domain.
    fn tiers(&self, roles: &[Role], cables: &[Cable]) -> Result<Vec<u8>, ReadError> {
        let mut around = vec![Vec::new(); self.nodes.len()];
        for cable in cables {
            around[cable.a].push(cable.b);
            around[cable.b].push(cable.a);
        }
        let mut found: Vec<Option<u8>> =
            roles.iter().map(|role| (*role == Role::Host).then_some(0)).collect();
        let mut queue: VecDeque<usize> = (0..found.len()).filter(|&node| found[node].is_some()).collect();
        while let Some(node) = queue.pop_front() {
            let next = found[node].map(|tier| tier.saturating_add(1));
            for &other in &around[node] {
                if found[other].is_none() {
                    found[other] = next;
                    queue.push_back(other);
                }
            }
        }
        let tier =
            |((node, role), found): ((&FileNode, &Role), Option<u8>)| match (node.attributes.tier, role) {
                (Some(Tier(1..)), Role::Host) => {
                    let why =
                        "a host cannot have this tier: hosts have tier 0, switches 1 and above".to_owned();
                    Err(self.error(ErrorKind::Value { key: "tier", why }, &node.place))
                }
                (Some(Tier(given)), _) => Ok(given),
                (None, _) => Ok(found.unwrap_or(1)),
            };
        self.nodes.iter().zip(roles).zip(found).map(tier).collect()
    }
}
