//! Schemes on small fabrics.

mod balancing;
mod common;
mod explore;
mod flowcut;
mod hosts;
mod hula;
mod loop_guard;
mod paths;
mod reachability;
mod registry;
mod spanning_tree;
mod tag_forward;
mod waits;
