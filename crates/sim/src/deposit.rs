//! [`Deposit`]: the space that a packet takes in a switch.

use crate::charge::Charge;
use crate::class_queue::Waiting;
use crate::served_port::ServedPort;

/// The space that a packet takes in a switch.
#[derive(Clone, Copy, Debug)]
pub struct Deposit {
    /// The place of the switch's buffer.
    pub(crate) buffer: Option<usize>,
    pub(crate) wire_bytes: u32,
    pub(crate) charge: Charge,
}

impl Deposit {
    /// The deposit of a packet outside of all buffers and accounts.
    pub const NOTHING: Self = Self { buffer: None, wire_bytes: 0, charge: Charge::NOTHING };

    /// The deposit of a packet that waits at a port.
    pub(crate) fn of(port: &ServedPort, waiting: &Waiting) -> Self {
        Self { buffer: port.buffer, wire_bytes: waiting.wire_bytes, charge: waiting.charge }
    }
}
