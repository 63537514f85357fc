//! [`Poller`]: waits for sockets, for an instant and for signals, all at once.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Events taken at once: starts of flows are looked for between two batches.
const BATCH: usize = 256;

/// What something happened to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// The instant has come.
    Timer,
    /// The user wants it to end.
    Signal,
    /// A listener, by its place.
    Listener(u32),
    /// The sending end of a flow, by the flow's place.
    Sender(u32),
    /// The receiving end.
    Receiver(u32),
}

impl Token {
    const fn pack(self) -> u64 {
        let (kind, at) = match self {
            Self::Timer => (0, 0),
            Self::Signal => (1, 0),
            Self::Listener(at) => (2, at),
            Self::Sender(at) => (3, at),
            Self::Receiver(at) => (4, at),
        };
        kind << 32 | at as u64
    }

    const fn unpack(number: u64) -> Self {
        let at = number as u32;
        match number >> 32 {
            0 => Self::Timer,
            1 => Self::Signal,
            2 => Self::Listener(at),
            3 => Self::Sender(at),
            _ => Self::Receiver(at),
        }
    }
}

/// What a socket is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Something to read, or the end.
    Read,
    /// Room to write.
    Write,
    /// Nothing but errors.
    Nothing,
}

impl Interest {
    const fn flags(self) -> epoll::EventFlags {
        match self {
            Self::Read => epoll::EventFlags::IN,
            Self::Write => epoll::EventFlags::OUT,
            Self::Nothing => epoll::EventFlags::empty(),
        }
    }
}

/// One epoll instance with a timer and the signals that end a run.
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    signals: UnixStream,
    ids: Vec<signal_hook::SigId>,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// A poller of SIGINT and SIGTERM only.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let (signals, write) = UnixStream::pair()?;
        let ids = [SIGINT, SIGTERM].map(|signal| pipe::register(signal, write.try_clone()?));
        let ids = ids.into_iter().collect::<io::Result<Vec<_>>>()?;
        let poller = Self { epoll, timer, signals, ids, events: Vec::with_capacity(BATCH) };
        poller.add(&poller.timer, Token::Timer, Interest::Read)?;
        poller.add(&poller.signals, Token::Signal, Interest::Read)?;
        Ok(poller)
    }

    /// Waits for a socket too.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add(&self, source: &impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token.pack());
        Ok(epoll::add(&self.epoll, source, data, interest.flags())?)
    }

    /// Waits for something else of a socket.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn change(&self, source: &impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token.pack());
        Ok(epoll::modify(&self.epoll, source, data, interest.flags())?)
    }

    /// Sets the timer to an instant of the monotonic clock.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_timer(&self, at: Duration) -> io::Result<()> {
        // All zero would stop the timer.
        let at = at.max(Duration::from_nanos(1));
        let value = Timespec { tv_sec: at.as_secs() as i64, tv_nsec: i64::from(at.subsec_nanos()) };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timer = Itimerspec { it_interval: never, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &timer)?;
        Ok(())
    }

    /// Waits until something happens, and says to what.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&mut self, happened: &mut Vec<Token>) -> io::Result<()> {
        self.events.clear();
        happened.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), None) {
            // A signal: its byte is in the pipe now.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        happened.extend(self.events.iter().map(|event| Token::unpack(event.data.u64())));
        Ok(())
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_went() {
        for token in
            [Token::Timer, Token::Signal, Token::Listener(7), Token::Sender(u32::MAX), Token::Receiver(0)]
        {
            assert_eq!(Token::unpack(token.pack()), token);
        }
    }

    #[test]
    fn the_timer_fires_at_its_time_and_not_before() {
        let mut poller = Poller::new().unwrap();
        let clock = crate::Clock::starting_in(Duration::ZERO);
        poller.set_timer(clock.at_ps(20_000_000_000)).unwrap();
        let mut happened = Vec::new();
        while happened.is_empty() {
            poller.wait(&mut happened).unwrap();
        }
        assert_eq!(happened, [Token::Timer]);
        assert!(clock.now_ps() >= 20_000_000_000);
    }
}
