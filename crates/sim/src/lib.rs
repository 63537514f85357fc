//! The discrete-event engine.
//!
//! [`engine::run`] divides the fabric into partitions, each with its own links, switches, hosts and events, and lets
//! threads work through windows of time. A packet's life: a host builds it from a TCP segment,
//! [`network::Network`] queues it on a [`link::Links`] link, the [`event_queue::EventQueue`] schedules its arrival
//! at the far end, the partition shows its header to the switch there and passes the packet on to the next link, until
//! a host receives it. Results are reported through [`record::Recorder`].

mod accounts;
pub mod active;
pub mod bench;
mod bench_cases;
pub mod capture;
mod central;
mod charge;
mod class_queue;
pub mod columns;
mod conductor;
mod control_message;
pub mod deadlock;
mod delays;
mod deposit;
pub mod division;
mod effects;
pub mod emulated;
pub mod engine;
pub mod estimate;
pub mod event_queue;
pub mod explore;
pub mod fabric_json;
pub mod fault;
pub mod fleet;
pub mod flow_choice;
mod flow_ledger;
mod frame_reports;
mod framings;
mod free_cores;
mod gray;
mod held;
mod hosts;
mod huge;
pub mod ideal;
pub mod jobs;
mod joining;
pub mod journal;
pub mod line;
pub mod link;
mod link_state;
pub mod loads;
mod memory;
pub mod module;
pub mod network;
pub mod origin;
pub mod packet;
mod part_arrivals;
mod partition;
mod partition_set;
mod pfc;
mod ports;
mod prefetch;
pub mod probe;
pub mod record;
mod red;
mod resolver;
pub mod results;
mod ring_path;
mod room;
pub mod rounds;
pub mod run;
pub mod sample;
pub mod served_port;
mod setup;
mod shared_buffer;
mod shown;
pub mod single;
mod solo;
pub mod sweep;
pub mod sweep_directory;
pub mod sweep_error;
mod switches;
mod timer;
mod timer_heap;
pub mod trace;
mod turns;
mod waiting;
pub mod why;
mod window;
mod works;
