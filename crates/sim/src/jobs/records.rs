//! The tables beside `flows.parquet` of a run with jobs: the steps of processors, the time of each rank, and the critical
//! path of each job. From their declarations come files, Python's layout and the lists in docs/results.md.

use weft_scenario::Plan;
use weft_traffic::Processor;
use weft_units::{Duration, HostId, Time};

use crate::columns::column;
use crate::results::{Cell, Column, Kind};

/// Declares the columns of a table, each with its name, its type, and its value from a record and a plan.
macro_rules! table {
    ($columns:ident of $record:ident: $(
        #[doc = $doc:literal]
        $name:ident: $kind:tt = |$row:pat_param, $plan:pat_param| $cell:expr,
    )*) => {
        #[doc = concat!("The columns of a table of [`", stringify!($record), "`].")]
        pub const $columns: &[Column] = &[$(column!($name $kind $doc)),*];

        impl $record {
            /// Its cells in a result of `plan`.
            pub fn cells<'a>(&'a self, plan: &'a Plan) -> [Cell<'a>; $columns.len()] {
                [$({ let ($row, $plan) = (self, plan); Cell::from($cell) }),*]
            }
        }
    };
}

/// A step of a processor that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkRecord {
    /// Its number.
    pub step: u32,
    /// The index of its job.
    pub job: Option<usize>,
    /// Its host.
    pub host: HostId,
    /// The number of the processor.
    pub processor: u32,
    /// The kind of the processor.
    pub kind: Processor,
    /// When everything was done that it waited for.
    pub ready: Time,
    /// When its processor began it.
    pub start: Time,
    /// When its processor was done with it, if that was before the run ended.
    pub end: Option<Time>,
}

table! { WORKS of WorkRecord:
    /// number of the step, the same under every scheme
    step: (Int64) = |row, _| row.step,
    /// place of its job in `collectives` of summary.json, from 0
    job: (Int64 or null) = |row, _| row.job.map(|job| job as u64),
    /// host of the processor
    host: (Text) = |row, plan| plan.fabric.host_name(row.host),
    /// number of the processor
    processor: (Int32) = |row, _| row.processor,
    /// `compute`, `host` (CPU beside an accelerator) or `interface`
    kind: (Text) = |row, _| row.kind.name(),
    /// when all was done that it waited for
    ready_ps: (Int64) = |row, _| row.ready,
    /// when the processor began it
    start_ps: (Int64) = |row, _| row.start,
    /// when the processor was done with it; null if the run ended before
    end_ps: (Int64 or null) = |row, _| row.end,
}

/// The time of a rank in a job: the parts add up to the job's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankRecord {
    /// The index of the job.
    pub job: usize,
    /// The rank's host.
    pub host: HostId,
    /// Time in which one of its processors computes.
    pub compute: Duration,
    /// Time in which none does, and a flow from or to it is under way.
    pub exposed: Duration,
    /// The rest.
    pub idle: Duration,
}

table! { RANKS of RankRecord:
    /// place of the job in `collectives` of summary.json, from 0
    job: (Int64) = |row, _| row.job as u64,
    /// host of the rank
    host: (Text) = |row, plan| plan.fabric.host_name(row.host),
    /// time in which a processor of it computes
    compute_ps: (Int64) = |row, _| row.compute,
    /// [exposed communication](#where-a-steps-time-went): none computes, and a flow from or to it is under way
    exposed_ps: (Int64) = |row, _| row.exposed,
    /// the rest of the job's time
    idle_ps: (Int64) = |row, _| row.idle,
}

/// A step of a ring in parts: a part from one rank to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingStepRecord {
    /// The index of the job.
    pub job: Option<usize>,
    /// The flow.
    pub flow: u32,
    /// The rank that sends.
    pub host: HostId,
    /// The number of the step, from 1.
    pub step: u32,
    /// Bytes of the part.
    pub bytes: u64,
    /// When the rank could send it, if that is known.
    pub start: Option<Time>,
    /// When the next rank had it.
    pub end: Time,
}

table! { RING_STEPS of RingStepRecord:
    /// place of the job in `collectives` of summary.json, from 0
    job: (Int64 or null) = |row, _| row.job.map(|job| job as u64),
    /// number of the flow
    flow: (Int64) = |row, _| row.flow,
    /// host that sends
    host: (Text) = |row, plan| plan.fabric.host_name(row.host),
    /// number of the step within its phase, from 1
    step: (Int32) = |row, _| row.step,
    /// bytes of the part
    bytes: (Int64) = |row, _| row.bytes,
    /// when the host had the part of the step before and had computed, so that it could send this one; null if that is not recorded
    start_ps: (Int64 or null) = |row, _| row.start,
    /// when the next rank had all of it
    end_ps: (Int64) = |row, _| row.end,
}

/// A part of the critical path of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathRecord {
    /// The index of the job.
    pub job: usize,
    /// The use of its time.
    pub part: Part,
    /// The host: of a flow, its source.
    pub host: Option<HostId>,
    /// The flow.
    pub flow: Option<u32>,
    /// The step of a processor.
    pub step: Option<u32>,
    /// Its begin.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

table! { PATHS of PathRecord:
    /// place of the job in `collectives` of summary.json, from 0
    job: (Int64) = |row, _| row.job as u64,
    /// [the use of the time](#where-a-steps-time-went)
    part: (Text) = |row, _| row.part.name(),
    /// host of the step, or source of the flow
    host: (Text or null) = |row, plan| row.host.map(|host| plan.fabric.host_name(host)),
    /// number of the flow
    flow: (Int64 or null) = |row, _| row.flow,
    /// number of the processor's step, as in `work.parquet`
    step: (Int64 or null) = |row, _| row.step,
    /// begin of the part
    start_ps: (Int64) = |row, _| row.start,
    /// its end, the begin of the next one
    end_ps: (Int64) = |row, _| row.end,
}

/// Declares the parts of a critical path.
macro_rules! parts {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)*) => {
        /// The use of the time of a part of a critical path.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Part { $($(#[doc = $doc])+ $variant,)* }

        impl Part {
            /// All.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

parts! {
    /// A step of a processor, other than an interface.
    Compute = "compute",
    /// A delay between two nodes, such as `compute` of a collective.
    Delay = "delay",
    /// A flow, for as long as it takes alone on an idle fabric; an interface that sends; the news of a flow's end on
    /// its way to another host.
    Network = "network",
    /// A flow, for the time that it takes longer.
    Queueing = "queueing",
    /// From a flow's last byte to its acknowledgement.
    Acknowledgement = "acknowledgement",
    /// From the start of the job to the start of the first node of the path, which waits only for its own time.
    Start = "delayed_start",
}
