//! The nearest right name to a wrong one, for error messages.

/// The candidate least different from `name`, where one is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let allowed = 1 + name.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (difference(name, candidate), candidate))
        .filter(|&(difference, _)| difference <= allowed)
        .min_by_key(|&(difference, _)| difference)
        .map(|(_, candidate)| candidate.to_owned())
}

/// Levenshtein's distance, ignoring case.
fn difference(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["h0", "h15", "switch"];
        assert_eq!(nearest("H15", names).as_deref(), Some("h15"));
        assert_eq!(nearest("swicth", names).as_deref(), Some("switch"));
        assert_eq!(nearest("hx9", names), None, "two changes are too many for three letters");
        assert_eq!(nearest("router", names), None);
        assert_eq!(nearest("x", []), None);
    }
}
