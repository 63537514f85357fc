//! Rate limit for logs, so that outsiders cannot fill them: at most one message of each kind in ten seconds, with the
//! number suppressed since the last one.

use std::collections::HashMap;

/// Nanoseconds between two messages of a kind.
const GAP: u64 = 10_000_000_000;

/// Next allowed time and number suppressed, by port and kind of message. The kinds are few and fixed.
#[derive(Debug, Default)]
pub struct LogLimit(HashMap<(u16, &'static str), (u64, u64)>);

impl LogLimit {
    /// Admits or suppresses a message of this kind about a port at `now`; if admitted, returns how many were suppressed
    /// before.
    pub fn admit(&mut self, port: u16, kind: &'static str, now: u64) -> Option<u64> {
        let (next, left_out) = self.0.entry((port, kind)).or_insert((0, 0));
        if now < *next {
            *left_out += 1;
            return None;
        }
        *next = now + GAP;
        Some(std::mem::take(left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_messages_are_one_in_ten_seconds() {
        let mut limit = LogLimit::default();
        let said: Vec<u64> =
            (0..1_000_000).filter_map(|ms| limit.admit(0, "replay", ms * 1_000_000)).collect();
        assert_eq!(said.len(), 100);
        assert_eq!(said[1], 9_999);
        assert_eq!(limit.admit(1, "replay", 1), Some(0), "ports are independent");
    }
}
