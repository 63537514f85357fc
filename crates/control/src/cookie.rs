//! [`Cookie`]: the purpose of a rule, encoded in the cookie that the switch stores with it.
//!
//! `0x5745`, 4 bits of kind, 44 bits of number. Rules with other cookies are not the controller's. A cookie stores the
//! facts that a restarted controller cannot read from the rule itself: the connection that a flow belongs to, and which
//! side opened it. Nothing in it is trusted beyond that.
//!
//! Kinds below 8 belong to the first layout (Weft 0.1), which had no connection information.

/// The purpose of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cookie {
    /// A rule that every switch has.
    Base(u32),
    /// Drops labelled frames from a port.
    Guard(u32),
    /// Floods frames from a port of the tree.
    Flood(u32),
    /// Delivers to a station: the switch's (10 bits) and station's (11 bits) numbers in labels.
    Station(u32, u32),
    /// Forwards along a label: the label without its station (21 bits).
    Label(u32),
    /// A route to a station: 24 bits of index, [`GENERATION_BITS`] of generation.
    Route(u32, u32),
    /// Forwards to an address on the tree: likewise.
    Tree(u32, u32),
    /// One direction of a flow.
    Flow(FlowCookie),
}

/// One direction of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowCookie {
    /// The flow, below [`MAX_FLOWS`].
    pub index: u32,
    /// The low bits of its generation.
    pub generation: u32,
    /// 0 from its opener, 1 towards it.
    pub direction: usize,
    /// Its role in a connection.
    pub part: Part,
}

/// A flow's role in an MPTCP connection; only the low bits of the connection's number are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Not part of a connection.
    Plain,
    /// Opened this connection.
    First(u32),
    /// Joined this connection.
    Join(u32, bool),
}

/// The number of flows that cookies can distinguish.
pub(crate) const MAX_FLOWS: u32 = 1 << INDEX_BITS;
/// The bits of a flow's generation.
pub(crate) const FLOW_GENERATION_BITS: u32 = 11;
/// The bits of the generation of any other rule.
pub(crate) const GENERATION_BITS: u32 = 20;
const INDEX_BITS: u32 = 20;
const CONNECTION_BITS: u32 = 11;

const PREFIX: u64 = 0x5745 << 48;
const KIND: u32 = 44;
const FIXED: u64 = 8;
const STATION: u64 = 9;
const LABEL: u64 = 10;
const ROUTE: u64 = 11;
const TREE: u64 = 12;
const PLAIN: u64 = 13;
const FIRST: u64 = 14;
const JOIN: u64 = 15;
/// The flow kind of the first layout.
const OLD_FLOW: u64 = 4;

/// Whether a rule with this cookie is the controller's.
pub(crate) const fn is_own(bits: u64) -> bool {
    bits >> 48 == PREFIX >> 48
}

/// The direction of a flow that a rule with this cookie forwards, in any layout; `None` for other rules.
pub(crate) const fn flow_direction(bits: u64) -> Option<usize> {
    if !is_own(bits) {
        return None;
    }
    match bits >> KIND & 15 {
        OLD_FLOW => Some((bits >> 24 & 1) as usize),
        PLAIN | FIRST | JOIN => Some((bits >> INDEX_BITS & 1) as usize),
        _ => None,
    }
}

/// A group of cookies that is read in one request: those with this value under this mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CookieSlice {
    /// The bits that they share.
    pub value: u64,
    /// Which bits these are.
    pub mask: u64,
}

impl CookieSlice {
    /// Whether a cookie is in the group.
    pub const fn has(self, cookie: u64) -> bool {
        cookie & self.mask == self.value
    }
}

/// A group of the cookies of rules without a timeout.
pub(crate) const fn lasting_slice(number: u32) -> CookieSlice {
    let kind = 0xffff_f000_0000_0000;
    let (value, mask) = match number % LASTING_SLICES {
        0 => (PREFIX | FIXED << KIND, kind),
        1 => (PREFIX | STATION << KIND, kind),
        part => (PREFIX | LABEL << KIND | (part - 2) as u64, kind | 3),
    };
    CookieSlice { value, mask }
}

/// The number of groups of [`lasting_slice`]; together they cover all rules without a timeout.
pub(crate) const LASTING_SLICES: u32 = 6;

impl Cookie {
    /// The encoded cookie.
    pub const fn bits(self) -> u64 {
        let (kind, number) = match self {
            Self::Base(number) => (FIXED, number as u64),
            Self::Guard(port) => (FIXED, 1 << 32 | port as u64),
            Self::Flood(port) => (FIXED, 2 << 32 | port as u64),
            Self::Station(end, station) => (STATION, tagged(station, 11, end)),
            Self::Label(label) => (LABEL, label as u64),
            Self::Route(index, generation) => (ROUTE, tagged(index, 24, generation)),
            Self::Tree(index, generation) => (TREE, tagged(index, 24, generation)),
            Self::Flow(FlowCookie { index, generation, direction, part }) => {
                let generation = generation & ((1 << FLOW_GENERATION_BITS) - 1);
                let low = tagged(index, INDEX_BITS, direction as u32 | generation << 1);
                let mask = (1 << CONNECTION_BITS) - 1;
                let (kind, connection) = match part {
                    Part::Plain => (PLAIN, 0),
                    Part::First(connection) => (FIRST, connection & mask),
                    Part::Join(connection, by_listener) => {
                        (JOIN, connection & mask | (by_listener as u32) << CONNECTION_BITS)
                    }
                };
                (kind, low | (connection as u64) << (INDEX_BITS + 1 + FLOW_GENERATION_BITS))
            }
        };
        PREFIX | kind << KIND | number
    }

    /// Decodes a cookie; `None` for a rule of another controller, an unknown kind or an older layout.
    pub const fn read(bits: u64) -> Option<Self> {
        if !is_own(bits) {
            return None;
        }
        let number = bits & ((1 << KIND) - 1);
        let kind = bits >> KIND & 15;
        Some(match (kind, number >> 32) {
            (FIXED, 0) => Self::Base(number as u32),
            (FIXED, 1) => Self::Guard(number as u32),
            (FIXED, 2) => Self::Flood(number as u32),
            (STATION, _) => Self::Station((number >> 11) as u32, low_of(number, 11)),
            (LABEL, _) => Self::Label(number as u32),
            (ROUTE, _) => Self::Route(low_of(number, 24), (number >> 24) as u32),
            (TREE, _) => Self::Tree(low_of(number, 24), (number >> 24) as u32),
            (PLAIN | FIRST | JOIN, _) => {
                let high = (number >> (INDEX_BITS + 1 + FLOW_GENERATION_BITS)) as u32;
                let connection = high & ((1 << CONNECTION_BITS) - 1);
                Self::Flow(FlowCookie {
                    index: low_of(number, INDEX_BITS),
                    generation: low_of(number >> (INDEX_BITS + 1), FLOW_GENERATION_BITS),
                    direction: (number >> INDEX_BITS & 1) as usize,
                    part: match kind {
                        PLAIN => Part::Plain,
                        FIRST => Part::First(connection),
                        _ => Part::Join(connection, high >> CONNECTION_BITS & 1 == 1),
                    },
                })
            }
            _ => return None,
        })
    }
}

/// `index` in `width` bits, below the low bits of `tag`.
const fn tagged(index: u32, width: u32, tag: u32) -> u64 {
    (index as u64 | (tag as u64) << width) & ((1 << KIND) - 1)
}

const fn low_of(number: u64, width: u32) -> u32 {
    (number & ((1 << width) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_says_what_was_put_into_it() {
        let flow = |part| Cookie::Flow(FlowCookie { index: 0xf_fffe, generation: 0x7fd, direction: 1, part });
        for cookie in [
            Cookie::Base(3),
            Cookie::Guard(0xffff_ff00),
            Cookie::Flood(7),
            Cookie::Station(1023, 2047),
            Cookie::Label(0x1f_ffff),
            Cookie::Route(0xff_ffff, 0xf_ffff),
            Cookie::Tree(1, 2),
            flow(Part::Plain),
            flow(Part::First(2047)),
            flow(Part::Join(2046, false)),
            flow(Part::Join(1, true)),
        ] {
            assert_eq!(Cookie::read(cookie.bits()), Some(cookie), "{:#x}", cookie.bits());
            assert!(is_own(cookie.bits()));
        }
        for bits in [0, 1, u64::MAX, 0x5745_8003_0000_0000, 0x5745_4000_0000_0000, 0x5744_0000_0000_0000] {
            assert_eq!(Cookie::read(bits), None);
        }
    }

    #[test]
    fn a_flows_direction_is_read_in_both_layouts() {
        let flow = FlowCookie { index: 5, generation: 0x805, direction: 1, part: Part::First(1) };
        assert_eq!(flow_direction(Cookie::Flow(flow).bits()), Some(1));
        let low = FlowCookie { generation: 5, ..flow };
        assert_eq!(Cookie::read(Cookie::Flow(flow).bits()), Some(Cookie::Flow(low)));
        assert_eq!(flow_direction(0x5745_4000_0100_0005), Some(1));
        assert_eq!(flow_direction(0x5745_4000_0000_0005), Some(0));
        assert_eq!(flow_direction(Cookie::Route(1, 1).bits()), None);
        assert_eq!(flow_direction(0x1234_4000_0000_0005), None);
    }

    #[test]
    fn every_lasting_rule_is_in_one_slice() {
        let lasting =
            [Cookie::Base(1), Cookie::Guard(9), Cookie::Flood(2), Cookie::Station(3, 4), Cookie::Label(6)];
        for bits in lasting.map(Cookie::bits) {
            let slices = (0..LASTING_SLICES).map(lasting_slice);
            assert_eq!(slices.filter(|slice| slice.has(bits)).count(), 1, "{bits:#x}");
        }
    }
}
