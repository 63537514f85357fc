//! [`Feedback`]: what became of a packet.

/// The network's answer about the path of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// The packet arrived without a congestion mark.
    Good,
    /// It arrived with a mark.
    Marked,
    /// A switch trimmed it.
    Trimmed,
    /// It was not acknowledged in time.
    TimedOut,
}
