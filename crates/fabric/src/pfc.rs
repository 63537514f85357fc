//! [`PfcSpec`] and [`SharedBuffer`]: ports that pause their neighbour instead of dropping (IEEE 802.1Qbb), and switches
//! whose queues share one buffer.

use serde::{Deserialize, Serialize};
use weft_units::Bytes;

/// Priority flow control of a link: the switch at its end pauses the sender's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcSpec {
    /// Bytes of one queue in the switch at the end of the link at which it pauses that queue; the default depends on
    /// the buffer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xoff: Option<Bytes>,
    /// Bytes down to which the queue stays paused; two full frames below `xoff` by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xon: Option<Bytes>,
    /// Space for packets that still arrive after a pause; computed from the link by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub headroom: Option<Bytes>,
    /// The lossless queues, one bit each; all by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queues: Option<u8>,
}

/// The memory that all queues of a switch share. A queue may grow up to `alpha` times the free part of it (Choudhury and
/// Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedBuffer {
    /// Its size, on every switch.
    pub bytes: Bytes,
    /// The factor.
    pub alpha: f64,
}

/// The thresholds of one queue of a link with PFC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// The queue is paused when the switch holds this much of it; `None`: alpha times the free buffer.
    pub xoff: Option<u64>,
    /// The queue resumes at this many bytes.
    pub xon: u64,
    /// Space beyond `xoff`.
    pub headroom: u64,
}

impl PfcSpec {
    /// Whether this queue is lossless.
    pub const fn has(&self, queue: usize) -> bool {
        match self.queues {
            None => true,
            Some(queues) => queues >> queue & 1 == 1,
        }
    }

    /// The number of lossless queues of a port with so many.
    pub fn count(&self, queues: usize) -> u64 {
        (0..queues.max(1)).filter(|queue| self.has(*queue)).count() as u64
    }
}
