//! OpenFlow 1.3 (Open Networking Foundation, TS-006 and its later editions 1.3.x): the messages between
//! controllers and switches that Weft needs, read and written in both directions.
//!
//! [`Messages`] splits a stream into messages, [`Message`] reads and writes them. The supported messages cover
//! switches and their ports, packet-in and packet-out, rules that match up to TCP ports and output, barriers,
//! roles. Other features (groups, meters, queues, tables except by number) are rejected by name, so that the
//! peer can be notified.
//!
//! Values borrow from the message from which they were parsed. Lists ([`List`]) are validated once and then
//! read in place, element by element.

mod action;
mod buffer;
mod config;
mod error_message;
mod features;
mod field;
mod flow_mod;
mod flow_removed;
mod flow_stats;
mod framer;
mod header;
mod hello;
mod list;
mod matching;
mod message;
mod multipart;
mod packet_in;
mod packet_out;
mod port;
mod reader;
mod role;

/// The TCP port of controllers, assigned by IANA.
pub const PORT: u16 = 6653;

pub use action::Action;
pub use config::SwitchConfig;
pub use error_message::ErrorMessage;
pub use features::{Features, SwitchDescription};
pub use field::Masked;
pub use flow_mod::{FlowCommand, FlowFlags, FlowMod};
pub use flow_removed::{FlowRemoved, RemovedReason};
pub use flow_stats::{FlowCounts, FlowStats, FlowStatsRequest, flow_entries};
pub use framer::Messages;
pub use header::{Header, MessageType, VERSION};
pub use hello::Hello;
pub use list::{Element, List};
pub use matching::Match;
pub use message::Message;
pub use multipart::{MultipartReply, MultipartRequest};
pub use packet_in::{PacketIn, PacketInReason};
pub use packet_out::PacketOut;
pub use port::{Port, PortNumber, PortReason, PortStatus};
pub use role::{Role, RoleMessage};
