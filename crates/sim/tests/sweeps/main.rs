//! Results on disk: the same bytes whatever the number of threads, and whatever came between the
//! start of a sweep and its end.

mod determinism;
#[path = "../common/directory.rs"]
mod directory;
mod emulated;
mod interruption;
mod sweep;
