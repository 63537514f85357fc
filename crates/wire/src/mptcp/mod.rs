//! Multipath TCP, versions 0 (RFC 6824) and 1 (RFC 8684): its [`Option`] in each form, values derived from
//! a connection's keys ([`Key`], [`Token`]), and the proof that a join belongs to it ([`join_hmac`]).
//!
//! Only [`Capable`] has a version. All other options are either the same in both or can be distinguished by
//! their bytes, so that none needs the connection's state to be parsed. [`Handshake::read`] only returns
//! the connection that a segment opens or joins.

mod address;
mod capable;
mod dss;
mod handshake;
mod join;
mod key;
mod length;
mod notice;
pub(crate) mod option;
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
