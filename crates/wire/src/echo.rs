//! [`Echo`]: which neighbour the sender of a Hello hears.

use crate::SwitchId;

/// The polynomial of CRC-16/IBM-3740 (ITU-T V.41).
const POLYNOMIAL: u16 = 0x1021;

/// The neighbour whose Hello messages a port receives: a hash of the neighbour's switch id and port number, which only that
/// neighbour compares with its own. A collision hides a link that works in one direction only, once in 65 535 times where
/// cables are crossed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Echo(pub u16);

impl Echo {
    /// No Hello has arrived within the hold time.
    pub const NOBODY: Self = Self(0);

    /// Hello messages arrive from this port of this switch: the CRC-16/IBM-3740 of both as in a Hello, 0xffff in place
    /// of 0.
    pub fn of(switch: SwitchId, port: u16) -> Self {
        let bytes = switch.0.to_be_bytes().into_iter().chain(port.to_be_bytes());
        let crc = bytes.fold(u16::MAX, |crc, byte| {
            (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
                crc << 1 ^ if crc & 0x8000 == 0 { 0 } else { POLYNOMIAL }
            })
        });
        Self(if crc == 0 { u16::MAX } else { crc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_crc_of_both_numbers() {
        // Computed with Python's `binascii.crc_hqx(bytes, 0xffff)`.
        for (switch, port, crc) in [
            (0x0, 0, 0xe139),
            (0x1, 0, 0xd609),
            (0x123456789abcdef, 7, 0x3c68),
            (0xffffffffffffffff, 65535, 0xa6e1),
            (0xb9a2, 3, 0xffff),
        ] {
            assert_eq!(Echo::of(SwitchId(switch), port), Echo(crc), "{switch:x} {port}");
        }
    }

    #[test]
    fn neighbouring_numbers_differ_and_none_is_nobody() {
        let all = (0..64).flat_map(|switch| (0..64).map(move |port| Echo::of(SwitchId(switch), port)));
        let mut seen = [false; 1 << 16];
        for Echo(echo) in all {
            assert!(echo != 0 && !core::mem::replace(&mut seen[usize::from(echo)], true), "{echo:x}");
        }
    }
}
