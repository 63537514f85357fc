//! A result on disk: one directory with `flows.parquet`, `series.parquet`, `summary.json` and the
//! scenario, written under a temporary name and renamed when complete.

mod account;
mod directory;
mod document;
mod jobs;
mod links;
mod quantile;
mod steady;
mod summary;
mod table;
mod temporary;

pub use account::{Account, EventAccount, LinkAccount, LinkCounts, Packets};
pub use directory::{FILES, MORE_FILES, ResultError, ResultWriter};
pub(crate) use document::summary;
pub use steady::{ARRIVED, Growth, GrowthTest};
pub use summary::Summary;
pub use table::{Cell, Column, Kind};
pub use temporary::is_temporary;
pub(crate) use temporary::{Temporary, temporary_of};
