//! `weftctl`: talks to a daemon over its control socket.

mod client;
mod show;
mod tag_commands;
mod tags;

pub use client::{Client, ClientError};
pub use show::{event, table};
pub use tag_commands::{Output, run};
pub use tags::{FLOW_HELP, GROUP_HELP, TagCommand};
