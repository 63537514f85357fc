//! `weftctl`: talks to a daemon over its control socket.

mod client;
mod show;

pub use client::{Client, ClientError};
pub use show::{event, table};
