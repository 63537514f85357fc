//! The sans-IO core of a central controller.
//!
//! A [`Controller`] receives the events of an OpenFlow network (switches and ports that come and go, links
//! discovered by LLDP, packet-ins) and returns [`Command`]s: rules to install, frames to send. It has no clock
//! and no socket, so the same controller runs with real switches, in the simulator and in property tests.
//!
//! [`Southbound`] connects it to real switches over OpenFlow.
//!
//! [`Smoc`] places each subflow of a Multipath TCP connection on its own path; [`SpanningTree`] is its
//! baseline. [`tag_forward`] holds the provisioning logic for switches that forward by tags.

mod budget;
mod claims;
mod clock;
mod command;
mod connections;
mod controller;
mod cookie;
mod counters;
mod expected;
mod flows;
mod handshakes;
mod hash;
mod ids;
mod label;
mod learning;
mod list;
mod meter;
mod network;
mod offences;
mod pace;
mod packet;
mod path_sets;
mod paths;
mod read;
mod role;
mod routes;
mod rule;
mod rule_set;
mod settings;
mod shares;
mod show;
mod slab;
mod smoc;
mod southbound;
mod spanning_tree;
mod station;
mod stations;
pub mod tag_forward;
mod topology;
mod transactions;

pub use clock::{Duration, Time};
pub use command::{Command, FrameOut, MadeFrame, Transaction};
pub use controller::{Controller, NO_COOKIE, Show};
pub use cookie::CookieSlice;
pub use ids::{FrameRef, PortNo, SwitchId, SwitchPort};
pub use offences::{Offence, OffenceKind};
pub use packet::{Arp, Content, End, FlowCount, Join, Mptcp, Neighbour, Packet, Tcp};
pub use rule::{Actions, EXACT, Match, Rule, RuleAction, RuleChange, priority};
pub use rule_set::{Group, RuleSet, Shape};
pub use settings::{
    ArpMode, ExpectedCable, ExpectedEnd, ExpectedFabric, ExpectedSwitch, Kind, Limits, Pick, Reverse,
    Settings, SettingsError,
};
pub use smoc::Smoc;
pub use southbound::{Core, Southbound, SouthboundLimits, Stop, Trouble};
pub use spanning_tree::SpanningTree;
pub use weft_fabric::path_set::Order as PathOrder;
pub use weft_wire::mptcp::Version;
