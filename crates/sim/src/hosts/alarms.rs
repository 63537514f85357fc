//! [`Alarms`]: the timer events that are scheduled for an end of a connection.

use weft_units::Time;

use crate::network::Network;
use crate::timer::Timer;
use crate::timer_heap::Order;

/// The earliest event of each kind; [`Time::MAX`] for none.
pub struct Alarms {
    /// For a timeout.
    timeout: Time,
    /// For data that waits for the interface.
    held: Time,
}

impl Default for Alarms {
    fn default() -> Self {
        Self { timeout: Time::MAX, held: Time::MAX }
    }
}

impl Alarms {
    /// Schedules events for the end at `place`, which sends on the link `nic`, where they are earlier than the pending ones.
    #[inline(always)]
    pub fn arm(&mut self, place: u32, nic: u32, timeout: Time, held: Time, net: &mut Network<'_>) {
        for (at, armed) in [(held, &mut self.held), (timeout, &mut self.timeout)] {
            if at < *armed {
                *armed = at;
                net.schedule(nic, Timer::End(place), at, Order::Scheduled);
            }
        }
    }

    /// Whether a timeout's event is pending.
    #[inline]
    pub fn has_timeout(&self) -> bool {
        self.timeout != Time::MAX
    }

    /// Whether an event is due now; then it is no longer pending. If not, it has moved.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> bool {
        let mut is_due = false;
        for at in [&mut self.timeout, &mut self.held] {
            if *at == now {
                (*at, is_due) = (Time::MAX, true);
            }
        }
        is_due
    }
}
