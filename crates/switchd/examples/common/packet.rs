//! Packet sockets: frames as on the wire.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

/// A socket on an interface of this thread's namespace; it receives frames of `protocol`, if any.
pub fn open(interface: &str, protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
    // SAFETY: all zeros is a value of this structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.map_or(0, |protocol| protocol.as_raw().get() as u16);
    address.sll_ifindex = name_to_index(&socket, interface)? as i32;
    let length = size_of_val(&address) as u32;
    // SAFETY: the address and its length agree, and it outlives the call.
    match unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) } {
        0 => Ok(socket),
        _ => Err(io::Error::last_os_error()),
    }
}
