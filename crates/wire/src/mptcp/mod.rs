//! Multipath TCP of both versions (RFC 6824, version 0; RFC 8684, version 1): its [`Option`] in each form, what
//! follows from a connection's keys ([`Key`], [`Token`]), and what proves that a join belongs to it
//! ([`join_hmac`]).
//!
//! Only [`Capable`] says its version. All other options either look the same in both or are told apart by
//! their bytes, so that none needs to be read with a connection at hand: [`Handshake::read`] does for whoever
//! only wants to know which connection a segment opens or joins.

mod address;
mod capable;
mod dss;
mod handshake;
mod join;
mod key;
mod notice;
mod option;
mod proof;

pub use address::{AddAddr, Announcement, RemoveAddr};
pub use capable::{Capable, CapableFlags, FirstData, Keys};
pub use dss::{DataSequence, Dss, Mapping};
pub use handshake::Handshake;
pub use join::Join;
pub use key::{Key, Token, Version};
pub use notice::{Fail, FastClose, Priority, Reset};
pub use option::Option;
pub use proof::{Party, add_addr_hmac, join_hmac};
