//! Path sets: the simple paths between two nodes, in an order for subflows that should not share links.
//!
//! The first path is the shortest one. The others follow by the edges shared with it (smoc, Algorithm 1: all
//! simple paths, sorted by the edges shared with the primary path, then by length), or, under
//! [`Order::Disjoint`], by those shared with every path before them. The number of simple paths grows
//! exponentially with the size of a graph, so they are not listed and sorted: a [`PathSet`] is an iterator
//! that finds each path on demand.
//!
//! # The order
//! A graph is undirected and may have parallel edges. A path is its nodes and its edges; the order of
//! two paths is decided by the first of these in which they differ:
//!
//! 1. sharing: under [`Order::Paper`] the number of edges shared with the first path, under
//!    [`Order::Disjoint`] the sum over its edges of the number of earlier paths with that edge;
//! 2. the number of edges;
//! 3. the sequence of nodes, by number;
//! 4. the sequence of edges, by number.
//!
//! The first path is the least by 2, 3 and 4. No two paths are equal, so the order is total.
//!
//! # How the next path is found
//! After Lawler (Management Science 18, 1972): the remaining paths are divided into disjoint sets; a set has
//! the paths that follow a returned path up to some node and leave it by an edge not yet taken there
//! ([`branch`]). The cost of a path is one integer, sharing in the upper half and edges in the lower
//! ([`cost`]), and a sum over its edges; so the cheapest ways to the destination form a tree, and the way
//! through the tree is a lower bound for every path of a set, often the path itself. The rest of the graph is
//! searched only if the tree leads back into the common beginning of the set ([`search`]) and the set's bound
//! is the least of all.
//!
//! Under [`Order::Disjoint`] costs rise with every returned path. The sets stay the same; their bounds are
//! recomputed.

mod branch;
mod cost;
mod graph;
mod heap;
mod marks;
mod order;
mod path;
mod places;
mod search;
mod set;
mod tree;

pub use graph::Graph;
pub use order::Order;
pub use path::Path;
pub use places::Places;
pub use set::PathSet;
