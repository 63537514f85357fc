//! [`Slot`]: an entry of a [`crate::SoftTable`], and its neighbours in the order of expiry.

use weft_units::Time;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// The fields of a lookup come first, so that they are seldom in two cache lines.
#[repr(C)]
pub(crate) struct Slot<K, V> {
    pub(crate) expiry: Time,
    pub(crate) key: K,
    pub(crate) class: u8,
    /// Its list in the expiry order of its class.
    pub(crate) list: u8,
    pub(crate) value: V,
    pub(crate) links: Links,
}

/// A slot's neighbours in its list.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { before: NONE, after: NONE }
    }
}
