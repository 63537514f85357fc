//! Physical quantities as integers, with only the arithmetic that makes sense.
//!
//! Every other room stands on this one. Time is counted in picoseconds, so that one byte at
//! 400 Gbps (20 ps) and half an hour (1.8e15 ps) fit one integer and the order of events never
//! depends on rounding. A quantity is read from text as a number and a unit (`"25 us"`,
//! `"10 Gbps"`, `"1.5 MB"`): [`quantity`] holds that grammar.

mod bytes;
mod ids;
mod quantity;
mod rate;
mod time;

pub use bytes::Bytes;
pub use ids::{FlowId, HostId, LinkId, NodeId, PortId};
pub use quantity::QuantityError;
pub use rate::{Rate, TxClock};
pub use time::{Duration, Time};
