//! The flows of a run: sizes, start times, sources and destinations.
//!
//! A [`Group`] describes flows of one kind; [`generate`] turns groups into one list of [`Flow`]s,
//! sorted by start; a [`Program`] has the dependencies between them. All randomness comes from the
//! stream passed in, which a run derives from its seed alone, so every scheme sees exactly the same
//! flows. Sizes, pairs and arrivals have separate streams: a sweep over the load keeps the sequence of
//! sizes and pairs and only changes the time between flows.
//!
//! No file is opened here. A CDF or a trace is passed in as the bytes of its file.

mod arrivals;
mod bound;
mod buckets;
mod cdf;
mod classes;
mod collective;
mod connections;
mod demand;
mod dependencies;
mod drafts;
mod error;
mod flow;
mod generate;
mod group;
mod jobs;
mod lane;
mod listed;
mod load_of;
mod meet;
mod offer;
mod pairs;
mod part;
mod parts;
mod placement;
mod places;
mod ports;
mod processor;
mod program;
mod protocol;
pub mod published;
mod random;
mod relay;
mod schedule;
mod sizes;
mod stragglers;
pub mod trace;
mod traffic;
mod tuner;
mod waits;
mod words;
mod workload;

pub use arrivals::Arrivals;
pub use bound::Bound;
pub use cdf::{CdfError, read_cdf};
pub use classes::Thresholds;
pub use collective::{Algorithm, Collective};
pub use connections::{Connections, Reuse};
pub use demand::Demand;
pub use dependencies::{Dependencies, Edge, Need, Node, Point, Step, StepKind};
pub use error::TrafficError;
pub use flow::{Flow, MAX_DSCP, MAX_FLOWS};
pub use generate::generate;
pub use group::{Drawn, Flows, Group, Intensity};
pub use jobs::{Began, Job, Jobs};
pub use lane::{InterfaceRule, Lane};
pub use listed::ListedFlow;
pub use load_of::LoadOf;
pub use offer::Offer;
pub use pairs::{Pairs, PairsError};
pub use parts::{Parts, Series};
pub use placement::{Placement, Ranks};
pub use places::{Places, Rack};
pub use ports::{EPHEMERAL, FIRST_LISTENING};
pub use processor::Processor;
pub use program::Program;
pub use protocol::Protocol;
pub use relay::Relay;
pub use sizes::{CdfPoint, Sizes, SizesError};
pub use stragglers::Stragglers;
pub use traffic::{Arriving, GroupSummary, Traffic};
pub use tuner::{Choice, Tuner, TunerError, read_tuner};
pub use workload::{Attention, Grid, Inference, Lengths, Model, Named, Precision, Training};
