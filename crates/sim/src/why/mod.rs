//! Why a flow took as long as it did: its packets are recorded in a repeated run, and the time from its start to its end
//! is divided among the causes, along the chain of packets that led to the last byte.

mod connection;
mod explanation;
mod json;
mod path;
mod recording;
mod split;

pub use connection::{Connection, Direction, Fate, Hop, Journey, Loss, PacketType};
pub use explanation::{Explanation, WhyError, explain};
pub use path::Sums;
pub use split::{Cause, Part};
