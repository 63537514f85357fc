//! [`FabricError`]: why a fabric is invalid.

use thiserror::Error;
use weft_units::{Bytes, Duration, Rate, plural};

use crate::bounds::{MAX_DELAY, MAX_RATE, MIN_RATE};
use crate::limit::Limit;
use crate::overhead::Overhead;
use crate::queue::MAX_QUEUES;

/// Why a fabric is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FabricError {
    /// A fat-tree with an odd number of ports per switch.
    #[error("a fat-tree needs an even number of ports per switch, but k = {k} is odd: try {} or {}", k - 1, k + 1)]
    OddPorts {
        /// The requested value.
        k: u32,
    },
    /// Too little of something.
    #[error("a {shape} needs at least {}, not {given}", plural(*least, what))]
    TooFew {
        /// The kind of fabric.
        shape: &'static str,
        /// The quantity that is too small, one of it.
        what: &'static str,
        /// The minimum.
        least: u32,
        /// The requested value.
        given: u32,
    },
    /// Too many of a thing.
    #[error("{} are too many: expected at most {most}", counted(*given, what))]
    TooMany {
        /// The thing counted, one of it.
        what: &'static str,
        /// The most that fits.
        most: u64,
        /// The requested value; [`u64::MAX`] if it is at least that.
        given: u64,
    },
    /// A node with more cables than port numbers.
    #[error("node `{node}` has too many links: expected at most {}", plural(*most, "port"))]
    TooManyPorts {
        /// The node.
        node: String,
        /// The most that fits.
        most: u32,
    },
    /// No hosts.
    #[error(
        "the fabric has no hosts (nodes with `role = \"host\"` or tier 0; in a file without roles and tiers, \
         nodes with a single link: an edge given twice is two links)"
    )]
    NoHosts,
    /// A rate outside the valid range.
    #[error(
        "link `{from}` -> `{to}` has a rate of {rate}: expected {MIN_RATE} to {MAX_RATE} (to disable a link, \
         list it as failed)"
    )]
    Rate {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The requested value.
        rate: Rate,
    },
    /// An invalid oversubscription ratio.
    #[error("oversubscription must be a number above 0, such as 2 for 2:1, not {0}")]
    Oversubscription(String),
    /// A delay above the maximum.
    #[error("link `{from}` -> `{to}` has a delay of {delay}: expected at most {MAX_DELAY}")]
    Delay {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The requested value.
        delay: Duration,
    },
    /// A queue that is too short for any frame.
    #[error(
        "the queue of link `{from}` -> `{to}` holds {limit}, less than one frame of {}",
        Bytes(Overhead::MIN_FRAME.into())
    )]
    Queue {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The requested value.
        limit: Limit,
    },
    /// A class of a queue that would never send.
    #[error("class {class} of the queue of link `{from}` -> `{to}` has weight 0: expected at least 1")]
    Weight {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The class, from 0.
        class: usize,
    },
    /// More queues than class selectors.
    #[error(
        "the port of link `{from}` -> `{to}` has {given} queues: expected at most {MAX_QUEUES}, one per class \
         selector of a DSCP"
    )]
    TooManyQueues {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
        /// The requested value.
        given: usize,
    },
    /// Trimming without a second queue.
    #[error(
        "the port of link `{from}` -> `{to}` trims packets, but has one queue: trimmed packets need a more urgent one, \
         such as queues = {{ weights = [1, 1] }}"
    )]
    Trim {
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
    },
    /// Priority flow control of a queue that the port does not have.
    #[error("`pfc` names queue {queue}, but the port of link {link} has {}", queues_up_to(*queues))]
    LosslessQueue {
        /// The link, with its ends.
        link: String,
        /// The queue that does not exist.
        queue: usize,
        /// The number of queues.
        queues: usize,
    },
    /// Contradictory parameters of RED.
    #[error("`red` of link {link} is invalid: {why}")]
    Red {
        /// The link, with its ends.
        link: String,
        /// The problem.
        why: String,
    },
    /// No space for the headroom of a link with PFC.
    #[error(
        "PFC on link {link} needs {headroom} of headroom{}, but its `queue` holds {space}: expected more, or a \
         shared `buffer`", xoff.map(|xoff| format!(" beyond an `xoff` of {xoff}")).unwrap_or_default()
    )]
    Headroom {
        /// The link, with its ends.
        link: String,
        /// The space that arrives after a pause.
        headroom: Bytes,
        /// The given threshold.
        xoff: Option<Bytes>,
        /// The limit of the queue.
        space: Bytes,
    },
    /// No space for the headroom of all links of a switch.
    #[error(
        "PFC on the links of `{node}` reserves {reserved} of headroom and fixed thresholds, but the `buffer` is {buffer}: \
         raise `buffer` above {reserved} or lower `pfc.headroom`"
    )]
    SharedHeadroom {
        /// The switch.
        node: String,
        /// The sum.
        reserved: Bytes,
        /// The size of the buffer.
        buffer: Bytes,
    },
    /// An empty name or one with control characters.
    #[error("`{}` is not a valid node name: expected at least one character and no control characters", name.escape_debug())]
    BadName {
        /// The given text.
        name: String,
    },
    /// Two nodes of the same name.
    #[error("there are two nodes named `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// An unknown node name.
    #[error("there is no node `{name}`{}", hint(nearest))]
    UnknownNode {
        /// The given text.
        name: String,
        /// The nearest valid name.
        nearest: Option<String>,
    },
    /// A text that does not name a pair of nodes.
    #[error(
        "`{text}` does not name a link: write two nodes with a `-` between them, such as \"e0-a1\"{}",
        hint(nearest)
    )]
    BadPair {
        /// The given text.
        text: String,
        /// The nearest valid name to the first part that is not a node.
        nearest: Option<String>,
    },
    /// Two nodes without a cable between them.
    #[error("there is no link between `{a}` and `{b}`")]
    NoCable {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// A cable from a node to itself.
    #[error("a link connects `{name}` to itself")]
    SelfLoop {
        /// The node.
        name: String,
    },
    /// Scale-up domains that do not fit the number of hosts.
    #[error(
        "{hosts} hosts cannot form scale-up domains of {size}: expected at least 2 hosts per domain, and a number that divides \
         {hosts}"
    )]
    ScaleUpSize {
        /// The hosts of the fabric.
        hosts: u64,
        /// The requested hosts of a domain.
        size: u32,
    },
    /// GPUs that cannot be divided evenly among rails.
    #[error("{gpus} GPUs cannot be divided among {rails} rails: expected a divisor of {gpus}")]
    UnevenRails {
        /// The GPUs of a server.
        gpus: u32,
        /// The rails of a pod.
        rails: u32,
    },
    /// Leaves that cannot be divided into groups with the same hosts.
    #[error(
        "{leaves} leaves cannot be divided among hosts with {tors} leaves each: expected a multiple of {tors}"
    )]
    UnevenTors {
        /// The leaves.
        leaves: u32,
        /// The leaves of each host.
        tors: u32,
    },
    /// Pods without spines between them.
    #[error("without spines, {pods} pods are not connected: expected 1 pod, or at least 1 spine")]
    SeparatePods {
        /// The pods.
        pods: u32,
    },
    /// A link of a scale-up switch that does not lead to a host.
    #[error("scale-up switch `{switch}` is connected to `{other}`: a scale-up domain connects hosts only")]
    ScaleUpLink {
        /// The scale-up switch.
        switch: String,
        /// The other end.
        other: String,
    },
    /// A host with two links into scale-up domains.
    #[error("host `{host}` has links to the scale-up switches {switches}: expected at most one link")]
    ScaleUpTwice {
        /// The host.
        host: String,
        /// The switches, or twice the same.
        switches: String,
    },
    /// Two hosts without a path.
    #[error("there is no path between hosts `{a}` and `{b}`{}", if *by_failure { ": failed links disconnect them" } else { "" })]
    Disconnected {
        /// One host.
        a: String,
        /// The other.
        b: String,
        /// Whether they would be connected if no link had failed.
        by_failure: bool,
    },
}

/// A number of queues, and how they are counted.
fn queues_up_to(queues: usize) -> String {
    match queues {
        1 => "1 queue, number 0".to_owned(),
        _ => format!("{queues} queues, 0 to {}", queues - 1),
    }
}

/// The end of a message that suggests a name.
fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// So many things; a number that is no more than a bound is not printed.
fn counted(given: u64, what: &str) -> String {
    match given {
        u64::MAX => plural(given, what).replacen(&given.to_string(), "more than 10^19", 1),
        _ => plural(given, what),
    }
}
