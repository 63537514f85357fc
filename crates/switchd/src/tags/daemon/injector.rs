//! The socket that sends frames that have waited in the daemon.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{setsockopt, sockopt};

use crate::daemon::socket::{address, packet_socket};

/// A packet socket that only sends.
pub struct Injector {
    socket: OwnedFd,
    priority: u32,
}

impl Injector {
    /// Opens the socket.
    ///
    /// # Errors
    /// The kernel's error; CAP_NET_RAW is required.
    pub fn open() -> io::Result<Self> {
        Ok(Self { socket: packet_socket()?, priority: 0 })
    }

    /// Sends a frame out of an interface, with the priority that selects its queue.
    ///
    /// # Errors
    /// The kernel's error, such as a full queue or an interface that is down.
    pub fn send(&mut self, ifindex: u32, priority: u32, frame: &[u8]) -> io::Result<()> {
        if priority != self.priority {
            setsockopt(&self.socket, sockopt::Priority, &priority.cast_signed())?;
            self.priority = priority;
        }
        let address = address(ifindex, 0)?;
        // SAFETY: the pointers are to the bytes of the slice, and to an address of the length that is given.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                libc::MSG_DONTWAIT,
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
