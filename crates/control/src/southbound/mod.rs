//! [`Southbound`]: connects a [`Controller`](crate::Controller) to its switches over OpenFlow 1.3.
//!
//! It handles the messages of the flow set-up path, and only those: packet-ins, rules, barriers and their answers,
//! packet-outs, removed rules. The caller that keeps the connections handles all other OpenFlow messages (hello,
//! features, roles, ports, errors) and reports their results through the other methods. It has no socket and no clock:
//! bytes come in, bytes for each switch go out.

mod audit;
mod audits;
mod counts;
mod decode;
mod encode;
mod events;
mod install;
mod open;
mod packets;
mod port_limit;
mod queue;
mod session;
mod state;

pub use state::{Core, Southbound, SouthboundLimits, Stop, Trouble};
