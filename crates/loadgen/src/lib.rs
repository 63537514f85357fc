//! The load generator: sends the flows of a [`Workload`] over real TCP sockets, with their ports, sizes
//! and times, and writes a [`Record`] of each.
//!
//! One single-threaded process drives all hosts on this machine, each in its network namespace if it
//! has one: [`Generator::open`] opens the listeners, [`Generator::run`] is the epoll loop. A flow's
//! times are defined as in the simulator: it starts when `connect` is called and ends when the
//! receiving application has the last byte.

mod clock;
mod connection;
mod error;
mod generator;
mod hosts;
mod lateness;
mod listeners;
mod namespace;
mod open_flow;
mod outcome;
mod progress;
mod record;
mod signals;
mod socket;
mod tcp_info;
mod token;
mod workload;

pub use clock::Clock;
pub use error::GeneratorError;
pub use generator::Generator;
pub use lateness::Lateness;
pub use namespace::enter;
pub use outcome::Outcome;
pub use progress::{Observer, Progress, Style};
pub use record::{Lines, Record, Sample};
pub use workload::{Flow, Host, Workload, WorkloadError};
