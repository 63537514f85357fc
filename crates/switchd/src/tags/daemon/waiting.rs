//! [`Waiting`]: frames for which there is no rule yet. A client may be notified and add one; then they are sent, which
//! saves their sender a retransmission.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use weft_switching::tag_forward::Addresses;
use weft_units::PortId;

/// Maximum number of waiting frames, of all ports and of one port.
const MOST: usize = 256;
const MOST_OF_PORT: usize = 64;
/// How long a frame waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// A frame without a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The ingress port.
    pub port: PortId,
    /// The addresses for looking up its rule.
    pub addresses: Addresses,
    /// The whole frame.
    pub bytes: Vec<u8>,
}

/// The outcomes of waiting frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fates {
    /// Sent once a rule was added.
    pub sent: u64,
    /// No rule was added in time.
    pub expired: u64,
    /// No room, too long, or the rule had no usable way.
    pub refused: u64,
}

/// Waiting frames, oldest first.
#[derive(Debug, Default)]
pub struct Waiting {
    frames: VecDeque<(Instant, Frame)>,
    fates: Fates,
}

impl Waiting {
    /// The outcomes so far.
    pub const fn fates(&self) -> Fates {
        self.fates
    }

    /// Whether no frame is waiting.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Counts a frame as sent.
    pub const fn sent(&mut self) {
        self.fates.sent += 1;
    }

    /// Counts a frame as refused.
    pub const fn refused(&mut self) {
        self.fates.refused += 1;
    }

    /// Keeps a frame, if there is room.
    pub fn keep(&mut self, frame: Frame, now: Instant) {
        self.expire(now);
        let of_port = self.frames.iter().filter(|(_, other)| other.port == frame.port).count();
        if self.frames.len() < MOST && of_port < MOST_OF_PORT {
            self.frames.push_back((now + PATIENCE, frame));
        } else {
            self.refused();
        }
    }

    /// Removes and returns the unexpired frames selected by `goes`, in order of arrival.
    pub fn take(&mut self, now: Instant, mut goes: impl FnMut(&Frame) -> bool) -> Vec<Frame> {
        self.expire(now);
        let (going, staying): (VecDeque<_>, _) =
            std::mem::take(&mut self.frames).into_iter().partition(|(_, frame)| goes(frame));
        self.frames = staying;
        going.into_iter().map(|(_, frame)| frame).collect()
    }

    /// Drops expired frames.
    pub fn expire(&mut self, now: Instant) {
        while self.frames.front().is_some_and(|(until, _)| *until <= now) {
            self.frames.pop_front();
            self.fates.expired += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(port: u16, number: u8) -> Frame {
        let address = |last| std::net::Ipv4Addr::new(10, 0, 0, last).into();
        let addresses = Addresses { source: address(0), destination: address(number) };
        Frame { port: PortId(port), addresses, bytes: vec![number] }
    }

    #[test]
    fn frames_go_in_their_order_and_not_when_they_are_old() {
        let (mut waiting, start) = (Waiting::default(), Instant::now());
        for number in 0..4 {
            waiting.keep(frame(0, number), start + Duration::from_millis(300) * u32::from(number));
        }
        let odd = |frame: &Frame| frame.bytes[0] % 2 == 1;
        assert_eq!(waiting.take(start + Duration::from_millis(900), odd), [frame(0, 1), frame(0, 3)]);
        assert_eq!(waiting.take(start + Duration::from_millis(1000), |_| true), [frame(0, 2)]);
        assert_eq!(waiting.fates(), Fates { expired: 1, ..Fates::default() });
    }

    #[test]
    fn there_is_room_for_some_and_one_port_does_not_take_it_all() {
        let (mut waiting, now) = (Waiting::default(), Instant::now());
        for port in 0..10 {
            (0..100).for_each(|number| waiting.keep(frame(port, number), now));
        }
        assert_eq!(waiting.fates().refused, 1000 - MOST as u64);
        let mut ports = [0; 10];
        waiting.take(now, |_| true).iter().for_each(|frame| ports[frame.port.index()] += 1);
        assert_eq!(ports, [64, 64, 64, 64, 0, 0, 0, 0, 0, 0]);
    }
}
