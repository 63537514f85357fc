//! Physical quantities as integers, with meaningful arithmetic only.
//!
//! Every other crate builds on this one. Time is in picoseconds, so that one byte at 400 Gbps
//! (20 ps) and half an hour (1.8e15 ps) fit one integer, and the order of events never depends on
//! rounding. A quantity is parsed from text as a number and a unit (`"25 us"`, `"10 Gbps"`,
//! `"1.5 MB"`): [`quantity`] has the grammar. [`params`](params!) declares parameters with such values.

mod bytes;
mod ids;
mod message;
mod param;
#[doc(hidden)]
pub mod params;
mod quantity;
mod rate;
mod time;
#[doc(hidden)]
pub mod words;

pub use bytes::Bytes;
pub use ids::{FlowId, HostId, LinkId, NodeId, PortId};
pub use message::{alternatives, plural, reason};
pub use param::{Given, Param, ParamInfo, ParamKind, ParamValue, Range};
pub use params::Parameters;
pub use quantity::QuantityError;
pub use rate::{Rate, TxClock};
pub use time::{Duration, Time};
