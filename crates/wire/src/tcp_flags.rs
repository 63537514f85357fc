//! [`TcpFlags`]: the control bits of a TCP segment (RFC 9293).

/// The control bits of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Opens a connection.
    pub const SYN: Self = Self(0x02);
    /// Resets the connection.
    pub const RST: Self = Self(0x04);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);

    /// Whether all bits of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}
