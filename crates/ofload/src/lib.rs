//! A load generator for OpenFlow controllers: switches emulated in one single-threaded process, each with its own
//! connection to the controller, and hosts that open Multipath TCP connections.
//!
//! Only the controller is measured. A frame crosses all switches instantly, by the rules that they have ([`Table`]): if
//! a rule is wrong or missing, the frame does not arrive, and that is counted ([`Connections`]). LLDP, ARP, barriers and
//! timeouts work as on a real switch ([`Agent`]), so the controller discovers the fabric, learns its hosts and expires
//! old state. [`run`] performs a measurement, [`Report`] is its result.

mod agent;
mod channel;
mod connection;
mod connections;
mod counts;
mod frame;
mod handshake;
mod network;
mod pace;
mod process;
mod report;
mod run;
mod table;
mod world;

pub use agent::{Agent, Effect};
pub use channel::ChannelError;
pub use connections::{Connections, Offer};
pub use counts::Counts;
pub use network::{Network, NetworkError, Peer};
pub use pace::Offered;
pub use process::Process;
pub use report::Report;
pub use run::{RunError, Settings, run};
pub use table::{Expiry, Rule, RuleId, Table};
pub use world::{Delays, World};
