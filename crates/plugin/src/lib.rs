//! Schemes and congestion controllers compiled into modules of their own.
//!
//! A module is a dynamic library with a [`Scheme`] or [`CongestionController`] and its own copy of the engine. `weft run`
//! passes it a scenario and a run, and the module writes the result. All that crosses the border are bytes and a few
//! counters ([`abi`]), so that the two may be built by different compilers. They must be built from the same sources, for
//! otherwise their results could differ: a module states its [`abi::IDENTITY`] first.
//!
//! Authors of a module need [`Scheme`] or [`CongestionController`], [`export`], and the types re-exported here. [`host`] is
//! the side of Weft.

pub mod abi;
mod congestion;
mod content;
pub mod host;
mod message;
#[doc(hidden)]
pub mod module;
mod panics;
mod scheme;
mod simulate;

pub use congestion::CongestionController;
pub use rand_core::RngCore;
pub use scheme::{Scheme, Setting};
pub use simulate::{Outcome, simulate, simulate_congestion};
pub use weft_fabric::Fabric;
pub use weft_sim::columns::FlowRecord;
pub use weft_sim::record::RunReport;
pub use weft_switching::{
    Actions, Blueprint, Central, Context, Contradiction, Descriptor, DropReason, Explores, Forwarding,
    Header, Hops, Kind, Need, NextHops, Rewrite, SchemeSpec, SoftKey, SoftTable, Stream, Switch,
    TableEntries, mix64, pick, stream,
};
pub use weft_transport::{
    Ack, Cause, Config, CustomController, Delivered, Settings, Timeout, Window, WindowGrowth,
};
pub use weft_units::{Bytes, Duration, NodeId, ParamInfo, PortId, Rate, Time, params, words};
pub use {weft_control, weft_fabric, weft_switching, weft_transport, weft_units};
