//! TCP and Multipath TCP from outside: by transition, by whole transfers, against traces and theory.

mod common;
mod multipath;
mod multipath_captures;
mod multipath_handshake;
mod multipath_properties;
mod multipath_theory;
mod ns3_traces;
mod properties;
mod snapshot;
mod transfer;
mod transitions;
