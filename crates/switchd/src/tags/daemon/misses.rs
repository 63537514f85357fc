//! Frames without a rule, as reported by the program: clients are notified of the pair of addresses, and the frame
//! waits for a rule.

use std::collections::HashMap;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use serde_json::json;
use weft_switching::tag_forward::Addresses;

use super::sending::came;
use super::waiting::Frame;
use crate::daemon::shared::Shared;
use crate::tags::{Miss, Misses};

/// Minimum time between two notices of one pair.
const GAP: Duration = Duration::from_secs(1);
/// Maximum number of pairs remembered for that.
const MOST_PAIRS: usize = 16_384;

/// When each pair was last notified.
#[derive(Default)]
struct Notified {
    pairs: HashMap<Addresses, Instant>,
    /// When old pairs were last removed.
    swept: Option<Instant>,
}

impl Notified {
    /// Admits or suppresses a notice about a pair; a new pair is suppressed while the table is full.
    fn admit(&mut self, pair: Addresses, now: Instant) -> bool {
        let is_recent = |at: &Instant| now.duration_since(*at) < GAP;
        if self.pairs.get(&pair).is_some_and(is_recent) {
            return false;
        }
        let has_room = |pairs: &HashMap<_, _>| pairs.len() < MOST_PAIRS;
        // A host that sends to ever new destinations costs at most one sweep a second.
        if !has_room(&self.pairs) && !self.swept.as_ref().is_some_and(is_recent) {
            self.pairs.retain(|_, at| is_recent(at));
            self.swept = Some(now);
        }
        let has_place = has_room(&self.pairs) || self.pairs.contains_key(&pair);
        if has_place {
            self.pairs.insert(pair, now);
        }
        has_place
    }
}

/// Waits for misses on a thread of its own.
pub fn watch(shared: &Shared, mut misses: Misses) {
    let shared = shared.clone();
    let notices = shared.lock().notices.sender();
    std::thread::spawn(move || {
        let mut notified = Notified::default();
        loop {
            let mut waits = libc::pollfd { fd: misses.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: the pointer is to one such structure.
            unsafe { libc::poll(&raw mut waits, 1, -1) };
            let mut frames = Vec::new();
            while let Some(Miss { port, addresses, len, frame }) = misses.take() {
                let Addresses { source, destination } = addresses;
                if notified.admit(addresses, Instant::now()) {
                    // It does not matter if there is no receiver.
                    let _ = notices.send(json!({
                        "what": "miss", "port": port.0, "source": source, "destination": destination,
                    }));
                }
                // A longer frame was truncated.
                let is_whole = frame.len() == len;
                frames.push(is_whole.then_some(Frame { port, addresses, bytes: frame }));
            }
            came(&shared, frames);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_pair_is_notified_once_a_second_and_pairs_are_bounded() {
        let (mut notified, start) = (Notified::default(), Instant::now());
        let pair = |number: u32| Addresses {
            source: IpAddr::from([10, 0, 0, 1]),
            destination: IpAddr::from(number.to_be_bytes()),
        };
        let after = |ms| start + Duration::from_millis(ms);
        assert!(notified.admit(pair(1), start));
        assert!(!notified.admit(pair(1), after(999)));
        assert!(notified.admit(pair(1), after(1000)));
        let of_many = (0..100_000).filter(|number| notified.admit(pair(2 + number), after(1500))).count();
        assert_eq!((of_many, notified.pairs.len()), (MOST_PAIRS - 1, MOST_PAIRS));
        assert!(notified.admit(pair(2), after(2500)), "it is still in the table");
        assert!(notified.admit(pair(1_000_000), after(2501)), "there is room again");
    }
}
