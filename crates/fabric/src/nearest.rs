//! The nearest valid name to a wrong one, for error messages.

/// The candidate nearest to `name`, if near enough to be what was meant: one typo, plus one per three
/// letters. Ignores case and `-` versus `_`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(name);
    let allowed = 1 + name.chars().count() / 3;
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_name_and_nonsense_finds_none() {
        for (name, found) in [
            ("laod", Some("load")),
            ("Load", Some("load")),
            ("trunkate", Some("truncate")),
            ("scale-to-mean", Some("scale_to_mean")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, ["load", "truncate", "scale_to_mean", "k"]), found, "{name}");
        }
    }
}
