//! The HMACs by which one end of a connection proves to the other that it has both keys: in a join and in
//! an address announcement.

use core::net::IpAddr;

use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::Sha256;

use super::{Key, Version};

/// One end's input to the HMAC of a join: its key of the connection and its random number for this join.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Party {
    /// Its key.
    pub key: Key,
    /// Its random number.
    pub nonce: u32,
}

/// The HMAC by which `sender` proves to `receiver` in a join that it has both keys (RFC 6824 and RFC 8684,
/// section 3.2): the first 20 bytes, as in the third ACK; the SYN+ACK has the first 8.
pub fn join_hmac(version: Version, sender: Party, receiver: Party) -> [u8; 20] {
    match version {
        Version::V0 => of_join::<Hmac<Sha1>>(sender, receiver).finalize().into_bytes().into(),
        Version::V1 => {
            let whole: [u8; 32] = of_join::<Hmac<Sha256>>(sender, receiver).finalize().into_bytes().into();
            let mut left = [0; 20];
            left.copy_from_slice(&whole[..20]);
            left
        }
    }
}

/// Whether [`join_hmac`] starts with `left`, in constant time.
pub(super) fn verify_join(version: Version, sender: Party, receiver: Party, left: &[u8]) -> bool {
    match version {
        Version::V0 => of_join::<Hmac<Sha1>>(sender, receiver).verify_truncated_left(left),
        Version::V1 => of_join::<Hmac<Sha256>>(sender, receiver).verify_truncated_left(left),
    }
    .is_ok()
}

/// The HMAC by which `sender` authenticates the announcement of an address, and maybe a port, to `receiver`
/// (RFC 8684, section 3.4.1; version 0 has none): the last 8 bytes, as in the option.
pub fn add_addr_hmac(
    sender: Key,
    receiver: Key,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> [u8; 8] {
    let whole: [u8; 32] =
        of_address(sender, receiver, address_id, address, port).finalize().into_bytes().into();
    let [.., a, b, c, d, e, f, g, h] = whole;
    [a, b, c, d, e, f, g, h]
}

/// Whether `right` is [`add_addr_hmac`], in constant time.
pub(super) fn verify_add_addr(
    sender: Key,
    receiver: Key,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
    right: [u8; 8],
) -> bool {
    of_address(sender, receiver, address_id, address, port).verify_truncated_right(&right).is_ok()
}

fn of_join<M: Mac + KeyInit>(sender: Party, receiver: Party) -> M {
    keyed::<M>(sender.key, receiver.key)
        .chain_update(sender.nonce.to_be_bytes())
        .chain_update(receiver.nonce.to_be_bytes())
}

/// The port is 0 if none is announced.
fn of_address(
    sender: Key,
    receiver: Key,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> Hmac<Sha256> {
    let mac = keyed::<Hmac<Sha256>>(sender, receiver).chain_update([address_id]);
    match address {
        IpAddr::V4(address) => mac.chain_update(address.octets()),
        IpAddr::V6(address) => mac.chain_update(address.octets()),
    }
    .chain_update(port.unwrap_or(0).to_be_bytes())
}

/// An HMAC with the sender's key followed by the receiver's.
#[expect(clippy::expect_used, reason = "the constructor can fail for other algorithms only")]
fn keyed<M: Mac + KeyInit>(sender: Key, receiver: Key) -> M {
    let mut keys = [0; 16];
    keys[..8].copy_from_slice(&sender.0.to_be_bytes());
    keys[8..].copy_from_slice(&receiver.0.to_be_bytes());
    <M as Mac>::new_from_slice(&keys).expect("HMAC takes keys of any length")
}
