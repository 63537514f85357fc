//! The segments of a handshake.

use weft_wire::mptcp::{self, Capable, CapableFlags, Keys, Version};
use weft_wire::{TcpFlags, TcpOption};

use crate::frame::{MSS, Segment, Socket};

/// MP_CAPABLE with these keys.
pub(crate) fn capable(version: Version, keys: Keys) -> mptcp::Option<'static> {
    mptcp::Option::Capable(Capable { version, flags: CapableFlags::HMAC, keys })
}

/// A segment with the options that Linux sends in addition to Multipath TCP's.
pub(crate) fn segment(
    from: Socket,
    to: Socket,
    flags: TcpFlags,
    option: Option<mptcp::Option<'static>>,
    [sequence, acknowledgement]: [u32; 2],
) -> Vec<u8> {
    let mut options = Vec::with_capacity(5);
    if flags.contains(TcpFlags::SYN) {
        options.extend([
            TcpOption::MaximumSegmentSize(MSS),
            TcpOption::SackPermitted,
            TcpOption::WindowScale(7),
        ]);
    }
    options.push(TcpOption::Timestamps { value: sequence, echo: acknowledgement });
    options.extend(option.map(TcpOption::Mptcp));
    let segment = Segment { from, to, sequence, acknowledgement, flags, options: &options };
    segment.frame().expect("the options of a handshake fit a header")
}
