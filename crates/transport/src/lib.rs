//! Transport protocols without I/O.
//!
//! * [`Protocol`]: one of them with its parameters (`protocol/`), and its properties, which follow from these
//!   (`protocol_config.rs`, `parameters.rs`, `framing.rs`).
//! * [`Machine`]: one end of a connection, whatever its protocol (`machine.rs`); [`OneWay`]: one on which only one side
//!   sends data (`one_way.rs`).
//! * TCP: the files of this folder, described below; the others have a folder each in `protocol/`.
//!
//! # TCP
//!
//! An [`Endpoint`] is one side of a connection. Segments and times go in, segments and deadlines come
//! out; there is no clock, no socket and no payload: application data is a number of bytes. The
//! caller owns the network and the time, so the same endpoint runs in the simulator, in tests that
//! jump through virtual time, and anywhere else.
//!
//! * [`Segment`]: a TCP header without its bytes (`segment.rs`).
//! * [`Config`]: every parameter by name (`config.rs`), fixed together by a profile (`profile.rs`).
//! * The two halves know nothing of each other. Receiver: `receiver.rs`, `reassembly.rs`, `acknowledgement.rs`.
//!   Sender: `sender.rs`, `samples.rs`, `pacing.rs`, `small_queue.rs`, `departures.rs`; the scoreboard of sent segments
//!   is in `sent/`, loss recovery in `recovery/`, one file per algorithm.
//! * [`Endpoint`]: the state of one side (`endpoint.rs`), which opens and closes (`handshake.rs`); segments in
//!   (`connection.rs`) and out (`transmission.rs`), and timers (`timeouts.rs`).
//! * Congestion control: `congestion/`, one file per controller.
//! * [`mptcp`]: one connection over several endpoints.
//!
//! # Usage rules
//! * After each [`Endpoint::on_segment`], [`Endpoint::on_timeout`], [`Endpoint::write`] and
//!   [`Endpoint::close`], and after [`Endpoint::connect`], call [`Endpoint::poll_transmit`] until it
//!   returns `false`; then schedule [`Endpoint::next_timeout`]. With `small_queues`, also call [`Endpoint::leaves_at`]
//!   for each segment with data, and call [`Endpoint::poll_transmit`] again at [`Endpoint::held_until`].
//! * Both ends of a connection, and all calls to them, use the same [`Config`].
//! * Nothing panics, whatever a segment contains.

mod acknowledgement;
pub mod arrivals;
mod config;
mod congestion;
mod connection;
mod departures;
mod endpoint;
mod framing;
mod handshake;
mod machine;
pub mod mptcp;
mod news;
mod one_way;
mod pacing;
mod parameters;
pub mod profile;
mod protocol;
mod protocol_config;
mod reassembly;
mod receiver;
mod recovery;
mod rtt;
mod samples;
mod segment;
mod send_order;
mod sender;
mod sent;
mod sent_segment;
mod seq;
mod small_queue;
mod stats;
mod tick;
mod timeouts;
mod timestamp;
mod todo;
mod transmission;

pub use config::{
    Config, EcnMode, LossRecovery, Mptcp, MptcpScheduler, RtoFloor, RtoVariance, RttSource, TimestampClock,
};
pub use congestion::hystart::Mode as HyStart;
pub use congestion::{
    Ack, Cause, Code, CongestionControl, ControllerInfo, CustomController, Delivered, Duplicate,
    MptcpCongestion, PacingRate, Settings, Timeout, Window, WindowGrowth,
};
pub use endpoint::{Endpoint, State};
pub use framing::Framing;
pub use machine::{Arrival, Machine};
pub use one_way::{OneWay, Packet, Receiving, Sending};
pub use parameters::ConfigError;
pub use protocol::*;
pub use protocol_config::{FirstWindow, FixedTimeout, Idle, PathChoice, ProtocolConfig, Step, WithoutEcn};
pub use segment::{Ecn, Flags, IP_HEADER, Segment, TCP_HEADER};
pub use stats::Stats;
