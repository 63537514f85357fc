//! Segments due besides data. Each bit is kept by the part that knows when it is due: the receiver, the sender or the
//! endpoint.

/// An ACK, unless data carries it. Kept by the receiver.
pub(crate) const ACK: u8 = 1;
/// An ACK before all data. Kept by the receiver.
pub(crate) const ACK_FIRST: u8 = 2;
/// A SYN, or a SYN+ACK. Kept by the endpoint.
pub(crate) const SYN: u8 = 4;
/// A FIN without data. Kept by the sender.
pub(crate) const FIN: u8 = 8;
/// A reset. Kept by the endpoint.
pub(crate) const RST: u8 = 16;
/// A segment that recovery sends regardless of the window. Kept by the sender.
pub(crate) const FORCED: u8 = 32;
/// A zero-window probe. Kept by the sender.
pub(crate) const WINDOW_PROBE: u8 = 64;
/// A tail loss probe. Kept by the sender.
pub(crate) const TAIL_PROBE: u8 = 128;
