//! The socket that sends frames that have waited in the daemon.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

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
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Self { socket: unsafe { OwnedFd::from_raw_fd(fd) }, priority: 0 })
    }

    /// Sends a frame out of an interface, with the priority that selects its queue.
    ///
    /// # Errors
    /// The kernel's error, such as a full queue or an interface that is down.
    pub fn send(&mut self, ifindex: u32, priority: u32, frame: &[u8]) -> io::Result<()> {
        if priority != self.priority {
            // SAFETY: the pointer is to an integer of the length that is given.
            let set = unsafe {
                libc::setsockopt(
                    self.socket.as_raw_fd(),
                    libc::SOL_SOCKET,
                    libc::SO_PRIORITY,
                    (&raw const priority).cast(),
                    size_of_val(&priority) as libc::socklen_t,
                )
            };
            if set < 0 {
                return Err(io::Error::last_os_error());
            }
            self.priority = priority;
        }
        // SAFETY: all zeros is a value of this structure of integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = i32::try_from(ifindex).map_err(io::Error::other)?;
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
