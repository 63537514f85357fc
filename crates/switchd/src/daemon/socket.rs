//! The packet socket of a port: receives Hellos, sends Hellos and Path frames. Each port has its own, so a host that
//! floods its port with Hellos does not affect the others.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;
use weft_wire::EtherType;

/// Size of the receive buffer, including the kernel's overhead per frame: room for some hundred Hellos.
static BACKLOG: libc::c_int = 128 << 10;

/// The socket of one port.
pub struct PortSocket(AsyncFd<OwnedFd>);

impl PortSocket {
    /// Opens a socket on an interface for frames of this type; must be called on a runtime.
    ///
    /// # Errors
    /// The kernel's error; CAP_NET_RAW is required.
    pub fn open(ifindex: u32, ethertype: EtherType) -> io::Result<Self> {
        let protocol = ethertype.0.to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // No protocol until it is bound, so that no frames of other interfaces arrive before.
        // SAFETY: no pointers.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: the pointer is to an integer of the length that is given.
        unsafe {
            libc::setsockopt(
                fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVBUF,
                (&raw const BACKLOG).cast(),
                size_of_val(&BACKLOG) as libc::socklen_t,
            );
        }
        // SAFETY: all zeros is a value of this structure of integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = i32::try_from(ifindex).map_err(io::Error::other)?;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer is to an address of the length that is given.
        if unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: an owned descriptor does not change during its lifetime.
        Ok(Self(unsafe { AsyncFd::register(fd) }?))
    }

    /// Sends a frame, without waiting for room in the queue.
    ///
    /// # Errors
    /// The kernel's error, such as a full queue or an interface that is down.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        let fd = self.0.get_ref().as_raw_fd();
        // SAFETY: the pointer is to the bytes of the slice.
        let sent = unsafe { libc::send(fd, frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Receives the next frame, truncated to the buffer; returns its length.
    ///
    /// # Errors
    /// The kernel's error, for example if the interface is down.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|fd| {
                // SAFETY: the pointer is to the bytes of the slice.
                let length = unsafe {
                    libc::recv(fd.get_ref().as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0)
                };
                usize::try_from(length).map_err(|_| io::Error::last_os_error())
            });
            if let Ok(received) = received {
                return received;
            }
        }
    }
}
