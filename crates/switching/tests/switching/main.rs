//! Schemes on small fabrics.

mod balancing;
mod common;
mod explore;
mod hosts;
mod paths;
mod registry;
mod spanning_tree;
mod tag_forward;
