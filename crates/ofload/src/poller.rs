//! [`Poller`]: waits until a connection can be read or written, or until a time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// Events taken at once.
const BATCH: usize = 256;
/// The timer's number.
const TIMER: u64 = u64::MAX;

/// One epoll instance with a timer: epoll's own is of milliseconds.
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// A poller of nothing.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
        Ok(Self { epoll, timer, events: Vec::with_capacity(BATCH) })
    }

    /// Waits for a connection too: says its number whenever it may be read again, or written.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add(&self, source: &impl AsFd, number: usize) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, source, epoll::EventData::new_u64(number as u64), flags)?)
    }

    /// Waits until something happens or `after` is over, and says to which connections.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&mut self, after: Duration, happened: &mut Vec<usize>) -> io::Result<()> {
        self.events.clear();
        happened.clear();
        let mut now = Some(Timespec { tv_sec: 0, tv_nsec: 0 });
        if !after.is_zero() {
            let value = Timespec { tv_sec: after.as_secs() as i64, tv_nsec: i64::from(after.subsec_nanos()) };
            let once = Timespec { tv_sec: 0, tv_nsec: 0 };
            let timer = Itimerspec { it_interval: once, it_value: value };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &timer)?;
            now = None;
        }
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), now.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let numbers = self.events.iter().map(|event| event.data.u64());
        happened.extend(numbers.filter(|number| *number != TIMER).map(|number| number as usize));
        Ok(())
    }
}
