//! The parameter `over` of TCP-Path and TFE, which names their default forwarding (`default_forwarding.rs`).

use weft_units::words;

use crate::spec::SchemeSpec;

words! {
    /// The parameter.
    pub enum Under {
        /// See [`crate::arp_path`].
        ArpPath = "arp_path",
        /// See [`crate::ecmp`].
        Ecmp = "ecmp",
        /// See [`crate::spanning_tree`].
        SpanningTree = "spanning_tree",
    }
}

impl Under {
    /// The default forwarding that `spec` names.
    pub fn of_spec(spec: &SchemeSpec) -> Self {
        spec.get("over").unwrap_or(Self::ArpPath)
    }
}

/// Whether an exploring scheme forwards some frames by computed routes or a computed tree.
pub fn is_computed(spec: &SchemeSpec) -> bool {
    Under::of_spec(spec) != Under::ArpPath
}

/// Whether hosts of an exploring scheme send requests for addresses into the fabric: not where routes forward all frames.
pub fn resolves(spec: &SchemeSpec) -> bool {
    Under::of_spec(spec) != Under::Ecmp
}
