//! Tag-and-Forward: all that the modes `tag-forward` and `flow-table` need beside their programs.
//!
//! * [`Tagging`]: width, EtherType, choice of ways, queues; fixed once a program is loaded.
//! * [`Plane::set_gates`](crate::Plane::set_gates), [`Plane::gates`](crate::Plane::gates): the gates, as one.
//! * [`Rules`]: the flow table. Changes are taken by the [`FlowTable`](weft_switching::tag_forward::FlowTable) that
//!   says what is a duplicate, a conflict or too much, all of a batch or none, and are carried to the maps then.
//!   A daemon that starts rebuilds that table from the maps.
//! * [`Misses`]: frames that no rule is for.
//! * `config`, `daemon`, `command` and `client`: the section `[tags]` of a configuration, what the daemon does, the commands
//!   of `weftctl`, and how they are carried out.
//!
//! Nothing but these maps is needed for frames to go on while no daemon is there.

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
