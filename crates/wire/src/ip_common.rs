//! Common parts of IPv4 and IPv6: the protocol carried, and lengths.

use core::fmt;

/// A protocol over IP, by its IANA number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct IpProtocol(pub u8);

impl IpProtocol {
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// ICMP for IPv6.
    pub const ICMPV6: Self = Self(58);
}

impl fmt::Display for IpProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `bytes` up to `len`, or all if fewer are available or `len` is 0: Linux writes no length into packets
/// left to the interface to segment (BIG TCP).
pub(crate) fn cut(bytes: &[u8], len: usize) -> &[u8] {
    match bytes.get(..len) {
        Some(cut) if len > 0 => cut,
        _ => bytes,
    }
}

/// Maximum number of IPv6 extension headers skipped.
pub(crate) const MAX_EXTENSIONS: usize = 6;
