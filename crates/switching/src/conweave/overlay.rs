//! [`Tag`], the header of ConWeave in data packets, and [`Control`], a frame to the switch of the source; both are in
//! [`Header::overlay`].

use weft_units::{Duration, Time};

use crate::header::{Header, Kind};

/// The request of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Request {
    /// None.
    #[default]
    Nothing,
    /// Requests an immediate answer, so that the source learns the delay of the path: `RTT_REQUEST`.
    RoundTrip,
    /// Requests an answer once all earlier packets have arrived; the last packet on the old path: `TAIL`.
    Clear,
}

/// A time as packets carry it: in units of 65.536 ns, modulo 4.3 ms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stamp(u16);

impl Stamp {
    const UNIT_BITS: u32 = 16;

    pub(super) const fn new(time: Time) -> Self {
        Self((time.ps() >> Self::UNIT_BITS) as u16)
    }

    /// The time from `earlier` to this one.
    pub(super) const fn since(self, earlier: Self) -> Duration {
        Duration::from_ps((self.0.wrapping_sub(earlier.0) as u64) << Self::UNIT_BITS)
    }
}

/// The header in data packets of flows that ConWeave routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tag {
    pub(super) request: Request,
    /// Whether the packet was sent on the new path of its epoch (phase 1 in conweave-ns3).
    pub(super) rerouted: bool,
    /// The number of the flow's epoch: it begins with a request for the round trip and has at most one change of path.
    pub(super) epoch: u8,
    /// The choices on the way up, lowest switch first.
    pub(super) path: [u8; 2],
    /// When the packet left the switch of its source.
    pub(super) sent: Stamp,
    /// When the `TAIL` of its epoch left.
    pub(super) tail_sent: Stamp,
}

/// Set in the first byte of every [`Tag`].
const TAGGED: u8 = 1;
const REROUTED: u8 = 2;
const ROUND_TRIP: u8 = 4;
const CLEAR: u8 = 8;

impl Tag {
    pub(super) const fn to_bytes(self) -> [u8; 8] {
        let request = match self.request {
            Request::Nothing => 0,
            Request::RoundTrip => ROUND_TRIP,
            Request::Clear => CLEAR,
        };
        let flags = TAGGED | request | if self.rerouted { REROUTED } else { 0 };
        let ([a, b], [c, d], [e, f]) = (self.path, self.sent.0.to_be_bytes(), self.tail_sent.0.to_be_bytes());
        [flags, self.epoch, a, b, c, d, e, f]
    }

    /// `None` if the packet goes by hash.
    pub(super) const fn from_bytes([flags, epoch, a, b, c, d, e, f]: [u8; 8]) -> Option<Self> {
        if flags & TAGGED == 0 {
            return None;
        }
        let request = match flags & (ROUND_TRIP | CLEAR) {
            ROUND_TRIP => Request::RoundTrip,
            CLEAR => Request::Clear,
            _ => Request::Nothing,
        };
        let (sent, tail_sent) = (u16::from_be_bytes([c, d]), u16::from_be_bytes([e, f]));
        Some(Self {
            request,
            rerouted: flags & REROUTED != 0,
            epoch,
            path: [a, b],
            sent: Stamp(sent),
            tail_sent: Stamp(tail_sent),
        })
    }
}

/// A message to the switch of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Control {
    /// `RTT_REPLY` to the request of this epoch.
    Reply(u8),
    /// `CLEAR`: no packet of the old path of this epoch is under way.
    Clear(u8),
    /// `NOTIFY`: this path is congested.
    Notify([u8; 2]),
}

/// The most urgent class but one, as for acknowledgements: class selector 6.
const URGENT: u8 = 48 << 2;

impl Control {
    /// The frame about a data packet, to its source. It has the packet's hash.
    pub(super) fn about(self, packet: &Header) -> Header {
        let overlay = match self {
            Self::Reply(epoch) => [1, epoch, 0, 0, 0, 0, 0, 0],
            Self::Clear(epoch) => [2, epoch, 0, 0, 0, 0, 0, 0],
            Self::Notify([a, b]) => [3, 0, a, b, 0, 0, 0, 0],
        };
        Header {
            dst: packet.src,
            src: packet.dst,
            sport: packet.dport,
            dport: packet.sport,
            flow_hash: packet.flow_hash,
            kind: Kind::Probe,
            traffic_class: URGENT,
            ip_bytes: Header::SHORTEST,
            overlay,
            ..Header::default()
        }
    }

    /// `None` if it is none.
    pub(super) const fn from_bytes([what, epoch, a, b, ..]: [u8; 8]) -> Option<Self> {
        match what {
            1 => Some(Self::Reply(epoch)),
            2 => Some(Self::Clear(epoch)),
            3 => Some(Self::Notify([a, b])),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_messages_survive_the_wire() {
        for request in [Request::Nothing, Request::RoundTrip, Request::Clear] {
            for rerouted in [false, true] {
                let (sent, tail_sent) = (Stamp(0x1234), Stamp(0xfedc));
                let tag = Tag { request, rerouted, epoch: 200, path: [7, 255], sent, tail_sent };
                assert_eq!(Tag::from_bytes(tag.to_bytes()), Some(tag));
            }
        }
        assert_eq!(Tag::from_bytes([0; 8]), None);
        for control in [Control::Reply(3), Control::Clear(255), Control::Notify([1, 2])] {
            let frame = control.about(&Header { sport: 1, dport: 2, ..Header::default() });
            assert_eq!((Control::from_bytes(frame.overlay), frame.sport), (Some(control), 2));
        }
        assert_eq!(Control::from_bytes([9; 8]), None);
    }

    #[test]
    fn stamps_measure_times_below_their_range() {
        let at = |us| Stamp::new(Time::ZERO + Duration::from_us(us));
        for (earlier, later) in [(0, 300), (4_200, 4_400), (4_290, 8_000)] {
            let found = at(later).since(at(earlier)).ps() as f64;
            assert!(
                (found / 1e6 - (later - earlier) as f64).abs() < 0.07,
                "{earlier} to {later}: {found} ps"
            );
        }
    }
}
