//! [`Point`]: one run of a scenario, a point of its sweep with one seed.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::sweep::Combination;

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Point {
    /// The name of the run's directory: label, seed and a hash of all set and swept values.
    pub id: String,
    /// The label of the point, the same for all its seeds: `spray, load=0.4`.
    pub label: String,
    /// The seed.
    pub seed: u64,
    /// The swept keys and their values here.
    pub overrides: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    pub(crate) combination: usize,
}

impl Point {
    pub(crate) fn new(combination: usize, of: &Combination, seed: u64, sets: &[String]) -> Self {
        let overrides = of.overrides();
        let mut hash = Sha256::new();
        for (key, value) in &overrides {
            hash.update(format!("{key}={value}\n"));
        }
        for set in sets {
            hash.update(format!("--set {set}\n"));
        }
        hash.update(seed.to_string());
        let id = format!("{}-seed{seed}-{}", slug(&of.label), &hex(&hash.finalize())[..8]);
        Self { id, label: of.label.clone(), seed, overrides, combination }
    }
}

/// A text as part of a file name: letters, digits, `.`, `_` and single `-`, at most 80.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().take(200) {
        match c {
            'a'..='z' | '0'..='9' | '.' | '_' => slug.push(c),
            'A'..='Z' => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(80);
    match slug.trim_matches(['-', '.']) {
        "" => "run".to_owned(),
        slug => slug.to_owned(),
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_of_files() {
        for (label, expected) in [
            ("spray, load=0.4", "spray-load-0.4"),
            ("../..", "run"),
            ("", "run"),
            ("single_path, rate=10 Gbps", "single_path-rate-10-gbps"),
            ("é", "run"),
        ] {
            assert_eq!(slug(label), expected, "{label}");
        }
        assert!(slug(&"x".repeat(500)).len() <= 80);
    }
}
