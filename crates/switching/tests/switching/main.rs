//! Schemes on small fabrics.

mod common;
mod explore;
mod paths;
mod spanning_tree;
mod tag_forward;
