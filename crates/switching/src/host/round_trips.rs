//! [`RoundTrips`]: divides the life of a connection into round trips, as seen by its sender.

use weft_transport::{Flags, Segment};

/// Whether sequence number `a` is before `b` (RFC 9293, section 3.4).
pub(crate) const fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The sequence numbers of one direction.
#[derive(Default)]
pub(crate) struct RoundTrips {
    /// The end of the data sent, if any.
    sent: Option<u32>,
    /// Up to here all is acknowledged.
    acked: u32,
    /// The round trip ends when this is acknowledged; `None` until the first acknowledgement after a pause.
    until: Option<u32>,
}

/// The meaning of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Acked {
    /// Bytes newly acknowledged.
    pub(crate) bytes: u32,
    /// Whether a round trip has ended with it.
    pub(crate) ends_round: bool,
}

impl RoundTrips {
    /// `segment` is about to be sent.
    pub(crate) fn sends(&mut self, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        let end = segment.seq.wrapping_add(segment.len.into());
        match self.sent {
            None => (self.sent, self.acked) = (Some(end), segment.seq),
            Some(sent) if is_before(sent, end) => self.sent = Some(end),
            Some(_) => {}
        }
    }

    /// `segment` has arrived. An acknowledgement of data that was never sent counts for nothing.
    pub(crate) fn receives(&mut self, segment: &Segment) -> Acked {
        let Some(sent) = self.sent.filter(|_| segment.flags.has(Flags::ACK)) else { return Acked::default() };
        // A FIN takes a sequence number behind the data.
        let ack = if segment.ack == sent.wrapping_add(1) { sent } else { segment.ack };
        if !is_before(self.acked, ack) || is_before(sent, ack) {
            return Acked::default();
        }
        let bytes = ack.wrapping_sub(self.acked);
        self.acked = ack;
        let ends_round = !is_before(ack, *self.until.get_or_insert(sent));
        if ends_round {
            self.until = Some(sent).filter(|sent| *sent != ack);
        }
        Acked { bytes, ends_round }
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.sent.is_none_or(|sent| sent == self.acked)
    }

    /// The end of the data sent; `None` before the first.
    pub(crate) const fn sent(&self) -> Option<u32> {
        self.sent
    }
}
