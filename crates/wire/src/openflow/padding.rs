//! Padding of fields and elements.

/// The number of zeros that pad `len` bytes to a multiple of eight.
pub(super) const fn padding(len: usize) -> usize {
    len.wrapping_neg() % 8
}
