//! A result on disk: one directory with `flows.parquet`, `series.parquet`, `summary.json` and the
//! scenario, written under a temporary name and renamed when whole.

mod columns;
mod directory;
mod summary;

pub use directory::{ResultError, ResultWriter, is_temporary};
pub use summary::Summary;
