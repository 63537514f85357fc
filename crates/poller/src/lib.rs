//! [`Poller`]: waits for socket readiness or a deadline with one epoll instance.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// Events taken per call.
const BATCH: usize = 256;
/// The timer's token.
const TIMER: u64 = u64::MAX;
const ZERO: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The events to wait for on a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Level-triggered: readable, or end of stream.
    Read,
    /// Level-triggered: writable.
    Write,
    /// Errors only.
    Nothing,
    /// Edge-triggered: new data to read, or new room to write.
    Changes,
}

impl Interest {
    const fn flags(self) -> EventFlags {
        match self {
            Self::Read => EventFlags::IN,
            Self::Write => EventFlags::OUT,
            Self::Nothing => EventFlags::empty(),
            Self::Changes => EventFlags::IN.union(EventFlags::OUT).union(EventFlags::ET),
        }
    }
}

/// One epoll instance with a timer, since epoll's own timeout has a resolution of milliseconds.
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// A poller without sockets.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Self { epoll, timer, events: Vec::with_capacity(BATCH) })
    }

    /// Adds a socket. `token` identifies it; `u64::MAX` is reserved.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn add(&self, source: &impl AsFd, token: impl Into<u64>, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, source, epoll::EventData::new_u64(token.into()), interest.flags())?)
    }

    /// Changes the events that a socket is waited for.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn change(&self, source: &impl AsFd, token: impl Into<u64>, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, source, epoll::EventData::new_u64(token.into()), interest.flags())?)
    }

    /// Sets the timer to this time of the monotonic clock.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn set_timer(&self, at: Duration) -> io::Result<()> {
        self.arm(at, TimerfdTimerFlags::ABSTIME)
    }

    fn arm(&self, time: Duration, flags: TimerfdTimerFlags) -> io::Result<()> {
        // An all-zero value would disarm the timer.
        let time = time.max(Duration::from_nanos(1));
        let it_value = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
        timerfd_settime(&self.timer, flags, &Itimerspec { it_interval: ZERO, it_value })?;
        Ok(())
    }

    /// Waits for socket events, a signal or the timer, for `most` at most; zero does not wait, `None` waits for the
    /// timer only. Stores the tokens of ready sockets in `happened`.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn wait(&mut self, most: Option<Duration>, happened: &mut Vec<u64>) -> io::Result<()> {
        self.events.clear();
        happened.clear();
        if let Some(most) = most.filter(|most| !most.is_zero()) {
            self.arm(most, TimerfdTimerFlags::empty())?;
        }
        let timeout = most.filter(Duration::is_zero).map(|_| &ZERO);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        happened.extend(self.events.iter().map(|event| event.data.u64()).filter(|token| *token != TIMER));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;

    #[test]
    fn waiting_ends_when_a_socket_can_be_read_or_the_time_is_over_and_not_before() {
        let mut poller = Poller::new().unwrap();
        let (mut one, other) = UnixStream::pair().unwrap();
        poller.add(&other, 7_u64, Interest::Read).unwrap();
        let (mut happened, start) = (Vec::new(), Instant::now());
        let most = Duration::from_millis(20);
        while start.elapsed() < most {
            poller.wait(Some(most), &mut happened).unwrap();
            assert_eq!(happened, []);
        }
        one.write_all(b"x").unwrap();
        for most in [None, Some(Duration::ZERO), Some(Duration::from_secs(1000))] {
            poller.wait(most, &mut happened).unwrap();
            assert_eq!(happened, [7], "still readable");
        }
        poller.change(&other, 7_u64, Interest::Changes).unwrap();
        for expected in [&[7][..], &[]] {
            poller.wait(Some(Duration::ZERO), &mut happened).unwrap();
            assert_eq!(happened, expected, "no new data");
        }
    }
}
