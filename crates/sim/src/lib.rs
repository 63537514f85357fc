//! The discrete-event engine.
//!
//! A packet's life: a host's [`host::Side`] builds it from a TCP segment, [`network::Network`] queues
//! it on a [`link::Link`], the [`event_queue::EventQueue`] schedules its arrival at the far end, the
//! [`engine::Engine`] passes its header to the switch there and the packet to the next link, until
//! a host receives it. Results are reported through [`record::Recorder`].

mod act;
pub mod bench;
mod central;
mod class_queue;
pub mod emulated;
pub mod engine;
pub mod event_queue;
pub mod explore;
pub mod fault;
pub mod host;
pub mod ideal;
pub mod link;
mod multipath;
pub mod network;
mod observe;
pub mod packet;
pub mod probe;
pub mod record;
mod resolver;
pub mod results;
pub mod run;
pub mod sweep;
pub mod trace;
mod transmit;
mod window;
