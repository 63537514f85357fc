//! ADD_ADDR and REMOVE_ADDR: announce and withdraw further addresses of an end (RFC 6824 and RFC 8684,
//! section 3.4).
//!
//! ADD_ADDR differs between the versions, but can be parsed without knowing the connection's: version 0 has 4
//! or 6 where version 1 has flags, of which only the lowest is used, and an announcement of version 1 is
//! longer by its HMAC.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::length::length_error;
use super::{Key, proof};
use crate::Error;
use crate::writer::Writer;

/// The kind of an ADD_ADDR, which depends on the version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Announcement {
    /// An announcement of version 0.
    Unsigned,
    /// An announcement of version 1, with the last 8 bytes of an HMAC.
    Signed([u8; 8]),
    /// An acknowledgement of the receiver's announcement, in version 1.
    Echo,
}

/// ADD_ADDR.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AddAddr {
    /// The id of the address, used to remove it.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, if not that of the first subflow.
    pub port: Option<u16>,
    /// The kind of announcement.
    pub announcement: Announcement,
}

impl AddAddr {
    /// Whether the HMAC is that of the sending end, with the key `sender`, for the end with the key
    /// `receiver` ([`add_addr_hmac`](super::add_addr_hmac)). Only announcements of version 1 have one.
    pub fn verify(&self, sender: Key, receiver: Key) -> bool {
        match self.announcement {
            Announcement::Unsigned | Announcement::Echo => false,
            Announcement::Signed(hmac) => {
                proof::verify_add_addr(sender, receiver, self.address_id, self.address, self.port, hmac)
            }
        }
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let wrong = || length_error("ADD_ADDR", data.len());
        let (&[first, address_id], rest) = data.split_first_chunk().ok_or(wrong())?;
        // The content by length after the id: an address, maybe a port, maybe an HMAC.
        let is_v4 = matches!(rest.len(), 4 | 6 | 12 | 14);
        let (address, rest) = if is_v4 {
            let (&address, rest) = rest.split_first_chunk().ok_or(wrong())?;
            (IpAddr::V4(Ipv4Addr::from(address)), rest)
        } else {
            let (&address, rest) = rest.split_first_chunk().ok_or(wrong())?;
            (IpAddr::V6(Ipv6Addr::from(address)), rest)
        };
        let (port, rest) = match *rest {
            [a, b] => (Some(u16::from_be_bytes([a, b])), &[][..]),
            [a, b, ref rest @ ..] if rest.len() == 8 => (Some(u16::from_be_bytes([a, b])), rest),
            _ => (None, rest),
        };
        let announcement = match (first & 0x0f, is_v4, rest) {
            (4, true, []) | (6, false, []) => Announcement::Unsigned,
            (flags, _, []) if flags & ECHO != 0 => Announcement::Echo,
            (flags, _, hmac) if flags & ECHO == 0 => match hmac.try_into() {
                Ok(hmac) => Announcement::Signed(hmac),
                Err(_) => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        Ok(Self { address_id, address, port, announcement })
    }

    pub(super) fn len(&self) -> usize {
        let address = if self.address.is_ipv4() { 4 } else { 16 };
        let hmac = if matches!(self.announcement, Announcement::Signed(_)) { 8 } else { 0 };
        4 + address + self.port.map_or(0, |_| 2) + hmac
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let low = match self.announcement {
            Announcement::Unsigned if self.address.is_ipv4() => 4,
            Announcement::Unsigned => 6,
            Announcement::Signed(_) => 0,
            Announcement::Echo => ECHO,
        };
        writer.put(&[0x30 | low, self.address_id]);
        match self.address {
            IpAddr::V4(address) => writer.put(&address.octets()),
            IpAddr::V6(address) => writer.put(&address.octets()),
        }
        self.port.iter().for_each(|port| writer.put(&port.to_be_bytes()));
        if let Announcement::Signed(hmac) = &self.announcement {
            writer.put(hmac);
        }
    }
}

/// The flag of version 1's echo.
const ECHO: u8 = 1;

/// REMOVE_ADDR: withdraws addresses of the sender by their ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RemoveAddr<'a> {
    /// The ids; at least one.
    pub address_ids: &'a [u8],
}

impl<'a> RemoveAddr<'a> {
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, Error> {
        match data {
            [_, address_ids @ ..] if !address_ids.is_empty() => Ok(Self { address_ids }),
            _ => Err(length_error("REMOVE_ADDR", data.len())),
        }
    }

    pub(super) fn len(&self) -> usize {
        3 + self.address_ids.len()
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[0x40]);
        writer.put(self.address_ids);
    }
}
