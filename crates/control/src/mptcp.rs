//! Keys, tokens and HMACs of Multipath TCP (RFC 8684, sections 3.1 and 3.2; version 0: RFC 6824).

use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The token of a key: the first 32 bits of its hash, SHA-1 in version 0 and SHA-256 in version 1.
pub(crate) fn token(version: u8, key: u64) -> u32 {
    let bytes = key.to_be_bytes();
    let first = |hash: &[u8]| u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    if version == 0 { first(&Sha1::digest(bytes)) } else { first(&Sha256::digest(bytes)) }
}

/// The HMAC with which the holder of the first key, who sent the first number, proves that it holds both:
/// its leftmost 160 bits.
pub(crate) fn join_hmac(version: u8, keys: [u64; 2], nonces: [u32; 2]) -> [u8; 20] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&keys[0].to_be_bytes());
    key[8..].copy_from_slice(&keys[1].to_be_bytes());
    let mut message = [0; 8];
    message[..4].copy_from_slice(&nonces[0].to_be_bytes());
    message[4..].copy_from_slice(&nonces[1].to_be_bytes());
    let mut left = [0; 20];
    if version == 0 {
        let mut hmac = Hmac::<Sha1>::new_from_slice(&key).expect("a key of any length will do");
        hmac.update(&message);
        left.copy_from_slice(&hmac.finalize().into_bytes());
    } else {
        let mut hmac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length will do");
        hmac.update(&message);
        left.copy_from_slice(&hmac.finalize().into_bytes()[..20]);
    }
    left
}
