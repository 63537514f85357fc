//! The connections of a partition's hosts. [`Hosts`] is what the engine sees; [`Shell`] is the same for all protocols, and
//! [`protocol::Protocol`] what each of them has in a file of its own.
//!
//! The two ends of a connection share nothing. Each end is found by the flow's number, which every packet
//! carries, and lives from its first packet until the engine says that the flow is over.

mod alarms;
mod any;
mod context;
mod ends;
mod flow_end;
mod host_queue;
#[expect(clippy::module_inception, reason = "the interface of this folder")]
mod hosts;
mod messages;
mod multipath;
mod nics;
mod opening;
mod paced;
mod pacer;
mod pacers;
mod path_choice;
mod places;
mod progress;
mod protocol;
mod queued;
mod reports;
mod roce;
mod round_trip;
mod shell;
mod subflow;
mod tcp;
mod udp;
mod uec;
mod world;

pub use any::{Any, Choice};
pub use context::Ctx;
pub use host_queue::HostQueue;
pub use hosts::Hosts;
pub use nics::Nics;
pub use places::{Place, Places};
pub use shell::Shell;
pub use tcp::Tcp;
pub use world::{World, node_of};
