//! The fingerprint of a scenario: which keys its results depend on.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::point::hex;
use crate::tree::Table;

/// Keys that change no result of a run: which seeds there are, and how results are compared.
pub(crate) const OF_VIEW: [&str; 2] = ["run.seeds", "measure.baseline"];

/// Whether `set`, from the command line, changes no result of a run.
pub(crate) fn is_of_view(set: &str) -> bool {
    set.split_once('=').is_some_and(|(key, _)| OF_VIEW.contains(&key.trim()))
}

/// SHA-256 of all keys that results depend on.
pub(crate) fn fingerprint(table: &Table) -> String {
    let mut values = BTreeMap::new();
    table.flatten("", &mut values);
    let mut hash = Sha256::new();
    for (key, value) in values.iter().filter(|(key, _)| !OF_VIEW.contains(&key.as_str())) {
        hash.update(format!("{key}={value}\n"));
    }
    hex(&hash.finalize())
}
