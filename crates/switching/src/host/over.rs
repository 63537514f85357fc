//! The parameter `over` of host schemes: the fabric scheme whose switches carry their packets.

use crate::param::ParamInfo;
use crate::spec::SchemeSpec;
use crate::split::Split;

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

/// How a source that knows all paths and uses them in turn divides traffic. Under `wcmp`, how many hashes lead to a path
/// depends on the reduced groups.
pub(crate) fn over_paths(spec: &SchemeSpec) -> Option<Split> {
    (over(spec).name == "ecmp").then_some(Split::OverPaths)
}

/// The scheme of the switches under the host scheme `spec`.
pub fn over(spec: &SchemeSpec) -> SchemeSpec {
    SchemeSpec { name: spec.word("over").unwrap_or("ecmp").to_owned(), params: Default::default() }
}
