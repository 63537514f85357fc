//! Hashing of flows onto paths.
//!
//! Results depend on these functions (they decide which flows collide), and so does the validation
//! against other simulators, which compute the same hashes: they must not change silently.

use weft_units::HostId;

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits in which every
/// input bit affects every output bit.
#[inline]
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Both halves of a product: every bit of either factor affects the middle of the result, for one
/// multiplication. Uniform only if the factors contain a secret.
#[inline]
pub(crate) const fn fold_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a TCP 5-tuple, as a host's packets carry it in [`crate::Header::flow_hash`].
pub const fn flow_hash(src: HostId, dst: HostId, sport: u16, dport: u16) -> u32 {
    const TCP: u8 = 6;
    tuple_hash(src.0, dst.0, sport, dport, TCP)
}

/// The hash of a 5-tuple with any IP protocol number; the ports of protocols without ports are 0.
pub const fn tuple_hash(src: u32, dst: u32, sport: u16, dport: u16, protocol: u8) -> u32 {
    let stations = (src as u64) << 32 | dst as u64;
    let ports = (sport as u64) << 24 | (dport as u64) << 8 | protocol as u64;
    (mix64(mix64(stations) ^ ports) >> 32) as u32
}

/// Maps 64 uniform bits to `0..n` without a division (Lemire 2019, without the rejection step:
/// the bias is below `n / 2^32`).
#[inline]
pub const fn pick(random: u64, n: usize) -> usize {
    (((random >> 32) * n as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_directions_of_a_connection_hash_apart() {
        let there = flow_hash(HostId(1), HostId(2), 1000, 80);
        assert_ne!(there, flow_hash(HostId(2), HostId(1), 80, 1000));
        assert_eq!(there, flow_hash(HostId(1), HostId(2), 1000, 80));
    }

    #[test]
    fn picks_fill_the_range_evenly() {
        let mut counts = [0_u32; 5];
        for i in 0..50_000 {
            counts[pick(mix64(i), 5)] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
    }
}
