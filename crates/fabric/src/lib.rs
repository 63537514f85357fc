//! The fabric: hosts, switches and the cables between them.
//!
//! A [`Fabric`] is immutable, made by a builder in [`build`], with [`FabricBuilder`] or from a file by
//! [`read`]; the engine, the emulation, the controller and the report all use it. Everything derived from the
//! graph alone ([`EqualCost`], [`SpanningTree`], [`measure`], [`layout`], [`gates`]) is here too; forwarding
//! decisions are in `switching`.

mod bounds;
pub mod build;
mod builder;
mod connectivity;
mod equal_cost;
mod error;
mod fabric;
pub mod gates;
mod host_queue;
mod interfaces;
pub mod layout;
mod limit;
mod link;
mod lossless;
pub mod measure;
mod nearest;
mod node;
mod overhead;
pub mod path_set;
mod pfc;
mod queue;
pub mod read;
mod red;
mod spanning_tree;
mod visible;
pub mod write;

pub use bounds::{MAX_CABLES, MAX_DELAY, MAX_NODES, MAX_RATE, MIN_RATE};
pub use builder::FabricBuilder;
pub use equal_cost::EqualCost;
pub use error::FabricError;
pub use fabric::{Fabric, Shape};
pub use host_queue::HostQueue;
pub use interfaces::Interfaces;
pub use limit::Limit;
pub use link::{Link, LinkSpec};
pub use lossless::{HYSTERESIS, JUMBO};
pub use nearest::nearest;
pub use node::{Node, Role, SCALE_UP_TIER};
pub use overhead::Overhead;
pub use pfc::{PfcSpec, SharedBuffer, Thresholds};
pub use queue::{ClassSpec, MAX_QUEUES, QueueSpec, Scheduler, class_of};
pub use red::{CERTAIN, MarkAt, RedSpec, parts_of};
pub use spanning_tree::SpanningTree;
pub use visible::visible;
