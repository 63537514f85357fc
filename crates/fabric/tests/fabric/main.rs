//! Fabrics from outside: files, next hops, path sets, gates.

mod common;
mod files;
mod foreign;
mod gates;
mod infragraph;
mod next_hops;
mod path_sets;
mod simulators;
mod smoc;
