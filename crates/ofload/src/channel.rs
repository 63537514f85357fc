//! [`Channel`]: a switch's TCP connection to the controller, which never waits.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use weft_wire::Error;
use weft_wire::openflow::Messages;

/// The bytes that are read at once.
const READ: usize = 1 << 16;

/// A connection, and what has come of it that is no whole message yet.
pub struct Channel {
    stream: TcpStream,
    received: Vec<u8>,
    /// The bytes of `out` that the kernel has taken.
    sent: usize,
}

/// Why a connection is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The controller closed it.
    #[error("the controller closed the connection")]
    Closed,
    /// The kernel.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No message starts where one should.
    #[error("what the controller sends is no OpenFlow: {0}")]
    Framing(Error),
}

impl Channel {
    /// Connects.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(controller: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(controller)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, received: Vec::new(), sent: 0 })
    }

    /// What is to be polled.
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads what there is, up to a bound, and calls `with` for each whole message. Says whether there may be more.
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

    /// Writes as much of `out` as the kernel takes, and empties it once all is written; gives the bytes.
    ///
    /// # Errors
    /// What the kernel says.
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
