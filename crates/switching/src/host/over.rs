//! The parameter `over` of host schemes: the fabric scheme whose switches carry their packets.

use crate::param::ParamInfo;
use crate::spec::SchemeSpec;

/// For schemes that need no more than another path after a change of the entropy.
pub(crate) const OVER_HASHING: ParamInfo = ParamInfo::choice(
    "over",
    &["adaptive", "drill", "ecmp", "letflow", "spray", "tag_forward", "wcmp"],
    "ecmp",
    "scheme of the switches, with its defaults",
);
/// For schemes whose hosts know the path that belongs to each hash.
pub(crate) const OVER_HASH_ALONE: ParamInfo =
    ParamInfo::choice("over", &["ecmp", "wcmp"], "ecmp", "scheme of the switches, with its defaults");

/// The scheme of the switches under the host scheme `spec`.
pub fn over(spec: &SchemeSpec) -> SchemeSpec {
    SchemeSpec { name: spec.word("over").unwrap_or("ecmp").to_owned(), params: Default::default() }
}
