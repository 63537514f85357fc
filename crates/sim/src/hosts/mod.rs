//! [`Hosts`]: the connections of a partition's hosts, one file per transport protocol.
//!
//! The two ends of a connection share nothing. Each end is found by the flow's number, which every packet
//! carries, and lives from its first packet until the engine says that the flow is over.

mod alarms;
mod any;
mod context;
mod ends;
mod following;
mod host_queue;
mod messages;
mod multipath;
mod nics;
mod pacer;
mod pacers;
mod places;
mod protocol;
mod roce;
mod round_trip;
mod tcp;
mod udp;
mod uec;
mod vacancies;
mod world;

pub use any::{Any, Choice};
pub use context::Ctx;
pub use host_queue::HostQueue;
pub use nics::Nics;
pub use places::{Place, Places};
pub use protocol::Hosts;
pub use tcp::Tcp;
pub use world::{World, node_of};
