//! [`Keys`]: what two hosts know of each other, and what follows from it: tokens that name a connection in a join, the
//! numbers that data begins with, proofs that a join comes from who has the keys (RFC 8684, section 3; RFC 6824).

use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// What names a connection to the host that has `key` (RFC 8684, section 3.2): the first 32 bits of the key's hash,
/// SHA-256 in version 1, SHA-1 in version 0.
pub fn token(version: u8, key: u64) -> u32 {
    let [a, b, c, d, ..] = digest(version, key);
    u32::from_be_bytes([a, b, c, d])
}

/// The data sequence number before the first byte that the host with `key` sends: the last 64 bits of the key's hash.
pub fn initial_sequence(version: u8, key: u64) -> u64 {
    let hash = digest(version, key);
    let used = if version == 0 { 20 } else { 32 };
    hash[used - 8..used].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The hash of a key, 20 or 32 bytes long.
fn digest(version: u8, key: u64) -> [u8; 32] {
    let mut hash = [0; 32];
    if version == 0 {
        hash[..20].copy_from_slice(&Sha1::digest(key.to_be_bytes()));
    } else {
        hash.copy_from_slice(&Sha256::digest(key.to_be_bytes()));
    }
    hash
}

/// A host in a join: its key and the number it has drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Party {
    /// Its key.
    pub key: u64,
    /// The nonce of its SYN or SYN+ACK.
    pub nonce: u32,
}

/// The HMAC by which `sender` proves a join to `receiver`, 160 bits (RFC 8684, section 3.2). Its third ACK carries all, a
/// SYN+ACK the first 64: [`first_half`].
pub fn join_hmac(version: u8, sender: Party, receiver: Party) -> [u8; 20] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&sender.key.to_be_bytes());
    key[8..].copy_from_slice(&receiver.key.to_be_bytes());
    let mut message = [0; 8];
    message[..4].copy_from_slice(&sender.nonce.to_be_bytes());
    message[4..].copy_from_slice(&receiver.nonce.to_be_bytes());
    let mut proof = [0; 20];
    if version == 0 {
        proof.copy_from_slice(&hash_with::<Hmac<Sha1>>(&key, &message));
    } else {
        proof.copy_from_slice(&hash_with::<Hmac<Sha256>>(&key, &message)[..20]);
    }
    proof
}

fn hash_with<M: Mac + hmac::digest::KeyInit>(key: &[u8], message: &[u8]) -> hmac::digest::Output<M> {
    let keyed = <M as Mac>::new_from_slice(key).expect("an HMAC takes keys of any length");
    keyed.chain_update(message).finalize().into_bytes()
}

/// The 64 bits of a proof that fit a SYN+ACK.
pub fn first_half(proof: &[u8; 20]) -> u64 {
    proof[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_numbers_and_proofs_are_those_that_hashlib_computes() {
        let sender = Party { key: 0x0123_4567_89ab_cdef, nonce: 0x1122_3344 };
        let receiver = Party { key: 0xfedc_ba98_7654_3210, nonce: 0x5566_7788 };
        let hex = |proof: [u8; 20]| proof.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(token(0, sender.key), 0x0ca2_eadb);
        assert_eq!(initial_sequence(0, sender.key), 0xe3df_8ee1_21f1_0547);
        assert_eq!(hex(join_hmac(0, sender, receiver)), "7120574de71020f0d199f170407bf80fb408fdc4");
        assert_eq!(token(1, sender.key), 0x55c5_3f5d);
        assert_eq!(initial_sequence(1, sender.key), 0x5707_62cd_38be_9818);
        let proof = join_hmac(1, sender, receiver);
        assert_eq!(hex(proof), "d8b5e46b7a782e79d3ecfd78307751df993e222b");
        assert_eq!(format!("{:016x}", first_half(&proof)), hex(proof)[..16]);
    }
}
