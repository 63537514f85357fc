//! Tag-and-Forward in the kernel: what the modes `tag-forward` and `flow-table` are told, and what they tell.
//!
//! * [`Tagging`]: width, EtherType, choice of ways, queues; fixed once a program is loaded.
//! * [`Plane::set_gates`](crate::Plane::set_gates), [`Plane::gates`](crate::Plane::gates): the gates, as one.
//! * [`Rules`]: the flow table. Changes are taken by the [`FlowTable`](weft_switching::tag_forward::FlowTable) that
//!   says what is a duplicate, a conflict or too much, all of a batch or none, and are carried to the maps then.
//!   A daemon that starts rebuilds that table from the maps.
//! * [`Misses`]: frames that no rule is for.
//!
//! Nothing but these maps is needed for frames to go on while no daemon is there.

mod addresses;
mod gates;
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
