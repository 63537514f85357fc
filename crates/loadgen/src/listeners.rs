//! [`Listeners`]: one for each host and destination port, all open before the first flow starts.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use socket2::Socket;
use weft_poller::{Interest, Poller};

use crate::namespace::Namespaces;
use crate::socket;
use crate::token::Token;
use crate::workload::{Flow, Workload};

/// A listener, or why it could not be opened.
struct Listener {
    socket: Result<Socket, String>,
    /// Whether it has stopped accepting for a shortage.
    waits: bool,
}

/// The result of accepting.
pub enum Accepted {
    /// The connection of the flow with this index.
    Flow(u32, Socket),
    /// A connection that belongs to no flow; it is closed.
    Stranger,
    /// Nothing more for now.
    Nothing,
}

/// The listeners of the hosts on this machine.
pub struct Listeners {
    all: Vec<Listener>,
    by_port: HashMap<(u32, u16), u32>,
    /// The flow's index by the connection's source and listener.
    expected: HashMap<(SocketAddr, u32), u32>,
    waiting: bool,
}

impl Listeners {
    /// Opens them. If a port is in use, or an address is not the host's, only its flows fail.
    ///
    /// # Errors
    /// A namespace that cannot be entered.
    pub fn open(
        workload: &Workload,
        here: &[bool],
        namespaces: &mut Namespaces,
        poller: &Poller,
    ) -> io::Result<Self> {
        let mut listeners =
            Self { all: Vec::new(), by_port: HashMap::new(), expected: HashMap::new(), waiting: false };
        let marks = marks(workload);
        for (place, flow) in workload.flows.iter().enumerate().filter(|(_, flow)| here[flow.dst as usize]) {
            let key = (flow.dst, flow.dport);
            let at = match listeners.by_port.get(&key) {
                Some(&at) => at,
                None => {
                    let at = listeners.all.len() as u32;
                    let address = workload.destination(flow);
                    namespaces.enter(flow.dst)?;
                    let dscp = marks.get(&key).copied().flatten().unwrap_or(0);
                    let socket = socket::listener(address, workload.congestion.as_deref(), dscp)
                        .and_then(|socket| {
                            poller.add(&socket, Token::Listener(at), Interest::Read).map(|()| socket)
                        })
                        .map_err(|error| format!("listen at {address}: {error}"));
                    listeners.all.push(Listener { socket, waits: false });
                    listeners.by_port.insert(key, at);
                    at
                }
            };
            listeners.expected.insert((workload.source(flow), at), place as u32);
        }
        Ok(listeners)
    }

    /// Why a flow's listener could not be opened; `None` if it was, or if it is on another machine.
    pub fn failure(&self, flow: &Flow) -> Option<&str> {
        let at = *self.by_port.get(&(flow.dst, flow.dport))?;
        self.all[at as usize].socket.as_ref().err().map(String::as_str)
    }

    /// Accepts one connection.
    ///
    /// # Errors
    /// An error of the listener itself.
    pub fn accept(&mut self, at: u32, poller: &Poller) -> io::Result<Accepted> {
        let listener = &mut self.all[at as usize];
        let Ok(socket) = &listener.socket else { return Ok(Accepted::Nothing) };
        let (connection, from) = match socket.accept() {
            Ok(accepted) => accepted,
            // The connection stays in the queue: the listener would be ready again at once.
            Err(error) if is_shortage(&error) => {
                poller.change(socket, Token::Listener(at), Interest::Nothing)?;
                (listener.waits, self.waiting) = (true, true);
                return Ok(Accepted::Nothing);
            }
            // No more connections, or one that ended before it was accepted (accept(2)).
            Err(_) => return Ok(Accepted::Nothing),
        };
        connection.set_nonblocking(true)?;
        let place = from.as_socket().and_then(|from| self.expected.remove(&(from, at)));
        Ok(place.map_or(Accepted::Stranger, |place| Accepted::Flow(place, connection)))
    }

    /// Resumes listeners that have stopped accepting: after a connection was closed, or some time later.
    ///
    /// # Errors
    /// Those of `epoll_ctl`.
    pub fn resume(&mut self, poller: &Poller) -> io::Result<()> {
        if !std::mem::take(&mut self.waiting) {
            return Ok(());
        }
        for (at, listener) in self.all.iter_mut().enumerate().filter(|(_, listener)| listener.waits) {
            listener.waits = false;
            if let Ok(socket) = &listener.socket {
                poller.change(socket, Token::Listener(at as u32), Interest::Read)?;
            }
        }
        Ok(())
    }
}

/// Whether accept(2) failed for lack of file descriptors or memory.
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

/// The DSCP of each listener's flows if they agree: the kernel answers a SYN with the listener's.
fn marks(workload: &Workload) -> HashMap<(u32, u16), Option<u8>> {
    let mut marks = HashMap::new();
    for flow in &workload.flows {
        let mark = marks.entry((flow.dst, flow.dport)).or_insert(Some(flow.dscp));
        if *mark != Some(flow.dscp) {
            *mark = None;
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_waits_for_descriptors_and_memory_only() {
        let is_shortage = |code| is_shortage(&io::Error::from_raw_os_error(code));
        assert!([libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM].into_iter().all(is_shortage));
        assert!(![libc::EAGAIN, libc::ECONNABORTED].into_iter().any(is_shortage));
    }
}
