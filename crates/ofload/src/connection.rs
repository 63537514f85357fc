//! [`Connection`]: one connection and its subflows, at both hosts.

use weft_wire::mptcp::Key;

use crate::frame::Station;

/// How far the handshake of a subflow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Not opened yet.
    Waiting,
    /// The client has sent the SYN.
    Opened,
    /// The server has received it and answered with SYN+ACK.
    Granted,
    /// The client has received that and sent the ACK.
    Confirmed,
    /// The server has received the ACK.
    Established,
}

/// A subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subflow {
    pub(crate) port: u16,
    pub(crate) stage: Stage,
    /// The time of its SYN's first packet-in.
    pub(crate) asked: Option<u64>,
    /// The client's and the server's.
    pub(crate) nonces: [u32; 2],
    /// A hash of the switches on its SYN's path.
    pub(crate) path: u64,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: Station,
    /// The indices of client and server.
    pub(crate) hosts: [usize; 2],
    /// The client's and the server's.
    pub(crate) keys: [Key; 2],
    pub(crate) opened: u64,
    pub(crate) subflows: Vec<Subflow>,
    pub(crate) is_complete: bool,
}

/// Identifies a subflow of a connection. Connection numbers are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SubflowId {
    /// The connection's number, in order of opening.
    pub connection: u64,
    /// 0 for the initial subflow.
    pub index: u8,
}
