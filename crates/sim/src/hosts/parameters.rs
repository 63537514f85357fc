//! [`Parameters`]: the parameters of a protocol, in the network and within scale-up domains.

/// The parameters.
pub struct Parameters<C> {
    /// Those of connections through the network.
    pub network: C,
    /// Those of connections within a scale-up domain, if they differ.
    pub within: Option<C>,
}

impl<C> Parameters<C> {
    /// Those of a connection, within a scale-up domain or not.
    #[inline(always)]
    pub const fn of(&self, is_within: bool) -> &C {
        match &self.within {
            Some(within) if is_within => within,
            _ => &self.network,
        }
    }
}
