//! The columns of `flows.parquet`, declared once: from this table come [`FlowRecord`] and [`FlowRow`], the file's
//! schema and cells, Python's layout and the list in docs/results.md.

use weft_scenario::Plan;
use weft_traffic::Flow;
use weft_units::{Duration, LinkId, Time};

use crate::results::{Cell, Column, Kind};

/// The type of a field of [`FlowRecord`].
macro_rules! recorded {
    (($kind:ident) $value:ty) => { $value };
    (($kind:ident or null) $value:ty) => { Option<$value> };
}

/// The declaration of a column.
macro_rules! column {
    ($name:ident ($kind:ident $($null:tt)*) $doc:literal) => {
        Column {
            name: stringify!($name),
            kind: Kind::$kind,
            or_null: !stringify!($($null)*).is_empty(),
            doc: $doc.trim_ascii_start(),
        }
    };
}
pub(crate) use column;

/// Declares the columns. Each has its name, its type, whether a simulation may leave it null, and the field with its
/// value or a function of row and plan.
macro_rules! columns {
    ($(
        #[doc = $doc:literal]
        $name:ident: $kind:tt = $($field:ident: $value:ty)? $(|$row:pat_param, $plan:pat_param| $cell:expr)?,
    )*) => {
        /// The columns of `flows.parquet`.
        pub const FLOWS: &[Column] = &[$(column!($name $kind $doc)),*];

        /// One flow of a simulation.
        #[derive(Clone, Debug)]
        pub struct FlowRecord {
            /// The flow as planned, with its actual start.
            pub flow: Flow,
            $($(#[doc = $doc] pub $field: recorded!($kind $value),)?)*
            /// The links crossed by its first data segment, or by the first one after its last path change;
            /// empty if none arrived.
            pub path: Vec<LinkId>,
        }

        /// A row of `flows.parquet`, simulated or emulated; unknown values are `None`.
        #[derive(Clone, Debug)]
        pub struct FlowRow<'a> {
            /// The flow as planned.
            pub flow: Flow,
            $($(#[doc = $doc] pub $field: Option<$value>,)?)*
            /// The switches on its path, separated by spaces; empty if unknown.
            pub path: &'a str,
        }

        impl<'a> FlowRow<'a> {
            /// The row of a flow of which nothing else is known.
            pub const fn unknown(flow: Flow) -> Self {
                Self { flow, $($($field: None::<$value>,)?)* path: "" }
            }

            /// The row of a simulated flow; `path` is the switches on its path.
            pub fn new(record: &FlowRecord, path: &'a str) -> Self {
                Self { flow: record.flow, $($($field: record.$field.into(),)?)* path }
            }

            /// Its cells in a result of `plan`.
            pub fn cells<'b>(&'b self, plan: &'b Plan) -> [Cell<'b>; FLOWS.len()] {
                [$($(Cell::from(self.$field))? $({ let ($row, $plan) = (self, plan); Cell::from($cell) })?),*]
            }
        }
    };
}

columns! {
    /// number of the flow, the same under every scheme
    flow: (Int64) = |row, _| row.flow.id.0,
    /// host that sends
    src: (Text) = |row, plan| plan.fabric.host_name(row.flow.src),
    /// host that receives
    dst: (Text) = |row, plan| plan.fabric.host_name(row.flow.dst),
    /// source port of TCP or UDP
    sport: (Int32) = |row, _| row.flow.sport,
    /// destination port
    dport: (Int32) = |row, _| row.flow.dport,
    /// by size (`mouse`, `rabbit`, `elephant`) or as named in the scenario
    class: (Text) = |row, plan| plan.traffic.classes[usize::from(row.flow.class)].as_str(),
    /// DSCP of the flow's packets
    dscp: (Int32) = |row, _| row.flow.dscp,
    /// application bytes
    bytes: (Int64) = |row, _| row.flow.bytes,
    /// when the sender opened the connection
    start_ps: (Int64) = |row, _| row.flow.start,
    /// when the receiving application had the last byte
    end_ps: (Int64 or null) = end: Time,
    /// `end_ps - start_ps`
    fct_ps: (Int64 or null) = |row, _| row.end.map(|end| end.saturating_since(row.flow.start)),
    /// [ideal completion time](#slowdown)
    ideal_fct_ps: (Int64 or null) = ideal: Duration,
    /// counts: started in the measurement window, or is of a list, trace or collective and no window is given
    measured: (Bool) = |row, plan| row.is_measured(plan),
    /// links on a shortest path at the start; 0 if there was none
    hops: (Int32) = hops: u32,
    /// established subflows; 1 for plain TCP
    subflows: (Int32) = subflows: u32,
    /// data segments sent, including retransmissions
    packets_sent: (Int64) = packets_sent: u64,
    /// data segments retransmitted
    retransmissions: (Int64) = retransmissions: u64,
    /// retransmission timeouts
    timeouts: (Int64) = timeouts: u64,
    /// first transmissions that arrived behind a higher sequence number, summed over subflows
    out_of_order: (Int64) = out_of_order: u64,
    /// first transmissions that arrived
    first_transmissions_received: (Int64) = first_transmissions_received: u64,
    /// data segments dropped, also trimmed ones
    drops: (Int64) = drops: u64,
    /// data segments that arrived with a congestion mark
    ecn_marks: (Int64) = ecn_marks: u64,
    /// [mean one-way delay](#delay-and-jitter) of the packets that arrived; null if none did
    delay_ps: (Int64 or null) = delay: Duration,
    /// [mean difference](#delay-and-jitter) between the delays of consecutive packets; null below two packets
    jitter_ps: (Int64 or null) = jitter: Duration,
    /// time spent on address resolution, part of `fct_ps`
    resolution_ps: (Int64) = resolution: Duration,
    /// from the SYN (or Path Recovery Request) entering the fabric to the reply; null without exploration
    exploration_ps: (Int64 or null) = exploration: Duration,
    /// path changes, detected by an exploration or by a loss for lack of a path
    moves: (Int32) = moves: u32,
    /// switches of the first data segment after the start or last path change: `l0 s2 l1`
    path: (Text or null) = |row, _| Some(row.path).filter(|path| !path.is_empty()),
}

impl FlowRow<'_> {
    /// Whether it counts in means.
    pub fn is_measured(&self, plan: &Plan) -> bool {
        plan.measure.counts(self.flow.start, plan.traffic.arriving.has(self.flow.id))
    }
}
