//! Tag-and-Forward: the switch at the source looks a packet up in its flow table and pushes a tag; all others forward by
//! the tag's numbers alone (Ishimori, Cerqueira and Abelém, *Tag-And-Forward*). Fat-trees only.
//!
//! [`TagForwardSwitch`] is the switch: a tagged frame goes through the gate that `f(g, d)` gives ([`GateTable`]) and never
//! touches the [`FlowTable`]; an untagged one is looked up there, once. A rule names one way or a group of ways, from
//! which [`PathChoice`] takes one a packet. [`TagForward`] is the scheme.

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
pub(crate) use scheme::misfit;
pub use scheme::{INFO, TagForward};
pub use switch::{Counters, TagForwardSwitch, addresses};
pub use weft_control::tag_forward::{
    Addresses, FlowAction, FlowChange, FlowFilter, FlowMatch, FlowRule, FlowTarget, GroupId, MixedFamilies,
    SyntaxError, Verb, Way, parse_change,
};
