//! Sockets for flows: bound, with DSCP and congestion control set.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// The accept queue's length; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 4_096;
/// The DSCP's offset in the DS field (RFC 2474, section 3).
const DSCP_SHIFT: u8 = 2;

/// A non-blocking socket bound to `address`.
fn bound(address: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // Allows ports still in TIME_WAIT from the previous run, and flows from one port to several
    // destinations.
    socket.set_reuse_address(true)?;
    if let Some(name) = congestion {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    mark(&socket, address, dscp)?;
    socket.bind(&SockAddr::from(address))?;
    Ok(socket)
}

/// Sets the DSCP of a socket's packets.
///
/// # Errors
/// Those of `setsockopt`.
pub fn mark(socket: &Socket, address: SocketAddr, dscp: u8) -> io::Result<()> {
    let byte = u32::from(dscp << DSCP_SHIFT);
    match (dscp, address) {
        (0, _) => Ok(()),
        (_, SocketAddr::V4(_)) => socket.set_tos_v4(byte),
        (_, SocketAddr::V6(_)) => socket.set_tclass_v6(byte),
    }
}

/// A listener.
///
/// # Errors
/// The kernel's, usually that the port is in use.
pub fn listener(address: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = bound(address, congestion, dscp)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// A socket to [`connect`] from `from`.
///
/// # Errors
/// The kernel's, usually that the port is in use.
pub fn sender(from: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = bound(from, congestion, dscp)?;
    // Disables Nagle's algorithm, as in the simulator.
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}

/// Starts connecting.
///
/// # Errors
/// Immediate ones; later ones are the socket's.
pub fn connect(socket: &Socket, to: SocketAddr) -> io::Result<()> {
    match socket.connect(&SockAddr::from(to)) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        outcome => outcome,
    }
}

/// The congestion control of a socket.
///
/// # Errors
/// Those of `getsockopt`.
pub fn congestion(socket: &Socket) -> io::Result<String> {
    let name = socket.tcp_congestion()?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// Resets a connection, without TIME_WAIT.
pub fn abort(socket: Socket) {
    // If this fails, the connection closes normally.
    let _ = socket.set_linger(Some(std::time::Duration::ZERO));
}

/// Checks that the calling thread's namespace has a congestion control.
///
/// # Errors
/// It is not available, or not permitted to this process.
pub fn has_congestion(name: &str) -> io::Result<()> {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?.set_tcp_congestion(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_carry_the_dscp_of_the_flow_and_the_port_asked_for() {
        let any = |text: &str| text.parse::<SocketAddr>().unwrap();
        let listening = listener(any("127.0.0.1:0"), Some("reno"), 46).unwrap();
        let to = listening.local_addr().unwrap().as_socket().unwrap();
        let sending = sender(any("127.0.0.1:0"), Some("reno"), 46).unwrap();
        let from = sending.local_addr().unwrap().as_socket().unwrap();
        connect(&sending, to).unwrap();
        let (accepted, peer) = loop {
            match listening.accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                accepted => break accepted.unwrap(),
            }
        };
        assert_eq!(peer.as_socket(), Some(from));
        mark(&accepted, to, 46).unwrap();
        for socket in [&listening, &sending, &accepted] {
            assert_eq!((socket.tos_v4().unwrap(), &*congestion(socket).unwrap()), (46 << 2, "reno"));
        }
        let six = sender(any("[::1]:0"), None, 10).unwrap();
        assert_eq!(six.tclass_v6().unwrap(), 10 << 2);
    }
}
