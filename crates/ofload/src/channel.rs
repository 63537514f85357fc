//! [`Channel`]: a switch's non-blocking TCP connection to the controller.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use weft_units::reason;
use weft_wire::Error;
use weft_wire::openflow::Messages;

/// Bytes per read.
const READ: usize = 1 << 16;

/// A connection, with the received part of an incomplete message.
pub struct Channel {
    stream: TcpStream,
    received: Vec<u8>,
    /// Bytes of `out` that the kernel has accepted.
    sent: usize,
}

/// Why a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The controller closed it.
    #[error("the controller closed the connection")]
    Closed,
    /// A system call failed.
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
    /// The bytes are not a valid OpenFlow message.
    #[error("the controller sent an invalid OpenFlow message: {0}")]
    Framing(Error),
}

impl Channel {
    /// Connects.
    ///
    /// # Errors
    /// Those of the system calls.
    pub fn open(controller: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(controller)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, received: Vec::new(), sent: 0 })
    }

    /// The stream, for polling.
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads up to `READ` bytes and calls `with` for each whole message. Returns whether there may be more.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub fn read(&mut self, mut with: impl FnMut(&[u8])) -> Result<bool, ChannelError> {
        let kept = self.received.len();
        self.received.resize(kept + READ, 0);
        let read = self.stream.read(&mut self.received[kept..]);
        self.received.truncate(kept + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Err(ChannelError::Closed),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        let mut messages = Messages::new(&self.received);
        for message in messages.by_ref() {
            with(message.map_err(ChannelError::Framing)?);
        }
        let rest = messages.rest().len();
        self.received.drain(..self.received.len() - rest);
        Ok(true)
    }

    /// Writes as much of `out` as the kernel accepts, and clears it once all is written; returns the bytes written.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub fn write(&mut self, out: &mut Vec<u8>) -> Result<usize, ChannelError> {
        let before = self.sent;
        while self.sent < out.len() {
            match self.stream.write(&out[self.sent..]) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(self.sent - before),
                Err(error) => return Err(error.into()),
            }
        }
        let sent = self.sent - before;
        self.sent = 0;
        out.clear();
        Ok(sent)
    }
}
