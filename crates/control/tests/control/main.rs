//! Controllers in a small network of model switches, their OpenFlow messages (`southbound`), and the Tag-and-Forward
//! provisioner.

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
mod second_set;
mod shares;
mod southbound;
mod tag_forward;
mod talk;
