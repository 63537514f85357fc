//! The configuration of a switch: a TOML file, overridden by command-line flags. Keys, defaults and units are in
//! docs/switchd.md.

pub mod diagnostic;
mod exploration;
mod keys;
mod leaves;
#[cfg(test)]
mod page;
mod read;
mod routes;
mod switch;
pub(crate) mod table;

pub use keys::{MOST_KEYS, SHORTEST_KEY};
pub use read::{ConfigError, Flags};
pub use routes::Route;
pub use switch::{Access, Config};
