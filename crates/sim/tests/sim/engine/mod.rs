//! End-to-end tests of the engine: queues, paths, hosts, failures.

mod exploration;
mod failures;
mod growth;
mod healing;
mod hosts;
mod measures;
mod multipath;
mod paths;
mod queues;
mod restarts;
mod scenarios;
mod selectors;
mod setup;
mod tag_forward;
mod threads;
mod trace;
