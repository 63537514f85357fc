//! Tag-and-Forward's control plane: the rules of the switches at the sources of flows, and their changes when links
//! fail. The only other state of a switch are its gates ([`weft_fabric::gates`]).

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
