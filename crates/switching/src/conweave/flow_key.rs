//! [`FlowKey`]: one direction of a connection, in the tables of flows.

use crate::hash::fold_product;
use crate::soft_table::SoftKey;

/// The hash of its 5-tuple ([`crate::Header::flow_hash`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlowKey(pub(super) u32);

impl SoftKey for FlowKey {
    #[inline]
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        fold_product(u64::from(self.0) ^ secrets[0], secrets[1])
    }
}
