//! The two ends of a flow's connection, as its applications see them.
//!
//! The sender writes its bytes and shuts its side down; the receiver reads to the end and closes;
//! then the sender closes too. Both take turns: neither does more than a share of work at once, so
//! that flows start at their time however busy others are.

use std::io;
use std::mem::MaybeUninit;

use socket2::Socket;

use crate::clock::Clock;
use crate::tcp_info::TcpInfo;

/// What is sent: all zero, and never written, so that the machine's memory holds one page of it.
static DATA: [u8; CHUNK] = [0; CHUNK];
/// Bytes given to the kernel, or taken from it, at once.
const CHUNK: usize = 1 << 20;
/// Calls of the kernel until others have their turn.
const TURN: usize = 4;

/// What an end of a connection waits for now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The same as before.
    Same,
    /// The end of the other side's bytes: all own bytes are written.
    Written,
    /// Nothing: both sides have closed.
    Closed,
}

/// The sending end.
pub struct Sender {
    /// Its socket.
    pub socket: Socket,
    /// When the connection stood.
    pub established_ps: Option<u64>,
    /// SYNs sent again.
    pub syn_retransmissions: u64,
    left: u64,
}

impl Sender {
    /// An end that has begun to connect and will send `bytes`.
    pub fn new(socket: Socket, bytes: u64) -> Self {
        Self { socket, established_ps: None, syn_retransmissions: 0, left: bytes }
    }

    /// Goes on, now that the socket can.
    ///
    /// # Errors
    /// Why the connection has ended or does not come about.
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
            Ok(_) => Err(io::Error::other("the receiver sent data, and it has none to send")),
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

    /// How many bytes the application has.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Goes on, now that the socket can.
    ///
    /// # Errors
    /// Why the connection has ended too early.
    pub fn go_on(&mut self, clock: &Clock, scratch: &mut Scratch) -> io::Result<Step> {
        for _ in 0..TURN {
            // The bytes are of no use: with this flag TCP forgets them instead of copying them (tcp(7)).
            let read = self.socket.recv_with_flags(&mut scratch.0, libc::MSG_TRUNC);
            match read {
                Ok(0) if self.received == self.bytes => return Ok(Step::Closed),
                Ok(0) => {
                    let why = format!("it ended after {} of {} bytes", self.received, self.bytes);
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
            let why = format!("{} bytes came of a flow of {}", self.received, self.bytes);
            return Err(io::Error::other(why));
        }
        if self.received == self.bytes && self.end_ps.is_none() {
            self.end_ps = Some(clock.now_ps());
        }
        Ok(())
    }
}

/// Where bytes are read to.
pub struct Scratch(Box<[MaybeUninit<u8>]>);

impl Default for Scratch {
    fn default() -> Self {
        Self(Box::new_uninit_slice(CHUNK))
    }
}

/// Whether it may go on later.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
