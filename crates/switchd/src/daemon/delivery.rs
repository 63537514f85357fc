//! Neighbours that are not heard any more: dead, or switches whose daemon hangs while their data plane forwards.
//!
//! Hello messages and frames travel the same direction, so whatever fails between two switches takes both away, and only
//! a daemon that hangs takes the Hello messages alone. A port on which frames still come in near the end of the hold is
//! therefore kept, as the last resort ([`Role::Unheard`]): it forwards, others come first. Nothing else is inferred from
//! frames that come in: on a port whose own direction is cut we are not heard, and it is the neighbour that stops.
//!
//! What came in is looked at in the second half of a hold only. Whatever a neighbour sent before it died came within one
//! interval of its last Hello, which is the first third: so a dead one is noticed when its hold ends, as without frames.

use super::ports::Role;
use super::switch::{Switch, Task};
use crate::layout::NEVER;
use weft_units::PortId;

/// Looks at what came in, within a hold.
const LOOKS: u64 = 12;

/// What came in on a port whose neighbour is not heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Frames that had come in at the last look, if there was one.
    frames: Option<u64>,
    /// Whether any came in between two looks.
    any: bool,
    /// When the next look is due; 0: at once.
    next: u64,
    /// Frames before then count for nothing: a Hello came in that is not the neighbour's.
    distrusted: u64,
}

impl Delivery {
    /// When the next look is due.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// So many frames have come in by now; whether any since the last look.
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

    /// The neighbour may not be heard any more: looks at what comes in, and ends the role if it is over.
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
        // What cannot be read has not come in.
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
                "the neighbour sends no Hello messages and still delivers frames: the port is used as the last resort \
                 (does its weft-switchd hang?)"
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

    /// A Hello came in that is not to be believed: whoever sends there may not be the switch that was heard before, and
    /// its frames do not keep the port.
    pub fn distrust(&mut self, number: u16, now: u64) {
        let hold = self.hold_of(number);
        let port = &mut self.ports[usize::from(number)];
        port.delivery.any = false;
        port.delivery.distrusted = now + hold;
        if port.role == Role::Unheard {
            port.until = now;
        }
    }

    /// The daemon was woken later than it wanted. What came in meanwhile has not been read: nobody is considered dead
    /// for it.
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
                "the daemon did not run for a while: neighbours are waited for as much longer"
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
        assert!(!delivery.look(1000, 0), "what came before the first look is of no use");
        assert!(!delivery.look(1000, 1));
        assert!(delivery.look(1001, 2) && delivery.any);
        let mut delivery = Delivery { distrusted: 10, ..Delivery::default() };
        delivery.look(0, 0);
        assert!(!delivery.look(5, 9) && !delivery.any);
        assert!(!delivery.look(5, 10), "frames of before are not counted afterwards");
        assert!(delivery.look(6, 11));
    }
}
