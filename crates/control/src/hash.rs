//! [`Keyed`], the hash of tables whose keys hosts choose: collisions cannot be found without the secret key.

use std::hash::{Hash, Hasher};

use siphasher::sip::SipHasher13;

/// SipHash-1-3 under one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyed(SipHasher13);

impl Keyed {
    /// The hash of the table `name` under `key`.
    pub fn new(key: u64, name: u64) -> Self {
        Self(SipHasher13::new_with_keys(key, name))
    }

    /// The hash of a value.
    #[inline]
    pub fn of(&self, value: &impl Hash) -> u64 {
        let mut hasher = self.0;
        value.hash(&mut hasher);
        hasher.finish()
    }
}
