//! Controllers with a small network of switches around them.

mod cases;
mod failures;
mod hostile;
mod net;
mod plain;
mod properties;
mod talk;
