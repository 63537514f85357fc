//! Multipath TCP: one connection over several subflows, RFC 8684 (version 1) and RFC 6824 (version 0), without I/O.
//!
//! A [`Connection`] is one side. Each of its subflows is an [`Endpoint`](crate::Endpoint) with its own handshake,
//! windows, timers and loss recovery; the connection assigns data to them and reassembles the received data. A switch
//! sees ordinary segments with one [option](Options) each.
//!
//! # Usage
//! Like an [`Endpoint`](crate::Endpoint), with three differences: each segment is passed with its subflow's number and
//! its [`Options`]; the connection requests new subflows; one call may allow *other* subflows to send, which
//! `poll_transmit` handles.
//!
//! ```text
//! let cfg = mptcp::Config::new(&transport)             // once per run; None: mptcp = "off"
//! let a = Connection::connect(&cfg, now, key, isn, Addresses { local, remote })
//! let b = Connection::listen(&cfg, key, isn)           // subflow 0 of both is the first
//!
//! after every call that changes a connection:
//!     while let Some(subflow) = c.poll_transmit(&cfg, now, &mut segment, &mut options) {
//!         // a packet with the subflow's addresses and ports, and with segment and options
//!     }
//!     while let Some(new) = c.poll_open(&cfg, now, random) {      // only on the side that connected
//!         // choose a source port; remember the number new.subflow; its SYN comes from poll_transmit, so drain again
//!     }
//!     // then arm one timer for c.next_timeout(); when it is due: c.on_timeout(&cfg, now)
//!
//! a packet arrives at subflow n of c:      c.on_segment(&cfg, n, now, &segment, &options)
//! the SYN of a join arrives at a host:     n = c.accept(&cfg, local, random), then as above
//! ```
//!
//! * Each side numbers its subflows itself: a subflow is number `new.subflow` on the side that opened it, and the
//!   number that [`Connection::accept`] returned on the other. Call `accept` when the SYN arrives or as soon as the
//!   other side has opened the subflow; an accepted subflow whose SYN never arrives is harmless.
//! * [`Connection::poll_transmit`] tracks which subflows may have something to send: an ACK on one may open the
//!   connection's window and so release others. Unaffected subflows cost nothing.
//! * One timer per connection is enough: [`Connection::next_timeout`] is the earliest of all, and calling
//!   [`Connection::on_timeout`] early is harmless.
//! * The caller provides all random numbers (`random`, keys, initial sequence numbers), from any source.
//! * Both sides use the same [`Config`]. A side that receives no MP_CAPABLE in reply falls back to TCP
//!   ([`Connection::is_plain`]); its interface stays the same, with subflow 0 only.
//! * [`Connection::is_closed`] is like [`Endpoint::is_closed`](crate::Endpoint::is_closed): once both sides are
//!   closed and none of their packets is in the network, the connection can be removed.
//!
//! # Files
//! * [`Connection`]: public interface (`connection.rs`), segment arrival (`arrival.rs`, `delivery.rs`), handshakes
//!   (`handshake.rs`, `keys.rs`), transmission (`transmission.rs`), timeouts and failures (`failure.rs`), coupled congestion
//!   control (`coupling.rs`).
//! * `sender.rs`, `receiver.rs`: the data of each direction; `subflow.rs`: the state of each subflow.
//! * `machine.rs`: a connection as a [`Machine`](crate::Machine), which exchanges [`Packet`]s.
//! * [`Options`] (`options.rs`) and [`Config`] (`config.rs`); tokens and HMACs are in [`weft_wire::mptcp`].
//! * `scheduler.rs`: which subflow sends the next data; `path_manager.rs`: which subflows to open.
//! * `mapping.rs`: maps subflow bytes to data; `reassembly.rs`: data received beyond a hole.
//!
//! Internally, data is counted from 0; data sequence numbers, which start anywhere, appear only on segments.
//!
//! Not modelled: ADD_ADDR and REMOVE_ADDR (both sides know the addresses), MP_PRIO, MP_FASTCLOSE, MP_FAIL and checksums
//! (except for their bytes).

mod arrival;
mod config;
mod connection;
mod coupling;
mod delivery;
mod failure;
mod handshake;
mod keys;
mod machine;
mod mapping;
mod options;
mod path_manager;
mod reassembly;
mod receiver;
mod scheduler;
mod sender;
pub(crate) mod stats;
mod subflow;
mod transmission;

pub use config::Config;
pub use connection::Connection;
pub use machine::Packet;
pub use options::{Capable, Dss, Join, Options};
pub use path_manager::{Addresses, MAX_SUBFLOWS, NewSubflow};
pub use stats::Stats;
