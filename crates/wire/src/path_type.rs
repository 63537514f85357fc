//! [`PathType`]: the types of Path frames.

use core::fmt;

/// The type of a Path frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum PathType {
    /// Floods a SYN over all paths.
    Request = 1,
    /// Carries the SYN+ACK back over the path whose Request came first.
    Reply = 2,
    /// Notifies one edge that the other has become unreachable.
    Fail = 3,
    /// Searches for a new path of an established flow.
    RecoveryRequest = 4,
    /// Confirms the new path.
    RecoveryReply = 5,
}

impl PathType {
    /// All types.
    pub const ALL: [Self; 5] =
        [Self::Request, Self::Reply, Self::Fail, Self::RecoveryRequest, Self::RecoveryReply];

    /// Whether it carries a host's frame.
    pub const fn carries_original(self) -> bool {
        matches!(self, Self::Request | Self::Reply)
    }

    /// Whether it is flooded instead of following the path.
    pub const fn is_flooded(self) -> bool {
        matches!(self, Self::Request | Self::RecoveryRequest)
    }
}

impl fmt::Display for PathType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "Path Request",
            Self::Reply => "Path Reply",
            Self::Fail => "Path Fail",
            Self::RecoveryRequest => "Path Recovery Request",
            Self::RecoveryReply => "Path Recovery Reply",
        })
    }
}
