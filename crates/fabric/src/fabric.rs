//! [`Fabric`]: the finished graph.

use weft_units::{HostId, LinkId, NodeId, PortId};

use crate::nearest::nearest;
use crate::{FabricError, Limit, Link, Node, QueueSpec, SharedBuffer};

/// How a fabric was built, if it has not been changed since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// [`build::fat_tree`](crate::build::fat_tree).
    FatTree,
    /// [`build::spine_leaf`](crate::build::spine_leaf).
    SpineLeaf,
    /// [`build::three_layer`](crate::build::three_layer()).
    ThreeLayer,
    /// [`build::dumbbell`](crate::build::dumbbell).
    Dumbbell,
    /// [`build::ring`](crate::build::ring).
    Ring,
    /// [`build::mesh`](crate::build::mesh).
    Mesh,
    /// Read from a file, built node by node, or changed afterwards.
    Custom,
}

/// Hosts, switches and the cables between them; immutable once built.
///
/// Cable `i` is the links `2 i` (in the direction it was connected) and `2 i + 1` (back).
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<NodeId>,
    /// Start of each node's ports in `ports`; one more entry than nodes.
    pub(crate) first_port: Vec<u32>,
    pub(crate) ports: Vec<LinkId>,
    /// The nodes sorted by name.
    pub(crate) by_name: Vec<NodeId>,
    /// The buffer of every switch, if its queues share one.
    pub(crate) buffer: Option<SharedBuffer>,
    /// The limit at which hosts make their connections wait, if their interfaces do not drop.
    pub(crate) host_queue: Option<Limit>,
    /// The queues that it has replaced.
    pub(crate) host_ports: Vec<(LinkId, QueueSpec)>,
    pub(crate) notes: Vec<String>,
}

impl Fabric {
    /// The name of the fabric.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Information of its file that the fabric does not hold, or holds in an unexpected way: a sentence for each kind.
    /// Empty for a fabric that is not from a file.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// This fabric with one more of these [`notes`](Self::notes).
    pub fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// How it was built.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All nodes; the index is the [`NodeId`].
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All links, each one direction; the index is the [`LinkId`].
    #[inline]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// A link.
    #[inline]
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// The node of each host; the index is the [`HostId`].
    #[inline]
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// The outgoing links of a node; the index is the [`PortId`].
    #[inline]
    pub fn ports(&self, node: NodeId) -> &[LinkId] {
        let (from, to) = (self.first_port[node.index()], self.first_port[node.index() + 1]);
        &self.ports[from as usize..to as usize]
    }

    /// The outgoing link at a port; `None` if there is no such port.
    #[inline]
    pub fn link_at(&self, node: NodeId, port: PortId) -> Option<LinkId> {
        self.ports(node).get(port.index()).copied()
    }

    /// The node of a host.
    #[inline]
    pub fn host_node(&self, host: HostId) -> NodeId {
        self.hosts[host.index()]
    }

    /// The name of a host.
    pub fn host_name(&self, host: HostId) -> &str {
        &self.node(self.host_node(host)).name
    }

    /// The switch that a host is attached to, by its first port if there are several, other than that of its scale-up domain;
    /// `None` for a host without such a switch.
    pub fn edge_switch(&self, host: HostId) -> Option<NodeId> {
        let ports = self.ports(self.host_node(host)).iter();
        let is_edge = |node: &Node| !node.is_host() && !node.is_scale_up();
        ports.map(|&link| self.link(link).to).find(|&node| is_edge(self.node(node)))
    }

    /// The link from a host to the switch of its scale-up domain, if it belongs to one.
    pub fn scale_up_link(&self, host: HostId) -> Option<LinkId> {
        let links = self.ports(self.host_node(host)).iter().copied();
        links.into_iter().find(|&link| self.node(self.link(link).to).is_scale_up())
    }

    /// The links on which a host sends into the network: all but that into its scale-up domain, in order.
    pub fn network_links(&self, host: HostId) -> impl Iterator<Item = LinkId> + '_ {
        let links = self.ports(self.host_node(host)).iter().copied();
        links.filter(|&link| !self.node(self.link(link).to).is_scale_up())
    }

    /// The switch of a host's scale-up domain, if it belongs to one.
    pub fn scale_up_switch(&self, host: HostId) -> Option<NodeId> {
        self.scale_up_link(host).map(|link| self.link(link).to)
    }

    /// Whether two hosts belong to one scale-up domain.
    pub fn share_scale_up(&self, a: HostId, b: HostId) -> bool {
        let own = self.scale_up_switch(a);
        own.is_some() && own == self.scale_up_switch(b)
    }

    /// Whether hosts are joined by scale-up domains.
    pub fn has_scale_up(&self) -> bool {
        self.nodes.iter().any(Node::is_scale_up)
    }

    /// The switches, in order of their ids.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..).map(NodeId).zip(&self.nodes).filter(|(_, node)| !node.is_host()).map(|(id, _)| id)
    }

    /// Number of hosts.
    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }

    /// Number of switches.
    pub fn switch_count(&self) -> usize {
        self.nodes.len() - self.hosts.len()
    }

    /// Number of cables, half the number of links.
    pub fn cable_count(&self) -> usize {
        self.links.len() / 2
    }

    /// The node with this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        let found = self.by_name.binary_search_by(|&id| self.node(id).name.as_str().cmp(name));
        found.ok().map(|index| self.by_name[index])
    }

    /// The node with this name, or an error with the nearest valid name.
    pub fn find(&self, name: &str) -> Result<NodeId, FabricError> {
        self.node_named(name).ok_or_else(|| unknown_node(name, &self.nodes))
    }

    /// The host with this name.
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.node_named(name).and_then(|node| self.node(node).host)
    }

    /// The first link from `a` to `b`.
    pub fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.ports(a).iter().copied().find(|&link| self.link(link).to == b)
    }

    /// The links between the same nodes as `link` in the same direction, including itself.
    pub fn parallel(&self, link: LinkId) -> impl Iterator<Item = LinkId> + '_ {
        let Link { from, to, .. } = *self.link(link);
        self.ports(from).iter().copied().filter(move |&other| self.link(other).to == to)
    }

    /// The nodes of a text such as `e0-a1`. Names may contain a `-` if only one split yields two nodes.
    ///
    /// # Errors
    /// [`FabricError::UnknownNode`] if one end is not a node, [`FabricError::BadPair`] if no split or several make sense.
    pub fn pair_named(&self, text: &str) -> Result<(NodeId, NodeId), FabricError> {
        split_pair(text, |name| self.node_named(name), |other| names(&self.nodes, &self.links, other))
    }

    /// The link of a text such as `e0-a1`, in the direction of the text.
    ///
    /// # Errors
    /// Those of [`Fabric::pair_named`], and [`FabricError::NoCable`].
    pub fn link_named(&self, text: &str) -> Result<LinkId, FabricError> {
        let (a, b) = self.pair_named(text)?;
        self.link_between(a, b).ok_or_else(|| FabricError::NoCable {
            a: self.node(a).name.clone(),
            b: self.node(b).name.clone(),
        })
    }

    /// The label of a link, such as `e0->a1`.
    pub fn link_label(&self, id: LinkId) -> String {
        let link = self.link(id);
        format!("{}->{}", self.node(link.from).name, self.node(link.to).name)
    }
}

/// The error for an unknown node name.
pub(crate) fn unknown_node(name: &str, nodes: &[Node]) -> FabricError {
    let nearest = nearest(name, nodes.iter().map(|node| node.name.as_str())).map(str::to_owned);
    FabricError::UnknownNode { name: name.to_owned(), nearest }
}

/// The names of the nodes that have a link to `other`; of all nodes if it is `None`.
pub(crate) fn names<'a>(nodes: &'a [Node], links: &[Link], other: Option<NodeId>) -> Vec<&'a str> {
    match other {
        None => nodes.iter().map(|node| node.name.as_str()).collect(),
        Some(other) => {
            let linked = links.iter().filter(|link| link.from == other);
            linked.map(|link| nodes[link.to.index()].name.as_str()).collect()
        }
    }
}

/// The results of `find` for the two names of a text with a `-` between them; `names` are all valid names, or those
/// that are valid beside a certain other one.
pub(crate) fn split_pair<'a, T>(
    text: &str,
    find: impl Fn(&str) -> Option<T>,
    names: impl Fn(Option<T>) -> Vec<&'a str>,
) -> Result<(T, T), FabricError> {
    let splits = || text.match_indices('-').map(|(at, _)| (text[..at].trim(), text[at + 1..].trim()));
    let mut readings = splits().filter_map(|(a, b)| Some((find(a)?, find(b)?)));
    match (readings.next(), readings.next()) {
        (Some(pair), None) => return Ok(pair),
        (None, _) => {
            if let Some((name, other)) = wrong_end(splits, |name| find(name).is_some()) {
                let beside = find(other).and_then(|other| nearest(name, names(Some(other))));
                let nearest = beside.or_else(|| nearest(name, names(None))).map(str::to_owned);
                return Err(FabricError::UnknownNode { name: name.to_owned(), nearest });
            }
        }
        _ => {}
    }
    let wrong = text.split('-').map(str::trim).find(|part| find(part).is_none());
    let nearest = wrong.and_then(|part| nearest(part, names(None))).map(str::to_owned);
    Err(FabricError::BadPair { text: text.to_owned(), nearest })
}

/// The end of a link that is not a node, and the other end, if only one reading of the text makes sense: the only one,
/// or the only one with a node at the other end.
fn wrong_end<'t, S: Iterator<Item = (&'t str, &'t str)>>(
    splits: impl Fn() -> S,
    is_node: impl Fn(&str) -> bool,
) -> Option<(&'t str, &'t str)> {
    let complete = || splits().filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let mut halves = complete().filter(|(a, b)| is_node(a) || is_node(b));
    let (a, b) = match (halves.next(), halves.next()) {
        (Some(half), None) => half,
        (None, _) if complete().count() == 1 => complete().next()?,
        _ => return None,
    };
    Some(if is_node(a) { (b, a) } else { (a, b) })
}
