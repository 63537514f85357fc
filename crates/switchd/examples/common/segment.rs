//! TCP segments for load generators: with the addresses of non-existent hosts and checksums of zero, for switches to
//! forward and receivers to count.

use weft_switching::Mac;

/// One of the two ends.
#[derive(Clone, Copy)]
pub struct End {
    pub mac: Mac,
    /// The last byte of its address in 192.0.2.0/24 (RFC 5737), which no host here uses.
    pub host: u8,
    /// TCP port.
    pub port: u16,
}

/// An Ethernet frame of `N` bytes with a segment that carries `data` zero bytes, padded at the end.
pub fn segment<const N: usize>(from: End, to: End, flags: u8, data: u16) -> [u8; N] {
    let mut frame = [0; N];
    frame[..6].copy_from_slice(&to.mac.0);
    frame[6..12].copy_from_slice(&from.mac.0);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    let [high, low] = (40 + data).to_be_bytes();
    // IPv4, TTL 64, TCP.
    frame[14..26].copy_from_slice(&[0x45, 0, high, low, 0, 0, 0, 0, 64, 6, 0, 0]);
    frame[26..34].copy_from_slice(&[192, 0, 2, from.host, 192, 0, 2, to.host]);
    frame[34..36].copy_from_slice(&from.port.to_be_bytes());
    frame[36..38].copy_from_slice(&to.port.to_be_bytes());
    // A header of 20 bytes, a window.
    frame[46..50].copy_from_slice(&[0x50, flags, 0xff, 0xff]);
    frame
}
