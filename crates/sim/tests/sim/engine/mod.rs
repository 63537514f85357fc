//! The engine from end to end: queues, paths, hosts, failures, as the engine reports them.

mod exploration;
mod failures;
mod healing;
mod hosts;
mod measures;
mod multipath;
mod paths;
mod queues;
mod restarts;
mod scenarios;
mod setup;
mod tag_forward;
mod trace;
