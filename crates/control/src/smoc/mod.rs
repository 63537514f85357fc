//! [`Smoc`]: each subflow of an MPTCP connection on its own path.
//!
//! After C. Nakasan and others, "A Simple Multipath OpenFlow Controller using topology-based algorithm for
//! Multipath TCP", extended with both versions of MPTCP, protection against untrusted hosts, and a small
//! number of rules: see `docs/smoc.md`.
//!
//! [`tcp`] handles segments that open flows, [`handshake`] the copies of later ones, [`place`] chooses paths,
//! [`install`] requests rules; [`plain`] and [`neighbours`] handle everything but TCP; [`failure`] handles
//! links and switches that come and go.

mod admission;
mod events;
mod failure;
mod handshake;
mod install;
mod neighbours;
mod place;
mod plain;
mod progress;
mod reconcile;
mod removal;
mod resume;
mod resume_flow;
mod rules;
mod show;
mod spread;
mod state;
mod table;
mod take_over;
mod target;
mod tcp;

pub use state::Smoc;
