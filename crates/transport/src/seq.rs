//! Arithmetic on sequence numbers, modulo 2^32 (RFC 9293, section 3.4). Using `<` on them is a mistake.

/// Whether `a` is before `b`; the two must be less than 2 GiB apart.
#[inline]
pub(crate) const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Whether `a` equals `b` or is before it.
#[inline]
pub(crate) const fn at_or_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) <= 0
}

/// Bytes from `from` up to `to`.
#[inline]
pub(crate) const fn span(from: u32, to: u32) -> u32 {
    to.wrapping_sub(from)
}

/// The later of the two.
#[inline]
pub(crate) const fn later(a: u32, b: u32) -> u32 {
    if before(a, b) { b } else { a }
}

/// The earlier of the two.
#[inline]
pub(crate) const fn earlier(a: u32, b: u32) -> u32 {
    if before(a, b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        assert!(before(u32::MAX, 3) && !before(3, u32::MAX));
        assert!(at_or_before(7, 7));
        assert_eq!(span(u32::MAX - 1, 2), 4);
        assert_eq!((later(u32::MAX, 0), earlier(u32::MAX, 0)), (0, u32::MAX));
    }
}
