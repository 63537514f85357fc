//! The load generator over real sockets: on loopback, and between hosts in network namespaces.

mod common;
mod hosts;
mod loopback;
mod namespaces;
mod pktgen;
mod workload;
