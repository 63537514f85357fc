//! [`Signals`]: SIGINT and SIGTERM as readable events on a socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

/// Becomes readable on SIGINT or SIGTERM.
pub struct Signals {
    socket: UnixStream,
    ids: [Option<SigId>; 2],
}

impl Signals {
    /// Catches both signals until this is dropped.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn new() -> io::Result<Self> {
        let (socket, write) = UnixStream::pair()?;
        let mut signals = Self { socket, ids: [None; 2] };
        for (id, signal) in signals.ids.iter_mut().zip([SIGINT, SIGTERM]) {
            *id = Some(pipe::register(signal, write.try_clone()?)?);
        }
        Ok(signals)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.ids.iter().flatten().for_each(|id| {
            unregister(*id);
        });
    }
}
