//! The packet socket of a port: receives Hellos, sends Hellos and Path frames. Each port has its own, so a host that
//! floods its port with Hellos does not affect the others.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socket, sockopt,
};
use tokio::io::unix::AsyncFd;
use weft_wire::EtherType;

/// Size of the receive buffer, including the kernel's overhead per frame: room for some hundred Hellos.
const BACKLOG: usize = 128 << 10;

/// The priority of Hello messages, `TC_PRIO_CONTROL`: qdiscs with bands (pfifo_fast, prio, also below mq) send them before all
/// data and do not drop them while data waits.
const CONTROL: libc::c_int = 7;

/// A packet socket that receives nothing until it is bound.
///
/// # Errors
/// The kernel's error; CAP_NET_RAW is required.
pub fn packet_socket() -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    Ok(socket(AddressFamily::Packet, SockType::Raw, flags, None)?)
}

/// The address of an interface, to receive frames of this EtherType from or to send to.
///
/// # Errors
/// The index does not fit the kernel's type.
pub fn address(ifindex: u32, ethertype: u16) -> io::Result<libc::sockaddr_ll> {
    // SAFETY: all zeros is a value of this structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = i32::try_from(ifindex).map_err(io::Error::other)?;
    Ok(address)
}

/// The socket of one port.
pub struct PortSocket(AsyncFd<OwnedFd>);

impl PortSocket {
    /// Opens a socket on an interface for frames of this type; must be called on a runtime.
    ///
    /// # Errors
    /// The kernel's error; CAP_NET_RAW is required.
    pub fn open(ifindex: u32, ethertype: EtherType) -> io::Result<Self> {
        // No protocol until it is bound, so that no frames of other interfaces arrive before.
        let fd = packet_socket()?;
        // A smaller buffer is acceptable.
        let _ = setsockopt(&fd, sockopt::RcvBuf, &BACKLOG);
        setsockopt(&fd, sockopt::Priority, &CONTROL)?;
        let address = address(ifindex, ethertype.0)?;
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
        let attempt = || send(self.0.get_ref().as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT).map(drop);
        match attempt() {
            // The kernel may report that the interface was down before, once.
            Err(Errno::ENETDOWN) => Ok(attempt()?),
            sent => Ok(sent?),
        }
    }

    /// Receives the next frame, truncated to the buffer; returns its length.
    ///
    /// # Errors
    /// The kernel's error, for example if the interface is down.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|fd| Ok(recv(fd.get_ref().as_raw_fd(), buffer, MsgFlags::empty())?));
            if let Ok(received) = received {
                return received;
            }
        }
    }
}
