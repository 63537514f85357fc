//! [`Claims`]: reported moves of stations and losses of their addresses, while the stations may contradict them.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::clock::{Duration, Time};
use crate::slab::Handle;

/// How long the known station may take to answer a probe.
pub(crate) const PROBE: Duration = Duration::from_ms(300);
/// When an unanswered probe is repeated, since a probe or its answer may be lost (RFC 5227, section 2.1.1, sends three,
/// one to two seconds apart, where no traffic waits for the result).
const PROBE_AGAIN: Duration = Duration::from_ms(150);
/// Maximum number of open claims.
const MAX_CLAIMS: usize = 1024;

/// A claim that holds unless it is contradicted in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// The station is now at this port of this switch.
    Moved { station: Handle, port: u32, switch: u32 },
    /// The station's address now belongs to another one.
    Taken { station: Handle, address: IpAddr, by: Handle },
}

impl Claim {
    /// The station that would lose something.
    pub fn station(&self) -> Handle {
        match *self {
            Self::Moved { station, .. } | Self::Taken { station, .. } => station,
        }
    }
}

/// The open claims.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// Claims with the time from which each holds.
    open: VecDeque<(Time, Claim)>,
    /// Claims not probed a second time yet, with the time when that is due.
    asked_once: VecDeque<(Time, Claim)>,
}

impl Claims {
    /// Opens a claim. `false` if it is open already or there are too many.
    pub fn open(&mut self, now: Time, claim: Claim) -> bool {
        if self.open.len() >= MAX_CLAIMS || self.open.iter().any(|(_, open)| *open == claim) {
            return false;
        }
        self.open.push_back((now + PROBE, claim));
        self.asked_once.push_back((now + PROBE_AGAIN, claim));
        true
    }

    /// Whether a claim is open that a station has moved.
    pub fn is_said_to_have_moved(&self, handle: Handle) -> bool {
        let moved = |claim: &Claim| claim.station() == handle && matches!(claim, Claim::Moved { .. });
        self.open.iter().any(|(_, claim)| moved(claim))
    }

    /// When the next second probe or claim expiry is due.
    pub fn deadline(&self) -> Time {
        let fronts = [self.asked_once.front(), self.open.front()].into_iter().flatten();
        fronts.map(|&(deadline, _)| deadline).min().unwrap_or(Time::MAX)
    }

    /// Takes the next claim whose second probe is due.
    pub fn next_to_probe(&mut self, now: Time) -> Option<Claim> {
        take_due(&mut self.asked_once, now)
    }

    /// Takes the next claim that has expired.
    pub fn next_expired(&mut self, now: Time) -> Option<Claim> {
        take_due(&mut self.open, now)
    }

    /// Ends claims; returns those that were open.
    pub fn end(&mut self, which: impl Fn(&Claim) -> bool) -> Vec<Claim> {
        self.asked_once.retain(|(_, claim)| !which(claim));
        let mut ended = Vec::new();
        self.open.retain(|(_, claim)| {
            let ends = which(claim);
            if ends {
                ended.push(*claim);
            }
            !ends
        });
        ended
    }
}

fn take_due(queue: &mut VecDeque<(Time, Claim)>, now: Time) -> Option<Claim> {
    queue.front().filter(|(due, _)| *due <= now)?;
    queue.pop_front().map(|(_, claim)| claim)
}
