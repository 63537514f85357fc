//! [`Data`] and [`Answer`]: the packets of a connection.

/// A data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Its number, from 0.
    pub number: u32,
    /// Bytes of payload; 0 if a switch trimmed it.
    pub bytes: u16,
    /// Its entropy value.
    pub entropy: u16,
    /// How often it has been sent before, modulo 256: an answer repeats it, so that the sender knows which transmission it
    /// concerns.
    pub attempt: u8,
    /// Whether the receiver should answer at once.
    pub asks: bool,
}

/// A receiver's answer to a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// The number of the packet that it answers.
    pub number: u32,
    /// All packets below this number have arrived.
    pub cumulative: u32,
    /// Which packets have arrived: bit i is for the packet `number - i`.
    pub bitmap: u64,
    /// The entropy value of the packet.
    pub entropy: u16,
    /// Its attempt.
    pub attempt: u8,
    /// The entropy value of the answer itself.
    pub path: u16,
    /// Whether it arrived with a congestion mark.
    pub is_marked: bool,
    /// Whether it arrived trimmed and is still missing (NACK).
    pub is_trimmed: bool,
}
