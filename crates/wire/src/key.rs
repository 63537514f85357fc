//! [`Key`]: the shared secret of switches, and its signatures: HMAC-SHA-256 (RFC 2104) truncated to 16
//! bytes.

use core::fmt;

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Length of a signature in bytes.
pub const SIGNATURE_LEN: usize = 16;

/// A shared secret.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    /// The key with these bytes, of any length; fewer than 16 are easier to guess than a signature.
    #[expect(clippy::expect_used, reason = "the constructor can fail for other algorithms only")]
    pub fn new(secret: &[u8]) -> Self {
        Self(Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"))
    }

    /// The signature of `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_LEN] {
        self.sign_all([message])
    }

    /// The signature of a message in pieces.
    pub(crate) fn sign_all(&self, pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> [u8; SIGNATURE_LEN] {
        let mut signing = self.0.clone();
        pieces.into_iter().for_each(|piece| signing.update(piece.as_ref()));
        let whole: [u8; 32] = signing.finalize().into_bytes().into();
        let mut signature = [0; SIGNATURE_LEN];
        signature.copy_from_slice(&whole[..SIGNATURE_LEN]);
        signature
    }

    /// Whether `signature` is that of `message`, in constant time.
    pub fn verify(&self, message: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        self.verify_both(message, &[], signature)
    }

    /// Whether `signature` is that of two pieces of a message, in constant time.
    pub(crate) fn verify_both(&self, start: &[u8], end: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        self.0.clone().chain_update(start).chain_update(end).verify_truncated_left(signature).is_ok()
    }
}

/// Does not reveal the secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}
