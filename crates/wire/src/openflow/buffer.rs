//! The id of a packet that a switch holds, in messages.

/// The id of no buffer: the packet is in the message.
pub(crate) const NO_BUFFER: u32 = 0xffff_ffff;

/// A buffer's id from its bytes.
pub(super) const fn buffer(id: u32) -> Option<u32> {
    if id == NO_BUFFER { None } else { Some(id) }
}
