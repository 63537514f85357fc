//! Forwarding decisions of a switch, sans-IO.
//!
//! A scheme is a [`Switch`]: a frame's [`Header`] goes in with the time, the queues and a random stream
//! ([`Context`]), and [`Actions`] come out as data. Nothing here owns a clock, a socket or a packet, so the same
//! state machine runs in the simulator, in property tests and as the reference for a kernel data plane.
//!
//! One file per scheme: [`ecmp`], [`single_path`], [`spray`], [`spanning_tree`]; those that balance load, [`wcmp`],
//! [`letflow`], [`conga`], [`drill`], [`adaptive`], which share [`flowlets`], [`least_loaded`] and results [`derived`]
//! from the routes of the whole fabric ([`capacities`], [`components`]); [`flowcut`] with its table [`flowcuts`],
//! [`hula`] with [`best_hops`] and [`link_load`]; [`smoc`] with its [`rule_table`]; [`conweave`], [`hedera`] and [`tag_forward`] in
//! their own directories; and the exploration family [`arp_path`], [`tcp_path`], [`tfe`], which shares [`exploration`],
//! [`exploring`], [`hello`] and the [`path_table`]. Each scheme declares a [`Descriptor`]; [`registry`] lists those that a
//! simulation can run. The command line, the scenario schema and the documentation read the list. Schemes of hosts are in
//! [`host`]. For real networks alone: [`loop_guard`], since the cables of a simulated fabric are known, [`reachability`], by
//! which switches learn which of their routes work, [`hello_loss`], by which they find links that lose frames, and
//! [`routing_message`] and [`leaf_routes`], for a routing daemon on the same machine.

mod action;
mod actions;
pub mod adaptive;
mod announcement;
pub mod arp_path;
mod best_hops;
mod blueprint;
mod capacities;
mod components;
pub mod conga;
pub mod conweave;
pub mod default_forwarding;
mod derived;
mod descriptor;
pub mod drill;
mod drop_reason;
pub mod ecmp;
mod edge_switches;
mod expiry_order;
pub mod exploration;
pub mod exploring;
mod first_copies;
mod floods;
pub mod flowcut;
mod flowcuts;
mod flowlets;
mod forwarding;
mod hash;
mod header;
pub mod hedera;
pub mod hello;
pub mod hello_loss;
pub mod host;
pub mod hula;
mod index;
pub mod leaf_routes;
mod least_loaded;
pub mod leaving;
pub mod letflow;
mod link_load;
pub mod loop_guard;
mod nearest_first;
pub mod over;
mod path_reports;
pub mod path_table;
pub mod port_limits;
mod rate_estimator;
mod rate_limit;
pub mod reachability;
mod reception;
mod recovery;
mod registry;
pub mod routed;
pub mod routing_message;
mod rule_table;
pub mod single_path;
mod slot;
pub mod smoc;
pub mod snooping;
mod soft_table;
pub mod spanning_tree;
mod spec;
mod split;
pub mod spray;
mod streams;
mod switch;
pub mod tag_forward;
pub mod tcp_path;
pub mod tfe;
mod tiers;
mod timing;
mod unreached;
pub mod wcmp;

pub use action::{Action, Report, Rewrite};
pub use actions::Actions;
pub use blueprint::{Blueprint, Central};
pub use descriptor::{Checks, Descriptor, Explores, Hops, Need, Overlay};
pub use drop_reason::DropReason;
pub use first_copies::first_copies;
pub use forwarding::{Forwarding, NextHops, PortLink};
pub use hash::{flow_hash, mix64, pick, tuple_hash};
pub use header::{Header, Kind};
pub use reception::Reception;
pub use registry::{SchemeVisitor, Schemes, descriptor, explores, registry, visit_scheme};
pub use soft_table::{SoftKey, SoftTable};
pub use spec::{Contradiction, SchemeError, SchemeSpec};
pub use split::{Inflow, Split};
pub use streams::{Stream, stream};
pub use switch::{Context, Kept, KeptPort, Switch, TableEntries};
pub use timing::Timing;
pub use unreached::Unreached;
pub use weft_units::{ParamInfo, ParamKind, ParamValue};
pub use weft_wire::Mac;
