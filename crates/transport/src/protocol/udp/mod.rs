//! Datagrams: a [`Source`] that sends at a rate, constantly or on and off, and a [`Sink`] that counts.

mod config;
mod sink;
mod source;

pub use config::{Config, Pattern};
pub use sink::Sink;
pub use source::{Datagram, Source};
