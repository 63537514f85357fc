//! Neighbours whose Hello messages have stopped: dead switches, or switches whose daemon hangs while the data plane
//! forwards.
//!
//! Hello messages and frames travel in the same direction, so any failure between two switches stops both; only a hung
//! daemon stops the Hello messages alone. A port that still receives frames near the end of the hold time is therefore
//! kept as a last resort ([`Role::Unheard`]): it forwards, but other ports are preferred. Nothing else is inferred from
//! received frames: if only our own direction is cut, the neighbour receives no Hello messages, closes the link and says so
//! in its own ([`Role::OneWay`]).
//!
//! Received frames count only in the second half of the hold time. The last frames of a dying neighbour arrive within
//! one interval of its last Hello, the first third of the hold time: so its death is noticed as soon as the hold time
//! ends.

use weft_units::PortId;

use super::delivery::Delivery;
use super::ports::{Port, Role};
use super::switch::{Switch, Task};
use crate::layout::NEVER;

/// Checks of received frames per hold time.
const LOOKS: u64 = 12;

/// The outcome of a check of a port whose neighbour may be gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Check {
    /// Its role stays as it is.
    Stays,
    /// Frames arrive but no Hello messages.
    Delivers,
    /// Neither has arrived for a hold time.
    IsDead,
}

impl Port {
    /// Checks a port whose neighbour may be gone; `hold` is its hold time in ns, `frames` the number of frames received
    /// so far.
    fn check(&mut self, now: u64, hold: u64, frames: impl FnOnce() -> u64) -> Check {
        if self.role == Role::Fabric && now < self.until.saturating_sub(hold / 2) {
            self.delivery.next = self.until - hold / 2;
            return Check::Stays;
        }
        if now < self.delivery.next && now < self.until {
            return Check::Stays;
        }
        let came = self.delivery.look(frames(), now);
        self.delivery.next = now + hold / LOOKS;
        match self.role {
            Role::Fabric if now < self.until => Check::Stays,
            Role::Fabric if self.delivery.any => Check::Delivers,
            Role::Silent if came => Check::Delivers,
            Role::Silent => Check::Stays,
            _ if came => {
                self.until = now + hold;
                Check::Stays
            }
            _ if now < self.until => Check::Stays,
            _ => Check::IsDead,
        }
    }

    /// Extends the role of a port, if it can expire and the daemon, which woke up at `now`, [`is_late`]; returns whether it
    /// did. The first time after a Hello there is at least a quarter of the hold time left, to read the messages that have
    /// arrived in the meantime and to count frames.
    fn extend(&mut self, now: u64, late: u64, hold: u64) -> bool {
        if self.until == NEVER || !is_late(late, hold) {
            return false;
        }
        let Delivery { distrusted, again, extended, .. } = self.delivery;
        let least = if extended { 0 } else { now + hold / 4 };
        self.until = (self.until + late).max(least);
        let again = again.map(|since| since + late);
        self.delivery = Delivery { distrusted, again, extended: true, ..Delivery::default() };
        // Messages that say whom the neighbour heard while the daemon was late are out of date.
        self.certain_from = now + hold;
        true
    }
}

/// Whether a daemon that is `late` by this time, in ns, is so late that a neighbour's hold time is extended.
pub(super) const fn is_late(late: u64, hold: u64) -> bool {
    late >= hold / 4
}

impl Switch {
    /// For how long the neighbour of a port is considered up after its last Hello, in ns.
    fn hold_of(&self, number: u16) -> u64 {
        let neighbour = self.ports[usize::from(number)].neighbour.as_ref();
        neighbour.map_or(self.hold(), |known| u64::from(known.hold_ms) * 1_000_000)
    }

    /// Hello messages are read from now on: roles that may expire do so in a hold time. Those that have arrived while
    /// the daemon was starting are still unread.
    pub fn begin_holds(&mut self, now: u64) {
        self.reads_since = now;
        let until = now + self.hold();
        for port in &mut self.ports {
            port.certain_from = until;
            if port.until < NEVER {
                port.until = until;
            }
        }
    }

    /// Checks a port whose neighbour may be gone: looks at received frames, and ends the role when it has expired.
    pub fn attend(&mut self, number: u16, now: u64) -> Vec<Task> {
        let hold = self.hold_of(number);
        let plane = &self.plane;
        // An unreadable counter counts as no frames.
        let frames = || plane.received(PortId(number)).unwrap_or_default();
        match self.ports[usize::from(number)].check(now, hold, frames) {
            Check::Stays => {
                self.suspect(number, now, hold);
                Vec::new()
            }
            Check::Delivers => self.keep(number, now),
            Check::IsDead => self.give_up(number, now),
        }
    }

    /// The port stays a fabric port, or becomes one again, as the last resort.
    fn keep(&mut self, number: u16, now: u64) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        if port.role != Role::Silent {
            self.tell_of_hang(number, now);
        } else {
            // A link that works again delivers frames before, or with, the first Hello.
            port.delivery.again = Some(now);
            if let Some(left_out) = self.log_limit.admit(number, "again", now) {
                tracing::info!(
                    port = number, interface = %port.name, left_out,
                    "frames of the silent neighbour arrive again: the port is used behind all others until Hello messages \
                     arrive, too"
                );
            }
        }
        self.play(number, Role::Unheard, now + self.hold_of(number), now);
        Vec::new()
    }

    /// Warns if a neighbour whose frames arrive again has sent no Hello for a hold time since.
    fn suspect(&mut self, number: u16, now: u64, hold: u64) {
        let port = &self.ports[usize::from(number)];
        if port.role == Role::Unheard && port.delivery.again.is_some_and(|since| now >= since + hold) {
            self.tell_of_hang(number, now);
        }
    }

    fn tell_of_hang(&mut self, number: u16, now: u64) {
        if let Some(left_out) = self.log_limit.admit(number, "hung", now) {
            let port = &mut self.ports[usize::from(number)];
            port.delivery.again = None;
            tracing::warn!(
                port = number, interface = %port.name, left_out,
                "the neighbour sends no Hello messages but still delivers frames: the port is used as the last resort \
                 (has its weft-switchd hung?)"
            );
        }
    }

    /// The neighbour is dead.
    pub(super) fn give_up(&mut self, number: u16, now: u64) -> Vec<Task> {
        if let Some(left_out) = self.log_limit.admit(number, "silence", now) {
            let named = &self.ports[usize::from(number)].name;
            tracing::warn!(port = number, interface = %named, left_out, "the neighbour has fallen silent");
        }
        self.play(number, Role::Silent, NEVER, now);
        // Its own Hello messages may still arrive: then it must stop sending here, too.
        self.greet_on(number, now);
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
        let mut has_extended = false;
        for number in 0..self.ports.len() as u16 {
            let hold = self.hold_of(number);
            has_extended |= self.ports[usize::from(number)].extend(now, late, hold);
        }
        if has_extended && let Some(left_out) = self.log_limit.admit(0, "late", now) {
            let ms = late / 1_000_000;
            tracing::warn!(
                ms,
                left_out,
                "the daemon did not run for a while: the hold times of neighbours are extended"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const HOLD: u64 = 300 * MS;

    /// A fabric port whose last Hello arrived at `heard`.
    fn fabric(heard: u64) -> Port {
        Port { role: Role::Fabric, until: heard + HOLD, ..Port::new("p", true) }
    }

    /// Checks the port whenever that is due, from `now` on; returns the outcome, and its time. `frames` is the number of
    /// frames received until then.
    fn wait(port: &mut Port, mut now: u64, frames: impl Fn(u64) -> u64) -> (Check, u64) {
        loop {
            match port.check(now, HOLD, || frames(now)) {
                Check::Stays => now = port.next().max(now + 1),
                outcome => return (outcome, now),
            }
        }
    }

    #[test]
    fn a_neighbour_that_sends_nothing_is_dead_when_its_hold_ends() {
        assert_eq!(wait(&mut fabric(0), 0, |_| 7), (Check::IsDead, HOLD));
    }

    #[test]
    fn the_last_frames_of_a_neighbour_that_dies_do_not_keep_it() {
        let frames = |now: u64| now.min(100 * MS) / MS;
        assert_eq!(wait(&mut fabric(0), 0, frames), (Check::IsDead, HOLD));
    }

    #[test]
    fn a_neighbour_whose_frames_arrive_is_the_last_resort_until_they_end() {
        let frames = |now: u64| now.min(1000 * MS) / (10 * MS);
        let mut port = fabric(0);
        assert_eq!(wait(&mut port, 0, frames), (Check::Delivers, HOLD));
        (port.role, port.until) = (Role::Unheard, 2 * HOLD);
        let (outcome, at) = wait(&mut port, HOLD, frames);
        assert_eq!(outcome, Check::IsDead);
        assert!((1000 * MS + HOLD..1050 * MS + HOLD).contains(&at), "{at}");
    }

    #[test]
    fn hello_messages_and_frames_that_arrived_while_the_daemon_was_late_are_noticed_first() {
        for due in (0..=300).step_by(5) {
            for late in [75, 80, 300, 5000] {
                let mut port = fabric(0);
                let (due, now) = (due * MS, (due + late) * MS);
                port.check(due, HOLD, || 0);
                assert!(port.extend(now, late * MS, HOLD));
                assert_eq!(
                    port.check(now, HOLD, || 0),
                    Check::Stays,
                    "woke {late} ms late at {now}: reads first"
                );
                let frames = |at: u64| at / (10 * MS);
                assert_eq!(wait(&mut port, now, frames).0, Check::Delivers, "woke {late} ms late at {now}");
            }
        }
    }

    #[test]
    fn a_daemon_is_late_by_a_quarter_of_the_neighbours_hold_time() {
        for (hold, late, is_late) in [(300, 74, false), (300, 75, true), (3000, 700, false), (300, 700, true)]
        {
            let (hold, late) = (hold * MS, late * MS);
            let mut port = Port { until: hold, ..fabric(0) };
            assert_eq!(port.extend(hold - MS + late, late, hold), is_late);
            assert_eq!(port.until > hold, is_late);
        }
        assert!(!Port { until: NEVER, ..fabric(0) }.extend(HOLD, HOLD, HOLD), "a host port has none");
    }

    #[test]
    fn a_daemon_that_is_always_late_notices_a_dead_neighbour() {
        let (mut port, mut now, late) = (fabric(0), 0, HOLD / 4);
        while port.check(now, HOLD, || 0) == Check::Stays {
            now = port.next() + late;
            port.extend(now, late, HOLD);
            assert!(now < 20 * HOLD, "never noticed");
        }
    }
}
