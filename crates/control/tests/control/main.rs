//! Controllers with a small network of switches around them.

mod cases;
mod net;
mod talk;
