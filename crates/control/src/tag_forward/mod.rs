//! Tag-and-Forward's control plane: which rules the switches at the sources of flows have, and what becomes of them
//! when cables fail. What is told a switch beside them are its gates ([`weft_fabric::gates`]).

mod flow;
mod provisioner;
mod state;
mod text;

pub use flow::{
    Addresses, FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, MixedFamilies, Way,
};
pub use provisioner::{NoRule, PRIORITY, Provisioner};
pub use state::{LayerState, State, state};
pub use text::{FlowFilter, SyntaxError, Verb, parse_change};
