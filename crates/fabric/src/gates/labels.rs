//! The position of each switch in a fat-tree, by order and names or by cables.

use weft_units::NodeId;

use super::fat_tree::{FatTree, Pod};
use crate::Fabric;

/// The switches of each layer, in natural order.
pub(super) struct Layers {
    pub edges: Vec<NodeId>,
    pub aggregations: Vec<NodeId>,
    pub cores: Vec<NodeId>,
}

impl Layers {
    /// The layers of a fat-tree of `k`: by tiers if their counts are right; else the switches with the fewest
    /// cables to switches are edges, and of the others those with the most cables to edges are aggregations.
    pub fn find(fabric: &Fabric, k: usize) -> Self {
        let (each, cores) = (k * k / 2, k * k / 4);
        let of_tier = |tier| fabric.switches().filter(|&id| fabric.node(id).tier == tier).collect::<Vec<_>>();
        let (mut one, mut two, mut three) = (of_tier(1), of_tier(2), of_tier(3));
        if (one.len(), two.len(), three.len()) != (each, each, cores) {
            let mut all: Vec<NodeId> = fabric.switches().collect();
            all.sort_by_key(|&id| neighbours(fabric, id).count());
            let mut others = all.split_off(each);
            one = all;
            let mut is_edge = vec![false; fabric.nodes().len()];
            one.iter().for_each(|edge| is_edge[edge.index()] = true);
            let to_edges = |id: NodeId| neighbours(fabric, id).filter(|peer| is_edge[peer.index()]).count();
            others.sort_by_key(|&id| std::cmp::Reverse(to_edges(id)));
            three = others.split_off(each);
            two = others;
        }
        for layer in [&mut one, &mut two, &mut three] {
            layer.sort_by_cached_key(|&id| (fabric.node(id).pod, natural(&fabric.node(id).name), id));
        }
        Self { edges: one, aggregations: two, cores: three }
    }

    /// The fat-tree by order of the switches: k/2 edges and aggregations per pod, k/2 cores per group.
    pub fn by_order(&self, k: u32) -> FatTree {
        let half = k as usize / 2;
        let pods = self.edges.chunks(half).zip(self.aggregations.chunks(half));
        let pods = pods
            .map(|(edges, aggregations)| Pod { edges: edges.to_vec(), aggregations: aggregations.to_vec() });
        FatTree::new(k, pods.collect(), self.cores.chunks(half).map(<[_]>::to_vec).collect())
    }

    /// The fat-tree by cables: cores that share aggregations form a group, aggregations that share edges a pod,
    /// and each edge is in the pod where most of its cables lead. Ties are broken by order.
    pub fn by_cables(&self, fabric: &Fabric, k: u32) -> FatTree {
        let half = k as usize / 2;
        let count = fabric.nodes().len();
        let groups = alike(fabric, &self.cores, &self.aggregations, half);
        let group_of = places(&groups, count);
        let mut pods = alike(fabric, &self.aggregations, &self.edges, half);
        for pod in &mut pods {
            *pod = one_to_each(pod, half, |id, group| {
                neighbours(fabric, id).filter(|peer| group_of[peer.index()] == Some(group)).count()
            });
        }
        let pod_of = places(&pods, count);
        let mut votes: Vec<(usize, NodeId, usize)> = Vec::new();
        for &edge in &self.edges {
            let mut counts = vec![0; pods.len()];
            neighbours(fabric, edge).filter_map(|peer| pod_of[peer.index()]).for_each(|pod| counts[pod] += 1);
            votes.extend(
                counts.into_iter().enumerate().filter(|(_, n)| *n > 0).map(|(pod, n)| (n, edge, pod)),
            );
        }
        votes.sort_by_key(|&(count, _, _)| std::cmp::Reverse(count));
        let mut chosen = vec![None; count];
        let mut members = vec![0; pods.len()];
        for (_, edge, pod) in votes {
            if chosen[edge.index()].is_none() && members[pod] < half {
                chosen[edge.index()] = Some(pod);
                members[pod] += 1;
            }
        }
        let mut edges = vec![Vec::new(); pods.len()];
        let mut left = Vec::new();
        for &edge in &self.edges {
            match chosen[edge.index()] {
                Some(pod) => edges[pod].push(edge),
                None => left.push(edge),
            }
        }
        let mut left = left.into_iter();
        for pod in &mut edges {
            let free = half - pod.len();
            pod.extend(left.by_ref().take(free));
        }
        let rank = places(&self.edges.iter().map(|&edge| vec![edge]).collect::<Vec<_>>(), count);
        let mut pods: Vec<Pod> =
            edges.into_iter().zip(pods).map(|(edges, aggregations)| Pod { edges, aggregations }).collect();
        pods.sort_by_key(|pod| pod.edges.iter().map(|edge| rank[edge.index()]).min());
        FatTree::new(k, pods, groups)
    }
}

/// The switches behind the cables of a switch, one per cable.
fn neighbours(fabric: &Fabric, switch: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    fabric.ports(switch).iter().map(|&link| fabric.link(link).to).filter(|&node| !fabric.node(node).is_host())
}

/// The set of each node.
fn places(sets: &[Vec<NodeId>], nodes: usize) -> Vec<Option<usize>> {
    let mut place = vec![None; nodes];
    for (index, set) in sets.iter().enumerate() {
        set.iter().for_each(|member| place[member.index()] = Some(index));
    }
    place
}

/// `members` in sets of `size`: the first remaining one, and those that share most neighbours among `common` with
/// it, in order.
fn alike(fabric: &Fabric, members: &[NodeId], common: &[NodeId], size: usize) -> Vec<Vec<NodeId>> {
    let mut counts = vec![false; fabric.nodes().len()];
    common.iter().for_each(|node| counts[node.index()] = true);
    let mut left = members.to_vec();
    let mut sets = Vec::new();
    while !left.is_empty() {
        let mut near = vec![false; fabric.nodes().len()];
        neighbours(fabric, left[0])
            .filter(|node| counts[node.index()])
            .for_each(|node| near[node.index()] = true);
        let shared = |id: NodeId| neighbours(fabric, id).filter(|node| near[node.index()]).count();
        let mut order: Vec<usize> = (1..left.len()).collect();
        order.sort_by_cached_key(|&index| std::cmp::Reverse(shared(left[index])));
        order.truncate(size - 1);
        order.push(0);
        order.sort_unstable();
        sets.push(order.iter().map(|&index| left[index]).collect());
        for index in order.into_iter().rev() {
            left.remove(index);
        }
    }
    sets
}

/// `members` in the order of their assigned places: pairs are assigned by decreasing weight.
fn one_to_each(members: &[NodeId], count: usize, weight: impl Fn(NodeId, usize) -> usize) -> Vec<NodeId> {
    let mut pairs: Vec<(usize, usize, usize)> = (0..members.len())
        .flat_map(|member| (0..count).map(move |place| (member, place)))
        .map(|(member, place)| (weight(members[member], place), member, place))
        .collect();
    pairs.sort_by_key(|&(weight, _, _)| std::cmp::Reverse(weight));
    let mut at = vec![None; count];
    let mut placed = vec![false; members.len()];
    for (_, member, place) in pairs {
        if at[place].is_none() && !placed[member] {
            at[place] = Some(members[member]);
            placed[member] = true;
        }
    }
    at.into_iter().flatten().collect()
}

/// A name in parts that sort in natural order: `c10` after `c9`.
fn natural(name: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digit = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(part.parse().map_or_else(|_| Part::Text(part.to_owned()), Part::Number));
        rest = behind;
    }
    parts
}

/// A number, or the text between numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = ["c10", "c9", "pod2-a1", "pod10-a0", "c", "99999999999999999999999", "pod2-a10"];
        names.sort_by_cached_key(|name| natural(name));
        let expected = ["99999999999999999999999", "c", "c9", "c10", "pod2-a1", "pod2-a10", "pod10-a0"];
        assert_eq!(names, expected);
    }
}
