//! The Linux switch: the data plane of `bpf/` in the kernel, and what is done for it outside.
//!
//! [`Plane`] loads a mode's program over pinned maps and tells it what it only looks at (ports, routes,
//! settings); its [`tables::Tables`] sweep and mend what the program writes; [`tags`] is what Tag-and-Forward is
//! told, [`bodies`] how it is said on the control socket. [`layout`] has the maps' keys and values as they are in
//! memory, under the names of the headers in `bpf/`; [`counters`] what became of frames. What a switch decides is
//! written down in `weft-switching`; the tests here hold the program and the tables against it.

pub mod attach;
pub mod bodies;
mod btf;
#[cfg(test)]
mod clang;
pub mod clock;
pub mod config;
pub mod counters;
pub mod ctl;
pub mod daemon;
mod error;
mod filters;
mod held;
pub mod layout;
pub mod loading;
mod mirror;
mod mode;
pub mod names;
pub mod pins;
mod plane;
pub mod recovery;
mod routes;
mod sys;
pub mod tables;
pub mod tags;
pub mod walk;

pub use counters::{Counters, PortCounts, Reason};
pub use error::{PlaneError, as_line};
pub use mode::Mode;
pub use plane::Plane;
