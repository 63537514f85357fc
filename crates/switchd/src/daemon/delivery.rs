//! Neighbours whose Hello messages have stopped: dead switches, or switches whose daemon hangs while the data plane
//! forwards.
//!
//! Hello messages and frames travel in the same direction, so any failure between two switches stops both; only a hung
//! daemon stops the Hello messages alone. A port that still receives frames near the end of the hold time is therefore
//! kept as a last resort ([`Role::Unheard`]): it forwards, but other ports are preferred. Nothing else is inferred from
//! received frames: if only our own direction is cut, the neighbour receives no Hello messages and closes the link.
//!
//! Received frames count only in the second half of the hold time. The last frames of a dying neighbour arrive within
//! one interval of its last Hello, the first third of the hold time: so its death is noticed as soon as the hold time
//! ends.

use super::ports::Role;
use super::switch::{Switch, Task};
use crate::layout::NEVER;
use weft_units::PortId;

/// Checks of received frames per hold time.
const LOOKS: u64 = 12;

/// The frames received on a port whose neighbour sends no Hello messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Frames received up to the last check, if there was one.
    frames: Option<u64>,
    /// Whether any arrived between two checks.
    any: bool,
    /// When the next check is due; 0: at once.
    next: u64,
    /// Frames received before this time are ignored: a Hello arrived that is not the neighbour's.
    distrusted: u64,
}

impl Delivery {
    /// When the next check is due.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Records the number of frames received so far; returns whether it has grown since the last check.
    const fn look(&mut self, frames: u64, now: u64) -> bool {
        let more = matches!(self.frames, Some(before) if frames > before) && now >= self.distrusted;
        self.frames = Some(frames);
        self.any |= more;
        more
    }
}

impl Switch {
    /// For how long the neighbour of a port is considered up after its last Hello, in ns.
    fn hold_of(&self, number: u16) -> u64 {
        let neighbour = self.ports[usize::from(number)].neighbour.as_ref();
        neighbour.map_or(self.hold(), |known| u64::from(known.hold_ms) * 1_000_000)
    }

    /// Checks a port whose neighbour may be gone: looks at received frames, and ends the role when it has expired.
    pub fn attend(&mut self, number: u16, now: u64) -> Vec<Task> {
        let (at, hold) = (usize::from(number), self.hold_of(number));
        let (role, until, next) = (self.ports[at].role, self.ports[at].until, self.ports[at].delivery.next);
        if role == Role::Fabric && now < until.saturating_sub(hold / 2) {
            self.ports[at].delivery.next = until - hold / 2;
            return Vec::new();
        }
        if now < next && now < until {
            return Vec::new();
        }
        // An unreadable counter counts as no frames.
        let frames = self.plane.received(PortId(number)).unwrap_or_default();
        let delivery = &mut self.ports[at].delivery;
        let came = delivery.look(frames, now);
        delivery.next = now + hold / LOOKS;
        match role {
            Role::Fabric if now < until => Vec::new(),
            Role::Fabric if delivery.any => self.keep(number, now + hold),
            Role::Silent if came => self.keep(number, now + hold),
            Role::Silent => Vec::new(),
            _ if came => {
                self.ports[at].until = now + hold;
                Vec::new()
            }
            _ if now < until => Vec::new(),
            _ => self.give_up(number, now),
        }
    }

    /// The port stays a fabric port, as the last resort.
    fn keep(&mut self, number: u16, until: u64) -> Vec<Task> {
        if let Some(left_out) = self.quiet.may_say(number, "unheard", crate::clock::now()) {
            let named = &self.ports[usize::from(number)].name;
            tracing::warn!(
                port = number, interface = %named, left_out,
                "the neighbour sends no Hello messages but still delivers frames: the port is used as the last resort \
                 (has its weft-switchd hung?)"
            );
        }
        self.play(number, Role::Unheard, until);
        Vec::new()
    }

    /// The neighbour is dead.
    fn give_up(&mut self, number: u16, now: u64) -> Vec<Task> {
        if let Some(left_out) = self.quiet.may_say(number, "silence", now) {
            let named = &self.ports[usize::from(number)].name;
            tracing::warn!(port = number, interface = %named, left_out, "the neighbour has fallen silent");
        }
        self.play(number, Role::Silent, NEVER);
        vec![Task::Broken(number)]
    }

    /// A Hello was refused: its sender may not be the former neighbour, so its frames do not keep the port.
    pub fn distrust(&mut self, number: u16, now: u64) {
        let hold = self.hold_of(number);
        let port = &mut self.ports[usize::from(number)];
        port.delivery.any = false;
        port.delivery.distrusted = now + hold;
        if port.role == Role::Unheard {
            port.until = now;
        }
    }

    /// The daemon woke up late. Messages received in the meantime are still unread, so hold times are extended.
    pub fn forgive(&mut self, now: u64) {
        let late = now.saturating_sub(self.due);
        if late < self.hold() / 4 {
            return;
        }
        for port in self.ports.iter_mut().filter(|port| port.until < NEVER) {
            port.until += late;
            port.delivery = Delivery { distrusted: port.delivery.distrusted, ..Delivery::default() };
        }
        if let Some(left_out) = self.quiet.may_say(0, "late", now) {
            let ms = late / 1_000_000;
            tracing::warn!(
                ms,
                left_out,
                "the daemon did not run for a while: the hold times of neighbours are extended by that time"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_from_the_second_look_on_and_not_while_the_sender_is_distrusted() {
        let mut delivery = Delivery::default();
        assert!(!delivery.look(1000, 0), "frames before the first check do not count");
        assert!(!delivery.look(1000, 1));
        assert!(delivery.look(1001, 2) && delivery.any);
        let mut delivery = Delivery { distrusted: 10, ..Delivery::default() };
        delivery.look(0, 0);
        assert!(!delivery.look(5, 9) && !delivery.any);
        assert!(!delivery.look(5, 10), "earlier frames are not counted afterwards");
        assert!(delivery.look(6, 11));
    }
}
