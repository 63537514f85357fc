//! `weftctl`: the client of a daemon's control socket.

mod capture;
mod client;
mod packets;
mod show;

pub use crate::tags::client::{Output, run};
pub use crate::tags::command::{FLOW_HELP, GROUP_HELP, TagCommand};
pub use capture::{CaptureArgs, capture};
pub use client::{Client, ClientError};
pub use show::{event, table};
