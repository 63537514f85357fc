//! Results on disk: the same bytes whatever the number of threads, and whatever came between the
//! start of a sweep and its end.

mod determinism;
mod emulated;
mod interruption;
mod sweep;
mod window;
