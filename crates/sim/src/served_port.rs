//! [`ServedPort`]: a port that is asked for a packet whenever its line is free.
//!
//! Most ports are analytic: when a FIFO queue accepts a packet, its departure is known (`link.rs`), which takes
//! one event per packet. A port that chooses among waiting packets takes two.

use weft_switching::{DropReason, Header};

use crate::packet::PacketId;

/// The packets that wait at a port, and their order.
pub trait ServedPort: Send {
    /// Takes a packet that has to wait, with its length on the wire. `Ok(true)` if it should carry a congestion mark.
    ///
    /// # Errors
    /// Why the packet is dropped.
    fn push(&mut self, header: &Header, packet: PacketId, wire_bytes: u32) -> Result<bool, DropReason>;

    /// Removes the next packet to send, with its length on the wire.
    fn pop(&mut self) -> Option<(PacketId, u32)>;

    /// Bytes and packets that wait.
    fn waiting(&self) -> (u64, u32);
}

/// A served port and its line.
pub struct Served {
    /// The packets that wait.
    pub port: Box<dyn ServedPort>,
    /// Whether a packet is being sent, so that others have to wait.
    pub line_busy: bool,
}

impl Served {
    /// A port with an idle line.
    pub fn new(port: impl ServedPort + 'static) -> Self {
        Self { port: Box::new(port), line_busy: false }
    }
}
