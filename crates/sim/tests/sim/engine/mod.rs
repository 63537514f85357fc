//! End-to-end tests of the engine: queues, paths, hosts, failures.

mod balancing;
mod degraded;
mod delays;
mod dependencies;
mod exploration;
mod failures;
mod growth;
mod healing;
mod holding;
mod hosts;
mod measures;
mod multipath;
mod overlay;
mod paths;
mod queues;
mod restarts;
mod rounds;
mod scenarios;
mod selectors;
mod served_ports;
mod setup;
mod tag_forward;
mod threads;
mod trace;
mod ultra_ethernet;
mod why;
