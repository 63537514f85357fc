//! Controllers with a small network of switches around them.

mod captures;
mod cases;
mod conformance;
mod defence;
mod defence_resume;
mod failures;
mod flood;
mod hostile;
mod model;
mod neighbours;
mod net;
mod overlap;
mod plain;
mod properties;
mod resume;
mod shares;
mod talk;
