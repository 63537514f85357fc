//! The parameter `over` of TCP-Path and TFE, which names their default forwarding (`default_forwarding.rs`).

use crate::param::ParamInfo;
use crate::spec::SchemeSpec;

/// The parameter.
pub(crate) const OVER: ParamInfo = ParamInfo::choice(
    "over",
    &["arp_path", "ecmp", "spanning_tree"],
    "arp_path",
    "scheme that forwards frames without a path of their own, with its defaults",
);

/// Whether an exploring scheme forwards some frames by computed routes or a computed tree.
pub fn is_computed(spec: &SchemeSpec) -> bool {
    spec.word("over").is_some_and(|over| over != "arp_path")
}

/// Whether hosts of an exploring scheme send requests for addresses into the fabric: not where routes forward all frames.
pub fn resolves(spec: &SchemeSpec) -> bool {
    spec.word("over") != Some("ecmp")
}
