//! The configuration of a switch: a TOML file, overridden by command-line flags. Keys, defaults and units are in
//! docs/switchd.md.

pub mod diagnostic;
mod exploration;
mod read;
mod routes;
mod switch_config;
pub(crate) mod table;

pub use read::{ConfigError, Flags};
pub use routes::Route;
pub use switch_config::{Access, Config, MOST_KEYS, SHORTEST_KEY};
