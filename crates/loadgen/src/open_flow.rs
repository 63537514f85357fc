//! [`Open`]: a flow that has started and not ended.

use crate::connection::{Receiver, Sender};
use crate::record::Record;

/// A flow that has started and not ended.
pub(crate) struct Open {
    pub(crate) record: Record,
    pub(crate) sender: End<Sender>,
    pub(crate) receiver: End<Receiver>,
}

/// One end of an open flow.
pub(crate) enum End<T> {
    /// On another machine.
    Elsewhere,
    /// Not connected yet.
    Awaited,
    /// Under way.
    Here(T),
    /// Closed normally.
    Closed,
}

impl<T> End<T> {
    /// Whether this machine has nothing to wait for.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Elsewhere | Self::Closed)
    }

    /// An end that is not connected yet, if it is on this machine.
    pub(crate) const fn awaited(here: bool) -> Self {
        if here { Self::Awaited } else { Self::Elsewhere }
    }
}
