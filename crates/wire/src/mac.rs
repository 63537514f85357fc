//! [`Mac`], the address of a station on Ethernet.

use core::fmt;
use core::str::FromStr;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The group address of every station.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The group address "nearest bridge", never forwarded (IEEE 802.1Q, 8.6.3): destination of Hello messages.
    pub const HELLO: Self = Self([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);

    /// The locally administered address of the simulated host with this number: `02:00` and the number.
    #[inline]
    pub const fn of_host(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self([0x02, 0x00, a, b, c, d])
    }

    /// The number of the simulated host with this address, if any.
    #[inline]
    pub const fn host(self) -> Option<u32> {
        let [p, q, a, b, c, d] = self.0;
        if u16::from_be_bytes([p, q]) == 0x0200 { Some(u32::from_be_bytes([a, b, c, d])) } else { None }
    }

    /// The address as a 48-bit number.
    #[inline]
    pub const fn bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// The address whose [`Mac::bits`] are the lower 48 of `bits`.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = bits.to_be_bytes();
        Self([a, b, c, d, e, f])
    }

    /// Whether frames to this address are for the neighbour on the link only, such as spanning tree, LACP and LLDP:
    /// switches do not forward them (IEEE 802.1Q, 8.6.3).
    #[inline]
    pub const fn is_link_local(self) -> bool {
        matches!(self.0, [0x01, 0x80, 0xc2, 0, 0, last] if last < 16)
    }

    /// Whether it is a group address (broadcast included).
    #[inline]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The address with the group bit set: as a source address it marks a frame that switches flood because its
    /// destination is unknown. No station sends from such an address (IEEE 802.3, 3.2.3).
    #[inline]
    pub const fn marked(self) -> Self {
        let [first, b, c, d, e, f] = self.0;
        Self([first | 1, b, c, d, e, f])
    }

    /// The address without the bit that [`Mac::marked`] sets.
    #[inline]
    pub const fn unmarked(self) -> Self {
        let [first, b, c, d, e, f] = self.0;
        Self([first & !1, b, c, d, e, f])
    }
}

/// The usual notation: `02:00:00:00:00:01`.
impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p, q, a, b, c, d] = self.0;
        write!(f, "{p:02x}:{q:02x}:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
    }
}

impl FromStr for Mac {
    type Err = MalformedMac;

    fn from_str(text: &str) -> Result<Self, MalformedMac> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part =
                parts.next().filter(|part| part.len() == 2 && !part.starts_with('+')).ok_or(MalformedMac)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| MalformedMac)?;
        }
        if parts.next().is_some() { Err(MalformedMac) } else { Ok(Self(bytes)) }
    }
}

/// A text is not a valid MAC address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MalformedMac;

impl fmt::Display for MalformedMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address such as \"02:00:00:00:00:01\"")
    }
}

impl core::error::Error for MalformedMac {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_host_is_known_by_its_address() {
        assert_eq!(Mac::of_host(70_000).host(), Some(70_000));
        assert_eq!(Mac::BROADCAST.host(), None);
        assert!(Mac::HELLO.is_link_local() && !Mac([1, 0x80, 0xc2, 0, 0, 16]).is_link_local());
        assert!(Mac::BROADCAST.is_group() && !Mac::of_host(1).is_group());
        assert!(Mac::of_host(1).marked().is_group());
        assert_eq!(Mac::of_host(1).marked().unmarked(), Mac::of_host(1));
    }

    #[test]
    fn an_address_is_a_number_and_a_text() {
        let mac = Mac([0x06, 0x57, 0, 0, 0x08, 0xff]);
        assert_eq!(Mac::from_bits(mac.bits()), mac);
        assert_eq!(mac.to_string(), "06:57:00:00:08:ff");
        assert_eq!("06:57:00:00:08:ff".parse(), Ok(mac));
        for wrong in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:ff:00",
            "2:0:0:0:0:1",
            "02:00:00:00:00:fg",
            "02:00:00:00:00:+1",
        ] {
            assert_eq!(wrong.parse::<Mac>(), Err(MalformedMac), "{wrong:?}");
        }
    }
}
