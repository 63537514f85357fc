//! Bytes to headers and back.
//!
//! What switches read of ordinary frames ([`Ethernet`], [`Arp`], [`Ip`], [`Neighbor`], [`TcpFrame`],
//! [`Udp`]), what controllers read of TCP's options ([`TcpOption`], [`mptcp`]), and the two protocols that
//! Weft's switches speak among themselves: [`Hello`] and Path frames ([`PathHeader`], [`wrap`], [`unwrap`]).
//! `docs/wire-format.md` describes those two so that others can speak them; `vectors.json` beside this crate
//! has frames to try it with, `captures.json` connections of Multipath TCP. [`openflow`] has the messages between
//! a controller and its switches.
//!
//! Each file reads in one order: a view of bytes that were checked once, what it says as a value, how that is
//! written, tests. A view borrows the frame and copies nothing; writing goes into the caller's buffer.
//! Reading bytes from a network never panics: indexing that could is refused by the lints below.

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

mod arp;
mod error;
mod ethernet;
mod frame;
mod hello;
mod icmpv6;
mod ip;
mod ipv4;
mod ipv6;
mod key;
mod mac;
pub mod mptcp;
pub mod openflow;
mod path;
mod tag;
mod tcp;
mod tcp_option;
mod tuple;
mod udp;
mod writer;

pub use arp::{Arp, ArpOperation};
pub use error::Error;
pub use ethernet::{EtherType, Ethernet, MIN_FRAME, VlanTag};
pub use frame::TcpFrame;
pub use hello::{Hello, HelloFrame, SwitchId};
pub use icmpv6::{Neighbor, NeighborOperation};
pub use ip::{Ip, IpProtocol};
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use key::{Key, SIGNATURE_LEN};
pub use mac::{Mac, MalformedMac};
pub use path::{PATH_HEADER_LEN, PathFrame, PathHeader, PathType, count_hop, unwrap, wrap};
pub use tag::{TAG_LEN, Tag, TagWidth, TaggedFrame, UnknownWidth, pop_tag, push_tag};
pub use tcp::{Tcp, TcpFlags};
pub use tcp_option::{MalformedOption, SackBlocks, TcpOption, TcpOptions};
pub use tuple::Tuple;
pub use udp::Udp;
