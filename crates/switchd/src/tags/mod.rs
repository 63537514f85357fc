//! Tag-and-Forward: everything that the modes `tag-forward` and `flow-table` need in addition to their programs.
//!
//! * [`Tagging`]: width, EtherType, choice of ways, queues; fixed once a program is loaded.
//! * [`Plane::set_gates`](crate::Plane::set_gates), [`Plane::gates`](crate::Plane::gates): all gates at once.
//! * [`Rules`]: the flow table. A batch of changes is first applied, completely or not at all, to the
//!   [`FlowTable`](weft_switching::tag_forward::FlowTable), which checks for duplicates, conflicts and limits, and then to
//!   the maps. A starting daemon rebuilds that table from the maps.
//! * [`Misses`]: frames without a rule.
//! * `config`, `daemon`, `command` and `client`: the section `[tags]` of a configuration, the daemon's part, the commands
//!   of `weftctl` and their implementation.
//!
//! Forwarding needs only these maps and continues without a daemon.

mod addresses;
pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod gates;
mod kinds;
pub mod layout;
mod misses;
mod rules;
mod tagging;
mod turns;

pub use addresses::addresses_of;
pub use gates::GatesRefused;
pub use misses::{Miss, Misses};
pub use rules::{Rules, RulesRefused};
pub use tagging::{NoLoad, Tagging};
pub(crate) use turns::Turns;
