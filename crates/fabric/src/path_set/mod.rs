//! Path sets: the simple paths between two nodes, in an order that suits subflows which must not meet.
//!
//! The first path is the shortest one. The others follow by what they share with it (smoc, Algorithm 1:
//! all simple paths, sorted by the edges shared with the primary path, then by length), or, under
//! [`Order::Disjoint`], by what they share with every path before them. The number of simple paths grows
//! exponentially with the size of a graph, so they are not listed and sorted: a [`PathSet`] is an
//! iterator that finds each next path when it is asked for.
//!
//! # The order
//! A graph is undirected and may have parallel edges. A path is its nodes and its edges; the order of
//! two paths is decided by the first of these in which they differ:
//!
//! 1. what they share: under [`Order::Paper`] how many edges with the first path, under
//!    [`Order::Disjoint`] the sum over their edges of how many of the paths before have that edge;
//! 2. the number of edges;
//! 3. the sequence of nodes, by number;
//! 4. the sequence of edges, by number.
//!
//! The first path is the least by 2, 3 and 4. No two paths are equal, so the order is total.
//!
//! # How the next path is found
//! After Lawler (Management Science 18, 1972): the paths not yet given are divided into disjoint sets,
//! each the paths that begin with the same part of a path already given and leave it by an edge not yet
//! taken there ([`branch`]). What a path costs is one integer, what it shares above and its edges below
//! ([`cost`]), and a sum over its edges; so the cheapest way to the destination is a tree, and the way
//! through the tree is a lower bound of every path of a set, which is often the path itself. Only where
//! the tree leads back into the part that the set begins with is the rest of the graph searched
//! ([`search`]), and only if the set's bound is the least of all.
//!
//! Under [`Order::Disjoint`] costs rise with every path given. The sets stay what they were; their
//! bounds are taken anew.

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
