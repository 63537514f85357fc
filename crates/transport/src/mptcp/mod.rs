//! Multipath TCP: one connection over several subflows, RFC 8684 (version 1) and RFC 6824 (version 0), without I/O.
//!
//! A [`Connection`] is one side. Each of its subflows is an [`Endpoint`](crate::Endpoint) with a handshake, windows, timers
//! and loss recovery of its own; the connection gives them data and puts together what they receive. A switch sees
//! ordinary segments with one [option](Options) each.
//!
//! # How to drive one
//! As an [`Endpoint`](crate::Endpoint), with three differences: a segment goes in and comes out with the number of its
//! subflow and with [`Options`] beside it; the connection asks for subflows to be opened; one call may let *other*
//! subflows send, which `poll_transmit` takes care of.
//!
//! ```text
//! let cfg = mptcp::Config::new(&transport)             // once a run; None: mptcp = "off"
//! let a = Connection::connect(&cfg, now, key, isn, Addresses { local, remote })
//! let b = Connection::listen(&cfg, key, isn)           // subflow 0 of both is the first
//!
//! after anything that happened to a connection, whatever it was:
//!     while let Some(subflow) = c.poll_transmit(&cfg, now, &mut segment, &mut options) {
//!         // a packet of subflow's addresses and ports, with segment and options
//!     }
//!     while let Some(new) = c.poll_open(&cfg, now, random) {      // the side that connected only
//!         // choose a source port; remember what new.subflow is; its SYN comes from poll_transmit, so drain again
//!     }
//!     // then arm one timer for c.next_timeout(); when it is due: c.on_timeout(&cfg, now)
//!
//! a packet arrives at subflow n of c:      c.on_segment(&cfg, n, now, &segment, &options)
//! the SYN of a join arrives at a host:     n = c.accept(&cfg, random), then as above
//! ```
//!
//! * Numbers of subflows are those of each side: a pair of endpoints is number `new.subflow` at the side that opened it
//!   and what [`Connection::accept`] gave at the other. `accept` may be called when the SYN arrives or as soon as the other
//!   side has opened the subflow; a subflow accepted for which no SYN comes does no harm.
//! * [`Connection::poll_transmit`] knows itself which subflows may have something: an ACK on one may open the window of the
//!   connection, and so free others. It costs nothing for subflows that nothing happened to.
//! * One timer a connection is enough: [`Connection::next_timeout`] is the earliest of all, and calling
//!   [`Connection::on_timeout`] early is harmless.
//! * What a random number is drawn for (`random`, keys, initial sequence numbers) may come from any stream; the connection
//!   draws none.
//! * Both sides use one [`Config`]. A side that the other does not answer with MP_CAPABLE falls back to TCP by itself:
//!   [`Connection::is_plain`]; the door stays the same, with subflow 0 only.
//! * [`Connection::is_closed`] is as [`Endpoint::is_closed`](crate::Endpoint::is_closed): both sides closed and no packet
//!   of theirs in the network, and the connection can go.
//!
//! # What lives where
//! * [`Connection`]: the door (`connection.rs`); what happens when a segment arrives (`arrival.rs`), in a handshake
//!   (`handshake.rs`), when one leaves (`transmission.rs`), when nothing comes (`failure.rs`).
//! * `sender.rs`, `receiver.rs`: the data of both directions; `subflow.rs`: what is kept for each subflow.
//! * [`Options`] (`options.rs`) and [`Config`] (`config.rs`); what follows from keys is [`weft_wire::mptcp`]'s.
//! * `scheduler.rs`: which subflow takes the next data; `path_manager.rs`: which subflows there are.
//! * `mapping.rs`: which bytes of a subflow are which of the data; `reassembly.rs`: what has arrived beyond a hole.
//!
//! Data is counted from 0 inside; data sequence numbers, which begin anywhere, are on segments only.
//!
//! Not modelled: ADD_ADDR and REMOVE_ADDR (both sides know the addresses), MP_PRIO, MP_FASTCLOSE, MP_FAIL and checksums but
//! for their bytes.

mod arrival;
mod config;
mod connection;
mod failure;
mod handshake;
mod mapping;
mod options;
mod path_manager;
mod reassembly;
mod receiver;
mod scheduler;
mod sender;
mod subflow;
mod transmission;

pub use config::Config;
pub use connection::{Connection, Stats};
pub use options::{Capable, Dss, Join, Options};
pub use path_manager::{Addresses, NewSubflow};

/// Most subflows of a connection.
pub const MAX_SUBFLOWS: usize = 32;
