//! Results on disk: the same bytes whatever the number of threads, and whatever interrupts the sweep.

mod determinism;
mod document;
mod emulated;
mod interruption;
mod single;
mod steady;
mod sweep;
mod window;
