//! [`TrafficError`]: why flows cannot be generated.

use thiserror::Error;

use weft_units::plural;

use crate::flow::MAX_FLOWS;
use crate::pairs::PairsError;

/// Why flows cannot be generated. `group` counts from 0.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum TrafficError {
    /// The pairs do not fit the hosts.
    #[error("{error}")]
    Pairs {
        /// The group.
        group: usize,
        /// The problem.
        error: PairsError,
    },
    /// A load or rate that is not a positive number.
    #[error("{what} is {value}; expected a number above 0")]
    Intensity {
        /// The group.
        group: usize,
        /// Load or flow rate.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A load on links that do not exist.
    #[error("a load on the {of} is undefined here: {why}")]
    NoCapacity {
        /// The group.
        group: usize,
        /// The links concerned.
        of: &'static str,
        /// Why there is no capacity.
        why: &'static str,
    },
    /// Neither a number of flows nor an intensity.
    #[error("the number of flows is not given; expected a load, an arrival rate or a number of flows")]
    Unbounded {
        /// The group.
        group: usize,
    },
    /// Flows that start all at once have no arrival rate.
    #[error("flows that all start at once cannot have a {what}; expected a number of flows")]
    AtOnce {
        /// The group.
        group: usize,
        /// Load or flow rate.
        what: &'static str,
    },
    /// More flows than a run can have.
    #[error("this results in about {flows:.0} flows; a run can have at most {MAX_FLOWS}")]
    TooMany {
        /// The group.
        group: usize,
        /// The estimated number, including the groups before.
        flows: f64,
    },
    /// An invalid listed flow.
    #[error("flow {index}: {why}")]
    Listed {
        /// The group.
        group: usize,
        /// The flow in its list, counted from 1.
        index: usize,
        /// The problem.
        why: String,
    },
    /// A number of ranks that the hosts or the algorithm do not allow.
    #[error("{why}")]
    Ranks {
        /// The group.
        group: usize,
        /// The problem.
        why: String,
    },
    /// Fewer bytes than a collective sends parts.
    #[error("{why}")]
    Bytes {
        /// The group.
        group: usize,
        /// The problem.
        why: String,
    },
    /// So many hosts are left to others that fewer than two ranks have one.
    #[error("`skip` is {skip}, and the fabric has {}", plural(*hosts, "host"))]
    Skip {
        /// The group.
        group: usize,
        /// The number of hosts to skip.
        skip: u64,
        /// The number of all hosts.
        hosts: u64,
    },
    /// Ranks that cannot compute more slowly.
    #[error("{why}")]
    Stragglers {
        /// The group.
        group: usize,
        /// The problem.
        why: String,
    },
    /// Flows and computations that take too long for a time.
    #[error(
        "this takes more than 213 days, the longest time of a run{longest}; expected shorter computations or less data"
    )]
    TooLong {
        /// The group.
        group: usize,
        /// The part that takes longest, after a colon.
        longest: String,
    },
    /// Flows that wait for each other.
    #[error("flows wait for each other in a circle: {circle}")]
    Circle {
        /// The group.
        group: usize,
        /// The flows of the circle.
        circle: String,
    },
    /// Two flows with the same hosts and ports.
    #[error(
        "two flows from `{src}` to `{dst}` have the ports {sport} and {dport}; leave the ports out to get different ones"
    )]
    SamePorts {
        /// The sending host.
        src: String,
        /// The receiving host.
        dst: String,
        /// The source port.
        sport: u16,
        /// The destination port.
        dport: u16,
    },
    /// More class names than an index can represent.
    #[error("more than 65536 flow classes")]
    TooManyClasses,
}

impl TrafficError {
    /// The group it is about, counted from 0.
    pub fn group(&self) -> Option<usize> {
        match self {
            Self::Pairs { group, .. }
            | Self::Intensity { group, .. }
            | Self::NoCapacity { group, .. }
            | Self::Unbounded { group }
            | Self::AtOnce { group, .. }
            | Self::TooMany { group, .. }
            | Self::Ranks { group, .. }
            | Self::Bytes { group, .. }
            | Self::Skip { group, .. }
            | Self::Stragglers { group, .. }
            | Self::TooLong { group, .. }
            | Self::Circle { group, .. }
            | Self::Listed { group, .. } => Some(*group),
            Self::SamePorts { .. } | Self::TooManyClasses => None,
        }
    }
}
