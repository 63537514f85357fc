//! RoCEv2 queue pairs: a [`Sender`] and a [`Receiver`] with go-back-N or selective repeat, and the sender's rate
//! control, [`Dcqcn`].
//!
//! The model is that of conweave-ns3 (Song et al., SIGCOMM 2023), which continues the simulators of HPCC and DCQCN.
//! Packet sequence numbers count the packets of a flow from 0.

mod config;
mod dcqcn;
mod receiver;
mod sender;

pub use config::{Config, CongestionControl, LossRecovery};
pub use dcqcn::Dcqcn;
pub use receiver::{Ack, AckKind, Data, Receiver};
pub use sender::Sender;
