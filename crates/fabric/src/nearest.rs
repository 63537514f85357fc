//! The nearest valid name to a wrong one, for error messages.

use std::cmp::Reverse;

/// The candidate nearest to `name`, if near enough to be the intended one: one typo, plus one per three
/// letters. Ignores case and `-` versus `_`. Of several, the one that begins most like `name`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(name);
    let allowed = 1 + name.chars().count() / 3;
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, candidate)| (*distance, Reverse(alike(&name, &plain(candidate)))))
        .map(|(_, candidate)| candidate)
}

/// The number of letters with which both begin.
fn alike(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// The candidate that `name` misspells by one letter, or by two if it is long. Ignores case and `-` versus `_`.
pub(crate) fn misspelt<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found = nearest(name, candidates)?;
    let letters = found.chars().count();
    let allowed =
        [(6.., 2), (4.., 1)].iter().find(|(long, _)| long.contains(&letters)).map(|(_, slips)| *slips)?;
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    (strsim::osa_distance(&plain(name), &plain(found)) <= allowed).then_some(found)
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
        assert_eq!(nearest("s9", ["l0", "h9", "s0", "s1"]), Some("s0"), "both differ by one letter");
    }

    #[test]
    fn words_of_their_own_misspell_nothing() {
        for (name, found) in [
            ("roles", Some("role")),
            ("Rate-Bck", Some("rate_back")),
            ("zone", None),
            ("title", None),
            ("pop", None),
            ("state", None),
        ] {
            assert_eq!(misspelt(name, ["role", "tier", "pod", "rate", "rate_back"]), found, "{name}");
        }
    }
}
