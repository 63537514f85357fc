//! [`Cookie`], what a rule is for, in the number that a switch keeps with it.
//!
//! `0x5745`, 4 bits of kind, 44 bits of number. Rules with other cookies are not the controller's.

/// What a rule is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cookie {
    /// One of those that every switch has.
    Base(u32),
    /// Keeps labels out that come by a port.
    Guard(u32),
    /// Delivers to a station: 20 bits of index, 24 of generation.
    Station(u32, u32),
    /// Forwards along a label: the label without its station (21 bits), 23 bits that tell one path that
    /// had it from the next.
    Label(u32, u32),
    /// A direction of a flow (0 from its opener): 24 bits of index, 19 of generation.
    Flow(u32, u32, usize),
    /// A route to a station: 24 bits of index, 20 of generation.
    Route(u32, u32),
    /// Floods what comes by a port of the tree.
    Flood(u32),
    /// Forwards to an address on the tree: 24 bits of index, 20 of generation.
    Tree(u32, u32),
}

const PREFIX: u64 = 0x5745 << 48;

/// Whether a rule with this cookie is the controller's.
pub(crate) const fn is_own(bits: u64) -> bool {
    bits >> 48 == PREFIX >> 48
}

impl Cookie {
    /// The number.
    pub const fn bits(self) -> u64 {
        let (kind, number) = match self {
            Self::Base(number) => (0, number as u64),
            Self::Guard(port) => (1, port as u64),
            Self::Station(index, generation) => (2, tagged(index, 20, generation)),
            Self::Label(label, serial) => (3, tagged(label, 21, serial)),
            Self::Flow(index, generation, direction) => {
                (4, tagged(index, 24, generation << 1 | direction as u32))
            }
            Self::Route(index, generation) => (5, tagged(index, 24, generation)),
            Self::Flood(port) => (6, port as u64),
            Self::Tree(index, generation) => (7, tagged(index, 24, generation)),
        };
        PREFIX | kind << 44 | number
    }

    /// Whether a rule with this number is the controller's.
    pub const fn is_ours(bits: u64) -> bool {
        bits >> 48 == PREFIX >> 48
    }

    /// What a number says; `None` for the number of a rule that is not the controller's, or of no kind.
    pub const fn read(bits: u64) -> Option<Self> {
        if !Self::is_ours(bits) {
            return None;
        }
        let number = bits & ((1 << 44) - 1);
        Some(match bits >> 44 & 15 {
            0 => Self::Base(number as u32),
            1 => Self::Guard(number as u32),
            2 => Self::Station(low_of(number, 20), (number >> 20) as u32),
            3 => Self::Label(low_of(number, 21), (number >> 21) as u32),
            4 => {
                let high = (number >> 24) as u32;
                Self::Flow(low_of(number, 24), high >> 1, (high & 1) as usize)
            }
            5 => Self::Route(low_of(number, 24), (number >> 24) as u32),
            6 => Self::Flood(number as u32),
            7 => Self::Tree(low_of(number, 24), (number >> 24) as u32),
            _ => return None,
        })
    }
}

/// `index` in `width` bits, what fits of `tag` above.
const fn tagged(index: u32, width: u32, tag: u32) -> u64 {
    (index as u64 | (tag as u64) << width) & ((1 << 44) - 1)
}

const fn low_of(number: u64, width: u32) -> u32 {
    (number & ((1 << width) - 1)) as u32
}

/// Whether the part of a generation that a cookie has room for is that of `generation`.
pub(crate) const fn same_generation(part: u32, generation: u32, width: u32) -> bool {
    part == generation & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_says_what_was_put_into_it() {
        for cookie in [
            Cookie::Base(3),
            Cookie::Guard(0xffff_ff00),
            Cookie::Station(0xf_ffff, 0xff_ffff),
            Cookie::Label(0x1f_ffff, 0x7f_ffff),
            Cookie::Flow(0xff_ffff, 0x7_ffff, 1),
            Cookie::Route(0xff_ffff, 0xf_ffff),
            Cookie::Flood(7),
            Cookie::Tree(1, 2),
        ] {
            assert_eq!(Cookie::read(cookie.bits()), Some(cookie), "{:#x}", cookie.bits());
            assert!(Cookie::is_ours(cookie.bits()));
        }
        for bits in [0, 1, u64::MAX, 0x5745_f000_0000_0000, 0x5744_0000_0000_0000] {
            assert_eq!(Cookie::read(bits), None);
        }
        let old = Cookie::Flow(1, 0x8_0005, 0);
        assert!(
            matches!(Cookie::read(old.bits()), Some(Cookie::Flow(1, part, 0)) if same_generation(part, 0x8_0005, 19))
        );
    }
}
