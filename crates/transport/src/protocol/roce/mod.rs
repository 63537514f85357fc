//! RoCEv2 queue pairs: a [`Sender`] and a [`Receiver`] with go-back-N or selective repeat, and the sender's congestion
//! control, one file each: [`Dcqcn`], [`Hpcc`], [`Timely`] and [`Swift`].
//!
//! The model is that of conweave-ns3 (Song et al., SIGCOMM 2023), which continues the simulators of HPCC and DCQCN.
//! Packet sequence numbers count the packets of a flow from 0.

mod config;
mod control;
mod dcqcn;
mod hpcc;
mod path;
mod receiver;
mod sender;
mod swift;
mod telemetry;
mod timely;

pub use config::{Config, CongestionControl, LossRecovery};
pub use control::Control;
pub use dcqcn::Dcqcn;
pub use hpcc::{Hpcc, HpccConfig};
pub use path::{Feedback, Path};
pub use receiver::{Ack, AckKind, Data, Receiver};
pub use sender::Sender;
pub use swift::{Swift, SwiftConfig};
pub use telemetry::{Hop, Telemetry};
pub use timely::{Timely, TimelyConfig};
