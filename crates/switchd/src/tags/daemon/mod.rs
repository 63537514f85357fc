//! The daemon's part of the modes `tag-forward` and `flow-table`: gates and rules, which it writes to the kernel, and
//! frames for which there is no rule yet.

mod checksum;
mod flows;
mod gates;
pub(crate) mod http;
mod injector;
mod misses;
mod sending;
pub(crate) mod state;
mod steer;
mod waiting;
mod warnings;

pub use misses::watch;
pub use state::{Sizes, Tags, names_file};
pub use waiting::Fates;
