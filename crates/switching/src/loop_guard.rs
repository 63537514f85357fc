//! [`LoopGuard`]: finds that a host port is connected to another host port of the fabric, and blocks one of the two.
//!
//! Frames carry no hop limit, so a link between two host ports, which no switch knows, can make them circle for ever. Ports
//! that are not fabric ports therefore send probes to all stations: a switch drops a probe from a host port, but a bridge or
//! hub behind that port forwards it. A switch that receives a probe on a host port knows that the port leads to another one.
//!
//! A port that is idle sends few probes, and one that receives many frames, which may be circling, some more.
//!
//! Both ends receive probes of one another, and exactly one must block. The greater [`End`] does, at once. The lesser end
//! answers, so that it is heard, and blocks only if the greater one does not say soon that it is blocked: an end that hears
//! nothing would never block. Of several ends behind one bridge, the least alone forwards.
//!
//! A host can forge probes. They block the port on which they arrive, and no other.
//!
//! Times are in nanoseconds of any clock that does not go back.

/// Time between two probes of a port that is up for longer than a second, which all ports send together.
pub const INTERVAL: u64 = 60 * MS;
/// Time between two looks at the frames that a port has received.
pub const LOOK: u64 = 50 * MS;
/// Frames received between two looks that may be circling: the port sends a probe at once.
const BUSY: u64 = 100;
/// When a port sends its first probes, from the moment it comes up.
const FIRST: [u64; 7] = [0, 5 * MS, 10 * MS, 20 * MS, 40 * MS, 80 * MS, 160 * MS];
/// How long a port is blocked after the last probe: the daemon at the other end may be restarted meanwhile.
pub const HOLD: u64 = 10_000 * MS;
/// How long the greater end may take to say that it is blocked.
const PATIENCE: u64 = 500 * MS;
/// How long after a port came up the first Hello messages of a fabric link may arrive behind its first probes, and how long
/// probes must then arrive before the port blocks.
const FRESH: u64 = 1000 * MS;
const DOUBT: u64 = 50 * MS;
/// Minimum time between two answers.
const PAUSE: u64 = 10 * MS;
/// For how long after it lost its carrier a blocked port listens first when it comes up, and for how long it then does.
const FLAP: u64 = 10_000 * MS;
const LISTEN: u64 = 1000 * MS;
const MS: u64 = 1_000_000;

/// A port that sends probes. The greater one of two blocks: one that may become a fabric port rather than one that is for
/// hosts only, otherwise by switch id and port number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End {
    /// Whether a Hello may turn it into a fabric port.
    pub may_be_fabric: bool,
    /// Its switch.
    pub switch: u64,
    /// Its number.
    pub port: u16,
}

/// The content of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The sender.
    pub from: End,
    /// Whether the sender is blocked.
    pub blocked: bool,
}

/// What a probe reveals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Nothing new.
    Nothing,
    /// Nothing new, but the sender should hear this end now.
    Answer,
    /// A loop, unless the link passes Hello messages: the other end should hear one and a probe now. A fabric link is answered
    /// by a Hello, a loop by another probe.
    Ask,
    /// A loop: this end is blocked from now on, and the sender should hear so now.
    Blocks,
    /// A loop, and the other end is blocked: stations learnt on this port may be elsewhere.
    Spared,
    /// The other end is blocked after all: this one forwards again.
    Released,
}

/// The other end of a loop.
#[derive(Clone, Copy, Debug)]
struct Peer {
    end: End,
    /// Since when it should have been blocked.
    since: u64,
    /// Its last probe.
    last: u64,
    /// Whether it was sent a Hello and a probe.
    asked: bool,
}

/// The probes of one port.
#[derive(Clone, Debug, Default)]
pub struct LoopGuard {
    /// When the port came up, and the number of probes since then, up to those that are not periodic.
    up: u64,
    sent: usize,
    /// When the next probe is due.
    next: u64,
    /// Frames received up to the last look.
    frames: Option<u64>,
    peer: Option<Peer>,
    /// The end because of which this one is blocked, and until when.
    blocked: Option<(End, u64)>,
    answered_until: u64,
    spared_until: u64,
    /// Until when the port listens first if it comes up.
    flaps_until: u64,
}

impl LoopGuard {
    /// The port has come up; returns until when it must not forward yet: it was blocked until it went down.
    pub fn came_up(&mut self, now: u64) -> Option<u64> {
        let flaps_until = self.flaps_until;
        *self = Self { up: now, next: now, flaps_until, ..Self::default() };
        (now < flaps_until).then_some(now + LISTEN)
    }

    /// The port has gone down.
    pub fn went_down(&mut self, now: u64) {
        let flaps_until = if self.blocked.is_some() { now + FLAP } else { self.flaps_until };
        *self = Self { flaps_until, ..Self::default() };
    }

    /// The port was blocked under an earlier daemon.
    pub fn was_blocked(&mut self, now: u64) {
        self.flaps_until = now + FLAP;
    }

    /// The port is a fabric port from now on.
    pub fn clear(&mut self) {
        self.peer = None;
        self.blocked = None;
    }

    /// The end because of which the port is blocked.
    pub fn blocked_by(&self) -> Option<End> {
        self.blocked.map(|(end, _)| end)
    }

    /// Until when the port is blocked unless a probe arrives.
    pub fn blocked_until(&self) -> Option<u64> {
        self.blocked.map(|(_, until)| until)
    }

    /// The other end of the loop as far as known, while it lasts.
    pub fn other_end(&self, now: u64) -> Option<End> {
        let peer = self.peer.filter(|peer| now < peer.last + HOLD);
        self.blocked_by().or(peer.map(|peer| peer.end))
    }

    /// Ends a block that has expired; returns whether there was one.
    pub fn expire(&mut self, now: u64) -> bool {
        let over = self.blocked.is_some_and(|(_, until)| until <= now);
        if over {
            self.clear();
        }
        over
    }

    /// When the next probe is due.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The port has received `frames` so far; returns whether so many since the last look that it should probe now.
    pub fn look(&mut self, frames: u64) -> bool {
        let before = self.frames.replace(frames);
        before.is_some_and(|before| frames >= before + BUSY)
    }

    /// If a probe is due at `now`, schedules the next one and returns true.
    pub fn take_due(&mut self, now: u64) -> bool {
        if now < self.next {
            return false;
        }
        while let Some(after) = FIRST.get(self.sent) {
            self.sent += 1;
            if self.up + after > now {
                self.next = self.up + after;
                return true;
            }
        }
        self.next = (now / INTERVAL + 1) * INTERVAL;
        true
    }

    /// A probe has arrived at the port `own`.
    pub fn hear(&mut self, own: End, probe: Probe, now: u64) -> Finding {
        let Probe { from, blocked } = probe;
        if own < from {
            return self.hear_greater(from, blocked, now);
        }
        if let Some((by, until)) = &mut self.blocked {
            (*by, *until) = (from, now + HOLD);
            return Finding::Nothing;
        }
        let since = self.note(from, now);
        if !own.may_be_fabric || !from.may_be_fabric {
            return self.block(from, now);
        }
        if now < self.up + FRESH {
            return if now < since + DOUBT { Finding::Nothing } else { self.block(from, now) };
        }
        match &mut self.peer {
            Some(peer) if peer.end != from => Finding::Nothing,
            Some(peer) if !peer.asked => {
                peer.asked = true;
                Finding::Ask
            }
            _ => self.block(from, now),
        }
    }

    /// A probe of the end that should block.
    fn hear_greater(&mut self, from: End, blocked: bool, now: u64) -> Finding {
        match &mut self.blocked {
            Some((by, _)) if *by == from && blocked => {
                self.clear();
                return Finding::Released;
            }
            Some((by, until)) => {
                if *by == from {
                    *until = now + HOLD;
                }
                return Finding::Nothing;
            }
            None => {}
        }
        if blocked {
            self.peer = Some(Peer { end: from, since: now, last: now, asked: false });
            let is_known = now < self.spared_until;
            self.spared_until = now + HOLD;
            return if is_known { Finding::Nothing } else { Finding::Spared };
        }
        let since = self.note(from, now);
        if now >= since + PATIENCE {
            return self.block(from, now);
        }
        if now < self.answered_until {
            return Finding::Nothing;
        }
        self.answered_until = now + PAUSE;
        Finding::Answer
    }

    fn block(&mut self, by: End, now: u64) -> Finding {
        self.blocked = Some((by, now + HOLD));
        Finding::Blocks
    }

    /// Notes a probe of an end; returns since when its probes have been arriving. Of several ends, one is observed at a time.
    fn note(&mut self, end: End, now: u64) -> u64 {
        match &mut self.peer {
            Some(peer) if now < peer.last + PATIENCE => {
                if peer.end == end {
                    peer.last = now;
                    return peer.since;
                }
                now
            }
            peer => {
                *peer = Some(Peer { end, since: now, last: now, asked: false });
                now
            }
        }
    }
}
