//! A load for OpenFlow controllers: switches that are emulated in one process and one thread, each with its
//! connection to the controller, and hosts on them that open Multipath TCP connections.
//!
//! What is measured is the controller alone. A frame crosses all switches at once, by the rules that they really
//! have ([`Table`]): where a rule is wrong or missing it does not arrive, and that is counted ([`Connections`]). LLDP,
//! ARP, barriers and timeouts are as with a real switch ([`Agent`]), so the controller discovers the fabric, learns
//! its hosts and forgets what is over. [`run`] does it all, [`Report`] says what came of it.

mod agent;
mod channel;
mod connections;
mod counts;
mod frame;
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
