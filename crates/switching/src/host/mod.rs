//! Host schemes: a host chooses the paths of its packets, by the entropy that hashing switches read.
//!
//! One file per scheme: [`flowbender`] and [`plb`], which change the path of a congested flow; [`clove`], [`drb`],
//! [`hermes`] and [`presto`], which name the path of each packet among the [`distinct_paths`]. [`selected`] lists them.

mod cell_order;
pub mod clove;
pub mod distinct_paths;
pub mod drb;
mod flow_rate;
pub mod flowbender;
pub mod hermes;
pub mod over;
pub mod path_selector;
mod path_state;
mod path_states;
mod path_weights;
pub mod plb;
pub mod presto;
mod probes;
mod round_trips;
mod seen_marks;
pub mod selected;
