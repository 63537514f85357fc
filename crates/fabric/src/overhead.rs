//! [`Overhead`]: the bytes that a link adds to an IP packet on the wire.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The framing of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overhead {
    /// 38 bytes around the IP packet: preamble and start delimiter 8, header 14, check sequence 4, gap 12;
    /// frames are padded to at least 84 bytes on the wire (IEEE 802.3-2018, 3.1.1, 4.2.3.3 and 4.4.2).
    #[default]
    Ethernet,
    /// 2 bytes, the framing of ns-3's point-to-point device.
    Ppp,
    /// The IP packet alone.
    None,
}

impl Overhead {
    /// The bytes that a packet of `ip_bytes` occupies on the wire.
    #[inline]
    pub const fn wire_bytes(self, ip_bytes: u32) -> u32 {
        match self {
            Self::Ethernet => {
                let framed = ip_bytes + 38;
                if framed < 84 { 84 } else { framed }
            }
            Self::Ppp => ip_bytes + 2,
            Self::None => ip_bytes,
        }
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ethernet => "ethernet",
            Self::Ppp => "ppp",
            Self::None => "none",
        })
    }
}

impl FromStr for Overhead {
    type Err = String;

    /// Reads `ethernet`, `ppp` or `none`; the error is the text itself.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ethernet" => Ok(Self::Ethernet),
            "ppp" => Ok(Self::Ppp),
            "none" => Ok(Self::None),
            other => Err(other.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Overhead;

    #[test]
    fn a_packet_takes_its_frame_and_no_frame_is_shorter_than_the_shortest() {
        for (overhead, ip, wire) in [
            (Overhead::Ethernet, 1500, 1538),
            (Overhead::Ethernet, 40, 84),
            (Overhead::Ethernet, 46, 84),
            (Overhead::Ethernet, 47, 85),
            (Overhead::Ppp, 40, 42),
            (Overhead::None, 40, 40),
        ] {
            assert_eq!(overhead.wire_bytes(ip), wire, "{overhead} {ip}");
            assert_eq!(overhead.to_string().parse(), Ok(overhead));
        }
    }
}
