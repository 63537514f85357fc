//! [`Unsent`]: Hello messages that a port could not send.

/// The Hello messages that the kernel refused to send.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unsent {
    total: u64,
    /// Since when none could be sent.
    since: Option<u64>,
    lasts: bool,
}

impl Unsent {
    /// A Hello was sent at `now`, or refused; returns whether [`Unsent::lasts`] has changed.
    pub(super) fn note(&mut self, sent: bool, now: u64, hold: u64) -> bool {
        self.total += u64::from(!sent);
        self.since = if sent { None } else { self.since.or(Some(now)) };
        let before = self.lasts;
        self.lasts = self.since.is_some_and(|since| now.saturating_sub(since) >= hold);
        self.lasts != before
    }

    /// The port has gone down: earlier failures say nothing about the time when it is up again.
    pub(super) const fn forget(&mut self) {
        (self.since, self.lasts) = (None, false);
    }

    /// How many there were.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Whether none could be sent for a hold time: the neighbour hears this switch no longer.
    pub const fn lasts(&self) -> bool {
        self.lasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_last_once_no_message_was_sent_for_a_hold_time() {
        let mut unsent = Unsent::default();
        let mut note = |sent, now| (unsent.note(sent, now, 300), unsent.lasts(), unsent.total());
        assert_eq!(note(false, 1000), (false, false, 1));
        assert_eq!(note(false, 1299), (false, false, 2));
        assert_eq!(note(true, 1300), (false, false, 2));
        assert_eq!(note(false, 1301), (false, false, 3), "from the first failure after a success");
        assert_eq!(note(false, 1601), (true, true, 4));
        assert_eq!(note(false, 1700), (false, true, 5));
        assert_eq!(note(true, 1701), (true, false, 5));
    }
}
