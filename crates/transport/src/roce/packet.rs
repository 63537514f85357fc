//! What queue pairs send each other: [`Data`] and [`Ack`].

/// A data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Its sequence number.
    pub psn: u32,
    /// Bytes of payload.
    pub payload: u16,
    /// Whether the sender needs an acknowledgement at once.
    pub asks: bool,
    /// Whether it was sent before. For bookkeeping only; not part of a header.
    pub is_repeated: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// All packets below this number have arrived.
    pub next: u32,
    /// What else it says.
    pub kind: AckKind,
    /// Whether it notifies of congestion.
    pub is_cnp: bool,
}

/// The kinds of acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckKind {
    /// Nothing.
    Plain,
    /// A packet is missing.
    Nack,
    /// A packet is missing, and this one has arrived.
    Selective(u32),
}
