//! The two ends of a flow's connection, as its applications see them.
//!
//! The sender writes its bytes and shuts down its side; the receiver reads to the end and closes;
//! then the sender closes too. The work per wakeup is bounded, so that flows start on time however
//! busy others are.

use std::io;
use std::mem::MaybeUninit;

use socket2::Socket;
use weft_units::plural;

use crate::clock::Clock;
use crate::tcp_info::TcpInfo;

/// The data sent: zeros that are never written, so all pages map to the shared zero page.
static DATA: [u8; CHUNK] = [0; CHUNK];
/// Maximum bytes per `send` or `recv`.
const CHUNK: usize = 1 << 20;
/// Maximum system calls per wakeup.
const TURN: usize = 4;

/// The next event that an end of a connection waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing has changed.
    Same,
    /// The peer's close: all bytes are written.
    Written,
    /// Nothing: both sides have closed.
    Closed,
}

/// The sending end.
pub struct Sender {
    /// Its socket.
    pub socket: Socket,
    /// When the connection was established.
    pub established_ps: Option<u64>,
    /// Retransmitted SYNs.
    pub syn_retransmissions: u64,
    left: u64,
}

impl Sender {
    /// An end that has begun to connect and will send `bytes`.
    pub fn new(socket: Socket, bytes: u64) -> Self {
        Self { socket, established_ps: None, syn_retransmissions: 0, left: bytes }
    }

    /// Continues after the socket has become ready.
    ///
    /// # Errors
    /// Why the connection broke or could not be established.
    pub fn go_on(&mut self, clock: &Clock) -> io::Result<Step> {
        if self.established_ps.is_none() {
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            self.established_ps = Some(clock.now_ps());
            self.syn_retransmissions = TcpInfo::of(&self.socket)?.total_retrans.unwrap_or(0);
        }
        if self.left == 0 {
            return self.read_end();
        }
        for _ in 0..TURN {
            let chunk = usize::try_from(self.left).map_or(CHUNK, |left| left.min(CHUNK));
            match self.socket.send_with_flags(&DATA[..chunk], libc::MSG_NOSIGNAL) {
                Ok(sent) => self.left -= sent as u64,
                Err(error) if is_transient(&error) => return Ok(Step::Same),
                Err(error) => return Err(error),
            }
            if self.left == 0 {
                self.socket.shutdown(std::net::Shutdown::Write)?;
                return Ok(Step::Written);
            }
        }
        Ok(Step::Same)
    }

    /// Waits for the receiver to close.
    fn read_end(&self) -> io::Result<Step> {
        match self.socket.recv(&mut [MaybeUninit::uninit(); 64]) {
            Ok(0) => Ok(Step::Closed),
            Ok(_) => Err(io::Error::other("unexpected data from the receiver")),
            Err(error) if is_transient(&error) => Ok(Step::Same),
            Err(error) => Err(error),
        }
    }
}

/// The receiving end.
pub struct Receiver {
    /// Its socket.
    pub socket: Socket,
    /// When the last byte was read.
    pub end_ps: Option<u64>,
    bytes: u64,
    received: u64,
}

impl Receiver {
    /// An end that has accepted a connection and expects `bytes`.
    pub fn new(socket: Socket, bytes: u64) -> Self {
        Self { socket, end_ps: None, bytes, received: 0 }
    }

    /// Bytes received by the application.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Continues after the socket has become ready.
    ///
    /// # Errors
    /// Why the connection ended early.
    pub fn go_on(&mut self, clock: &Clock, scratch: &mut Scratch) -> io::Result<Step> {
        for _ in 0..TURN {
            // With this flag TCP discards the data instead of copying it (tcp(7)).
            let read = self.socket.recv_with_flags(&mut scratch.0, libc::MSG_TRUNC);
            match read {
                Ok(0) if self.received == self.bytes => return Ok(Step::Closed),
                Ok(0) => {
                    let why = format!(
                        "connection closed after {} of {}",
                        self.received,
                        plural(self.bytes, "byte")
                    );
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
                }
                Ok(read) => self.take(read as u64, clock)?,
                Err(error) if is_transient(&error) => return Ok(Step::Same),
                Err(error) => return Err(error),
            }
        }
        Ok(Step::Same)
    }

    fn take(&mut self, read: u64, clock: &Clock) -> io::Result<()> {
        self.received += read;
        if self.received > self.bytes {
            let why = format!("received {} of a flow of {}", plural(self.received, "byte"), self.bytes);
            return Err(io::Error::other(why));
        }
        if self.received == self.bytes && self.end_ps.is_none() {
            self.end_ps = Some(clock.now_ps());
        }
        Ok(())
    }
}

/// The receive buffer.
pub struct Scratch(Box<[MaybeUninit<u8>]>);

impl Default for Scratch {
    fn default() -> Self {
        Self(Box::new_uninit_slice(CHUNK))
    }
}

/// Whether the call can be retried.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
