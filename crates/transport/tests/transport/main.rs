//! Integration tests: single transitions, whole transfers, comparison with traces and theory.

mod common;
mod congestion;
mod dcqcn;
mod kernel;
mod multipath;
mod multipath_captures;
mod multipath_handshake;
mod multipath_properties;
mod multipath_theory;
mod ns3_traces;
mod pacing;
mod page;
mod properties;
mod queue_pairs;
mod slow_links;
mod slow_start;
mod snapshot;
mod transfer;
mod transitions;
mod ultra_ethernet;
