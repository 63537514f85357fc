//! [`Key`]: the secret of one end of a connection, and values derived from it.

use core::fmt;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::Error;

/// A version of Multipath TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Version {
    /// RFC 6824, implemented by the multipath-tcp.org kernel; SHA-1.
    V0 = 0,
    /// RFC 8684, in Linux since 5.6; SHA-256.
    V1 = 1,
}

impl Version {
    /// The version with this number.
    ///
    /// # Errors
    /// [`Error::Version`].
    pub const fn from_number(number: u8) -> Result<Self, Error> {
        match number {
            0 => Ok(Self::V0),
            1 => Ok(Self::V1),
            other => Err(Error::Version(other)),
        }
    }
}

/// The key that an end chooses when a connection is opened, and sends in the clear.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Key(pub u64);

impl Key {
    /// Identifies the connection in joins sent to the end with this key: the first 32 bits of the key's
    /// hash (RFC 6824 and RFC 8684, section 3.2).
    pub fn token(self, version: Version) -> Token {
        let [a, b, c, d, ..] = self.hash(version);
        Token(u32::from_be_bytes([a, b, c, d]))
    }

    /// The initial data sequence number of the end with this key: the last 64 bits of the key's hash (RFC
    /// 6824 and RFC 8684, section 3.1). The first byte of data has the next number.
    pub fn initial_data_sequence(self, version: Version) -> u64 {
        let [.., a, b, c, d, e, f, g, h] = self.hash(version);
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The first and last 8 bytes of the hash.
    fn hash(self, version: Version) -> [u8; 16] {
        fn ends<const N: usize>(hash: [u8; N]) -> [u8; 16] {
            let mut ends = [0; 16];
            ends[..8].copy_from_slice(&hash[..8]);
            ends[8..].copy_from_slice(&hash[N - 8..]);
            ends
        }
        match version {
            Version::V0 => ends::<20>(Sha1::digest(self.0.to_be_bytes()).into()),
            Version::V1 => ends::<32>(Sha256::digest(self.0.to_be_bytes()).into()),
        }
    }
}

/// Identifies a connection at one of its ends: see [`Key::token`]. Unique per host only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Token(pub u32);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}
