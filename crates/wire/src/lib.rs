//! Parsing and writing of headers.
//!
//! This crate parses ordinary frames for switches ([`Ethernet`], [`Arp`], [`Ip`], [`Neighbor`], [`TcpFrame`],
//! [`Udp`]), TCP options for controllers ([`TcpOption`], [`mptcp`]), and the two protocols between Weft's
//! switches: [`Hello`] with [`Probe`], and Path frames ([`PathHeader`], [`wrap`], [`unwrap`]). `docs/wire-format.md` specifies
//! those two for other implementations; `vectors.json` in this crate has test frames, `captures.json` Multipath
//! TCP connections. [`openflow`] has the messages between a controller and its switches.
//!
//! Each file has the same order: a view of validated bytes, its content as a value, writing, tests. A view
//! borrows the frame and copies nothing; writing goes into the caller's buffer. Parsing bytes from a network
//! never panics: the lints below deny indexing that could.

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
mod checksum;
mod echo;
mod error;
mod ether_type;
mod ethernet;
mod frame;
mod hello;
mod icmpv6;
mod ip;
mod ip_common;
mod ipv4;
mod ipv6;
mod key;
mod mac;
pub mod mptcp;
pub mod openflow;
mod path;
mod path_type;
mod probe;
mod reach;
mod signed;
mod switch_id;
mod tag;
mod tcp;
mod tcp_flags;
mod tcp_option;
mod tuple;
mod udp;
mod writer;

pub use arp::{Arp, ArpOperation};
pub use checksum::checksum;
pub use echo::Echo;
pub use error::Error;
pub use ether_type::EtherType;
pub use ethernet::{Ethernet, MIN_FRAME, VlanTag};
pub use frame::TcpFrame;
pub use hello::{Hello, HelloFrame};
pub use icmpv6::{Neighbor, NeighborOperation};
pub use ip::Ip;
pub use ip_common::IpProtocol;
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use key::{Key, SIGNATURE_LEN};
pub use mac::{Mac, MalformedMac};
pub use path::{PATH_HEADER_LEN, PathFrame, PathHeader, count_hop, unwrap, wrap};
pub use path_type::PathType;
pub use probe::{Probe, ProbeFrame};
pub use reach::{MacRange, Reach};
pub use switch_id::SwitchId;
pub use tag::{TAG_LEN, Tag, TagWidth, TaggedFrame, UnknownWidth, pop_tag, push_tag};
pub use tcp::Tcp;
pub use tcp_flags::TcpFlags;
pub use tcp_option::{MalformedOption, SackBlocks, TcpOption, TcpOptions};
pub use tuple::Tuple;
pub use udp::Udp;
