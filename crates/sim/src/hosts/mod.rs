//! [`Hosts`]: the connections of a partition's hosts, one file per transport protocol.
//!
//! The two ends of a connection share nothing. Each end is found by the flow's number, which every packet
//! carries, and lives from its first packet until the engine says that the flow is over.

mod alarms;
mod any;
mod ends;
mod following;
mod host_queue;
mod messages;
mod multipath;
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

pub use any::{Any, Choice};
pub use host_queue::HostQueue;
pub use places::{Place, Places};
pub use protocol::{Hosts, Nics, World, node_of};
pub use tcp::Tcp;
