//! Controllers with a small network of switches around them, what they say in OpenFlow (`southbound`), and the
//! provisioner of Tag-and-Forward.

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
mod southbound;
mod tag_forward;
mod talk;
