//! [`Tuple`]: the flow of a frame, and its direction.

use core::fmt;

use crate::Mac;

/// One direction of a TCP flow as switches identify it: the papers' {S, pS, D, pD}.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tuple {
    /// S, the sending host.
    pub source: Mac,
    /// pS, its TCP port.
    pub source_port: u16,
    /// D, the receiving host.
    pub destination: Mac,
    /// pD, its TCP port.
    pub destination_port: u16,
}

impl Tuple {
    /// The other direction of the same flow.
    pub const fn reverse(self) -> Self {
        Self {
            source: self.destination,
            source_port: self.destination_port,
            destination: self.source,
            destination_port: self.source_port,
        }
    }
}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, source_port, destination, destination_port } = self;
        write!(f, "{source} port {source_port} > {destination} port {destination_port}")
    }
}
