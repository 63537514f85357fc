//! The Linux switch: loads the data plane of `bpf/` into the kernel and manages it.
//!
//! [`Plane`] loads a mode's program over pinned maps and writes its read-only inputs (ports, routes, settings);
//! [`tables::Tables`] sweeps and repairs the maps that the program writes; [`tags`] has the gates and rules of
//! Tag-and-Forward, [`bodies`] their format on the control socket. [`layout`] has the maps' keys and values in their
//! memory layout, with the names of the headers in `bpf/`; [`counters`] has the counters of frames. The forwarding
//! decisions are specified by `weft-switching`; the tests here compare the program and the tables with it.

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
mod detach;
mod error;
pub mod event;
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
