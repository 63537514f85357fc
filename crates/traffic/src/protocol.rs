//! [`Protocol`]: how the bytes of a collective's messages are sent between GPUs, as in NCCL.

use weft_units::words;

words! {
    /// How the bytes of a message are sent.
    pub enum Protocol {
        /// As they are.
        Simple = "simple",
        /// Lines of 128 bytes, of which 120 carry data and 8 a flag.
        Ll128 = "ll128",
        /// Words of 8 bytes, of which 4 carry data and 4 a flag.
        Ll = "ll",
    }
}

impl Protocol {
    /// The bytes on the way for so many of data.
    pub const fn bytes(self, data: u64) -> u64 {
        match self {
            Self::Simple => data,
            Self::Ll128 => data.div_ceil(120).saturating_mul(128),
            Self::Ll => data.div_ceil(4).saturating_mul(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_128_bytes_120_carry_data() {
        let bytes = |protocol: Protocol| [1, 120, 121, 1_200_000].map(|data| protocol.bytes(data));
        assert_eq!(bytes(Protocol::Simple), [1, 120, 121, 1_200_000]);
        assert_eq!(bytes(Protocol::Ll128), [128, 128, 256, 1_280_000]);
        assert_eq!(bytes(Protocol::Ll), [8, 240, 248, 2_400_000]);
    }
}
