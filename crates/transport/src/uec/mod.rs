//! Ultra Ethernet transport without I/O: reliable delivery over many paths, out of order.
//!
//! * [`Sender`]: packets by number, retransmissions, the window (`sender.rs`); [`Receiver`]: which have arrived, and the
//!   answers (`receiver.rs`). Both exchange [`Data`] and [`Answer`] (`packet.rs`).
//! * Congestion control: `window.rs`, `nscc.rs`. Choice of paths: `entropy/`, one file per method.
//! * [`Config`]: the parameters of both sides (`config.rs`).
//!
//! Nothing here reads a clock, and random numbers come from a seed, so that a connection gives the same packets for the
//! same inputs. Nothing panics, whatever a packet contains.

mod config;
mod entropy;
mod nscc;
mod packet;
mod receiver;
mod sender;
mod signal;
mod window;

pub use config::{Config, Congestion};
pub use entropy::EntropyChoice;
pub use packet::{Answer, Data};
pub use receiver::Receiver;
pub use sender::Sender;
