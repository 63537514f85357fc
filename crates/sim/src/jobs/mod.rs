//! The use of the time of jobs, once the run has ended: the steps of processors, the exposed communication of ranks,
//! and critical paths.

mod closing;
mod course;
mod critical_path;
mod exposure;
mod records;
mod ring_steps;

pub(crate) use closing::close;
pub(crate) use course::Course;
pub use course::FlowSpan;
pub use critical_path::PathSums;
pub use exposure::RankSums;
pub use records::{
    PATHS, Part, PathRecord, RANKS, RING_STEPS, RankRecord, RingStepRecord, WORKS, WorkRecord,
};
