//! Tag-and-Forward: the source switch looks a packet up in its flow table and pushes a tag; all others forward by the
//! tag's numbers alone (Ishimori, Cerqueira and Abelém, *Tag-And-Forward*). Fat-trees only.
//!
//! [`TagForwardSwitch`] is the switch: a tagged frame leaves by the gate `f(g, d)` ([`GateTable`]) without touching the
//! [`FlowTable`]; an untagged one is looked up there, once. A rule uses one way or a group of ways, from which
//! [`PathChoice`] selects one per packet. [`TagForward`] is the scheme.

mod choice;
mod controller;
mod difference;
mod flow_error;
mod flow_table;
mod gate_table;
mod mtu;
mod scheme;
mod switch;

pub use choice::PathChoice;
pub use difference::{Difference, WantedError};
pub use flow_error::FlowError;
pub use flow_table::{Entry, FlowTable, Limits};
pub use gate_table::{GateClash, GateTable};
pub use mtu::{MtuTooSmall, check_mtu, mtu_needed};
pub use scheme::{DESCRIPTOR, TagForward};
pub use switch::{Counters, TagForwardSwitch, addresses};
pub use weft_control::tag_forward::{
    Addresses, FlowAction, FlowChange, FlowFilter, FlowMatch, FlowRule, FlowTarget, GroupId, MixedFamilies,
    SyntaxError, Verb, Way, parse_change,
};
