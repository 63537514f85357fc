//! Completes checksums that the sender left to its interface (checksum offload): a frame received over a virtual link
//! may carry only the pseudo-header sum in the TCP or UDP checksum field, and the kernel does not report this to the
//! reader.

use std::net::IpAddr;

use weft_wire::{Ethernet, Ip, IpProtocol};

/// The sum of 16-bit words (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    // No frame has enough words to overflow.
    words.sum()
}

fn fold(sum: u32) -> u16 {
    let folded = (sum & 0xffff) + (sum >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

/// Completes a checksum field that holds the pseudo-header sum; leaves any other value unchanged, even a wrong one.
pub fn complete(frame: &mut [u8]) {
    if let Some((place, checksum)) = completed(frame)
        && let Some(bytes) = frame.get_mut(place..place + 2)
    {
        bytes.copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The offset of a checksum to complete, and its completed value.
fn completed(frame: &[u8]) -> Option<(usize, u16)> {
    let ethernet = Ethernet::parse(frame).ok()?;
    let ip = Ip::parse(&ethernet).ok()?;
    let offset = match ip.protocol() {
        IpProtocol::TCP => 16,
        IpProtocol::UDP => 6,
        _ => return None,
    };
    let payload = ip.payload();
    if ip.is_fragment() || payload.len() < offset + 2 {
        return None;
    }
    let of = |address| match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    };
    let addresses = of(ip.source()) + of(ip.destination());
    let pseudo = fold(addresses + u32::from(ip.protocol().0) + payload.len() as u32);
    let there = u16::from_be_bytes([payload[offset], payload[offset + 1]]);
    if there != pseudo {
        return None;
    }
    // The sum over the payload, with the pseudo-header sum in the checksum field.
    let checksum = match !fold(sum(payload)) {
        // In UDP, 0 means no checksum (RFC 768); 0xffff is the other zero.
        0 if ip.protocol() == IpProtocol::UDP => 0xffff,
        checksum => checksum,
    };
    // The payload is a slice of the frame.
    let place = payload.as_ptr() as usize - frame.as_ptr() as usize + offset;
    Some((place, checksum))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram from 10.0.0.1 to 10.0.0.2 with this checksum.
    fn frame(checksum: u16) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend([0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x30, 0x39, 0, 7, 0, 11]);
        frame.extend(checksum.to_be_bytes());
        frame.extend(b"abc");
        frame
    }

    #[test]
    fn a_sum_of_the_pseudo_header_becomes_the_checksum_and_others_stay() {
        // 0a00 + 0001 + 0a00 + 0002 + 0011 + 000b, and that of the datagram:
        // 141f + 3039 + 0007 + 000b + 6162 + 6300 = 108cc, folded 08cd.
        let (partial, right) = (0x141f, !0x08cd_u16);
        for (given, expected) in [(partial, right), (right, right), (0, 0), (0x1234, 0x1234)] {
            let mut bytes = frame(given);
            complete(&mut bytes);
            assert_eq!(bytes, frame(expected), "{given:#06x}");
        }
        // With a trailer, as in short frames.
        let mut bytes = frame(partial);
        bytes.extend([0xee; 15]);
        complete(&mut bytes);
        assert_eq!(bytes[..45], frame(right));
    }
}
