//! The Internet checksum (RFC 1071), which IPv4, TCP and UDP share.

/// The checksum of `parts` as if they were one; each but the last has an even number of bytes.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = 0;
    for part in parts {
        let (words, rest) = part.as_chunks();
        sum += words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>();
        sum += rest.first().map_or(0, |byte| u64::from(*byte) << 8);
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_sum_over_data_and_checksum_is_all_ones() {
        // The example of RFC 1071, section 3.
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&[&data]), !0xddf2);
        assert_eq!(checksum(&[&data, &(!0xddf2_u16).to_be_bytes()]), 0);
        assert_eq!(checksum(&[&data[..2], &data[2..]]), !0xddf2);
        assert_eq!(checksum(&[&[0x12, 0x34, 0x56]]), !(0x1234 + 0x5600));
        assert_eq!(checksum(&[]), 0xffff);
    }
}
