//! The parameter `over` of host schemes: the fabric scheme whose switches carry their packets.

use weft_units::{Param, words};

use crate::spec::SchemeSpec;
use crate::split::Split;

words! {
    /// For schemes that need no more than another path after a change of the entropy.
    pub enum OverHashing {
        /// See [`crate::adaptive`].
        Adaptive = "adaptive",
        /// See [`crate::drill`].
        Drill = "drill",
        /// See [`crate::ecmp`].
        Ecmp = "ecmp",
        /// See [`crate::letflow`].
        LetFlow = "letflow",
        /// See [`crate::spray`].
        Spray = "spray",
        /// See [`crate::tag_forward`].
        TagForward = "tag_forward",
        /// See [`crate::wcmp`].
        Wcmp = "wcmp",
    }
}

impl OverHashing {
    /// Whether the switches of this parameter of `spec` have routes to each interface of a host.
    pub(crate) fn knows_interfaces(spec: &SchemeSpec) -> bool {
        spec.params.get("over").and_then(Self::of) != Some(Self::TagForward)
    }
}

words! {
    /// For schemes whose hosts know the path that belongs to each hash.
    pub enum OverHashAlone {
        /// See [`crate::ecmp`].
        Ecmp = "ecmp",
        /// See [`crate::wcmp`].
        Wcmp = "wcmp",
    }
}

/// The division of traffic by a source that knows all paths and uses them round-robin. Under `wcmp`, the number of
/// hashes per path depends on the reduced groups.
pub(crate) fn over_paths(spec: &SchemeSpec) -> Option<Split> {
    (over(spec).name == "ecmp").then_some(Split::OverPaths)
}

/// The scheme of the switches under the host scheme `spec`.
pub fn over(spec: &SchemeSpec) -> SchemeSpec {
    let over = spec.get("over").unwrap_or(OverHashing::Ecmp);
    SchemeSpec { name: over.word().to_owned(), params: Default::default() }
}
