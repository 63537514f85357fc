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
pub use receiver::Receiver;
pub use sender::Sender;

/// A data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Its sequence number.
    pub psn: u32,
    /// Bytes of payload.
    pub payload: u16,
    /// Whether the sender needs an acknowledgement at once.
    pub asks: bool,
    /// Whether it was sent before. For bookkeeping only; not part of a header.
    pub is_repeated: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// All packets below this number have arrived.
    pub next: u32,
    /// What else it says.
    pub kind: AckKind,
    /// Whether it notifies of congestion.
    pub is_cnp: bool,
}

/// The kinds of acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckKind {
    /// Nothing.
    Plain,
    /// A packet is missing.
    Nack,
    /// A packet is missing, and this one has arrived.
    Selective(u32),
}
