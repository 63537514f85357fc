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
