//! Sockets as flows need them: bound, marked, with the congestion control asked for.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Connections that wait to be accepted; the kernel takes no more than `net.core.somaxconn`.
const BACKLOG: i32 = 4_096;
/// Where the DSCP is in the byte that carries it (RFC 2474, section 3).
const DSCP_SHIFT: u8 = 2;

/// A socket bound to `address` that blocks nobody.
fn bound(address: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // The port of a connection of the last run that is in TIME_WAIT may be used again, and flows from
    // one port to several destinations share it.
    socket.set_reuse_address(true)?;
    if let Some(name) = congestion {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    mark(&socket, address, dscp)?;
    socket.bind(&SockAddr::from(address))?;
    Ok(socket)
}

/// Gives the packets of a socket their DSCP.
///
/// # Errors
/// What the kernel says.
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
/// What the kernel says, first of all that the port is taken.
pub fn listener(address: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = bound(address, congestion, dscp)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// A socket about to connect from `from`; see [`connect`].
///
/// # Errors
/// What the kernel says.
pub fn sender(from: SocketAddr, congestion: Option<&str>, dscp: u8) -> io::Result<Socket> {
    let socket = bound(from, congestion, dscp)?;
    // The last segment of a flow does not wait for an acknowledgement (Nagle), as it does not in the
    // simulator.
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}

/// Begins to connect.
///
/// # Errors
/// What the kernel says at once.
pub fn connect(socket: &Socket, to: SocketAddr) -> io::Result<()> {
    match socket.connect(&SockAddr::from(to)) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        outcome => outcome,
    }
}

/// The congestion control that a socket has.
///
/// # Errors
/// What the kernel says.
pub fn congestion(socket: &Socket) -> io::Result<String> {
    let name = socket.tcp_congestion()?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// Ends a connection at once, with a reset: nothing stays of it.
pub fn abort(socket: Socket) {
    // Where it cannot be told so the connection ends the ordinary way.
    let _ = socket.set_linger(Some(std::time::Duration::ZERO));
}

/// Whether the namespace of the calling thread has a congestion control.
///
/// # Errors
/// It does not, or not for this process.
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
