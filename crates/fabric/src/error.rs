//! [`FabricError`]: why a fabric cannot be.

use thiserror::Error;
use weft_units::{Duration, Rate};

use crate::{Limit, MAX_DELAY, MAX_QUEUES, MAX_RATE, MIN_RATE};

/// Why a fabric cannot be.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FabricError {
    /// A fat-tree of switches with an odd number of ports.
    #[error("a fat-tree needs an even number of ports a switch, and k = {k} is odd: try {} or {}", k - 1, k + 1)]
    OddPorts {
        /// What was asked for.
        k: u32,
    },
    /// Too little of something.
    #[error("a {shape} needs at least {least} {what}, not {given}")]
    TooFew {
        /// The kind of fabric.
        shape: &'static str,
        /// What there is too little of.
        what: &'static str,
        /// The least that makes sense.
        least: u32,
        /// What was asked for.
        given: u32,
    },
    /// More than fits.
    #[error("{given} {what} are too many: at most {most} fit")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The most that fits.
        most: u64,
        /// What was asked for.
        given: u64,
    },
    /// A node with more cables than a port number counts.
    #[error("node `{node}` has too many cables: at most {most} ports fit")]
    TooManyPorts {
        /// The node.
        node: String,
        /// The most that fits.
        most: u32,
    },
    /// Nothing that could send.
    #[error("the fabric has no hosts: nodes with `role = \"host\"`, or of tier 0")]
    NoHosts,
    /// A rate that no link has.
    #[error(
        "the link `{from}` -> `{to}` has the rate {rate}; a rate is from {MIN_RATE} to {MAX_RATE} (to take a \
         link out of use, list it as failed)"
    )]
    Rate {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// What was asked for.
        rate: Rate,
    },
    /// An oversubscription that is no ratio.
    #[error("an oversubscription is a number above 0, such as 2 for 2:1, not {0}")]
    Oversubscription(String),
    /// A delay longer than any cable's.
    #[error("the link `{from}` -> `{to}` has the delay {delay}; at most {MAX_DELAY} makes sense")]
    Delay {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// What was asked for.
        delay: Duration,
    },
    /// A queue in which no frame fits.
    #[error("the queue of link `{from}` -> `{to}` holds {limit}: not even one frame of 84 B")]
    Queue {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// What was asked for.
        limit: Limit,
    },
    /// A class of a queue that would never send.
    #[error("class {class} of the queue of link `{from}` -> `{to}` has weight 0: at least 1 is needed")]
    Weight {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The class, from 0.
        class: usize,
    },
    /// More queues than a packet can tell apart.
    #[error(
        "the port of link `{from}` -> `{to}` has {given} queues: a DSCP's class selector tells {MAX_QUEUES} \
         apart, so at most {MAX_QUEUES} are of use"
    )]
    TooManyQueues {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// What was asked for.
        given: usize,
    },
    /// A name that cannot be written or told apart.
    #[error("`{}` is no name for a node: a name has at least one character and no control characters", name.escape_debug())]
    BadName {
        /// What was given.
        name: String,
    },
    /// Two nodes of the same name.
    #[error("there are two nodes named `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that no node has.
    #[error("there is no node `{name}`{}", hint(nearest))]
    UnknownNode {
        /// What was given.
        name: String,
        /// The name that may have been meant.
        nearest: Option<String>,
    },
    /// A text that names no pair of nodes.
    #[error(
        "`{text}` does not name a link: write two nodes with a `-` between them, such as \"e0-a1\"{}",
        hint(nearest)
    )]
    BadPair {
        /// What was given.
        text: String,
        /// For the first part that is no node: the name that may have been meant.
        nearest: Option<String>,
    },
    /// Two nodes that no cable joins.
    #[error("no cable joins `{a}` and `{b}`")]
    NoCable {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// A cable from a node to itself.
    #[error("a cable joins `{name}` to itself")]
    SelfLoop {
        /// The node.
        name: String,
    },
    /// Two hosts without a path.
    #[error("no path joins the hosts `{a}` and `{b}`{}", if *by_failure { ": the failed links cut them apart" } else { "" })]
    Disconnected {
        /// One host.
        a: String,
        /// The other.
        b: String,
        /// Whether they would be joined if no link had failed.
        by_failure: bool,
    },
}

/// The end of a message that proposes a name.
fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
