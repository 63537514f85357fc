//! The vectors of `vectors.json`, and the notation of bytes in all files.

use serde_json::Value;

/// The bytes that hexadecimal digits stand for.
pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{text}");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Calls `check` with the name and content of each vector of a group.
pub fn each_vector(group: &str, check: impl Fn(&str, &Value)) {
    let file: Value = serde_json::from_str(include_str!("../../vectors.json")).unwrap();
    let vectors = file[group].as_array().unwrap();
    assert!(!vectors.is_empty());
    vectors.iter().for_each(|vector| check(vector["name"].as_str().unwrap(), vector));
}
