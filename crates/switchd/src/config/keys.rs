//! The Hello keys: one in the file itself, several, or those of a file of their own.

use std::path::Path;
use weft_units::{plural, reason};

use super::table::Table;

/// Shortest Hello key, in bytes (docs/wire-format.md).
pub const SHORTEST_KEY: usize = 16;
/// Maximum number of Hello keys: the current one and the previous or next one.
pub const MOST_KEYS: usize = 2;

/// Parses a hexadecimal key.
fn key(text: &str) -> Result<Vec<u8>, String> {
    let expected = format!(
        "expected at least {SHORTEST_KEY} bytes in hexadecimal, such as the output of `openssl rand -hex 32`"
    );
    let text = text.trim();
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair =
                std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.starts_with('+'))?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect();
    match bytes {
        None => Err(format!("not whole bytes in hexadecimal: {expected}")),
        Some(bytes) if bytes.len() < SHORTEST_KEY => {
            Err(format!("only {}: {expected}", plural(bytes.len() as u64, "byte")))
        }
        Some(bytes) => Ok(bytes),
    }
}

/// The Hello keys of a configuration whose paths are relative to `folder`.
pub(super) fn read(top: &Table<'_>, folder: &Path) -> Vec<Vec<u8>> {
    // Messages never contain a key: logs are kept.
    let file = top.text("hello_key_file");
    let one = top.text("hello_key");
    let list = top.texts("hello_keys");
    let places = [
        ("hello_key_file", file.as_ref().map(|(_, span)| span)),
        ("hello_key", one.as_ref().map(|(_, span)| span)),
        ("hello_keys", list.as_ref().map(|(_, span)| span)),
    ];
    let mut given = places.into_iter().filter_map(|(name, span)| Some((name, span?)));
    let first = given.next();
    if let (Some((first, _)), Some((second, span))) = (first, given.next()) {
        top.problem(span.clone(), format!("both `{first}` and `{second}` are set"), "keep one of them");
        return Vec::new();
    }
    let Some((name, span)) = first else { return Vec::new() };
    let texts: Result<Vec<String>, String> = match (file.as_ref(), one.as_ref(), list.as_ref()) {
        (Some((path, _)), ..) => {
            let path = folder.join(path);
            std::fs::read_to_string(&path)
                .map(|text| text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
                .map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)))
        }
        (_, Some((text, _)), _) => Ok(vec![text.clone()]),
        (.., list) => {
            Ok(list.into_iter().flat_map(|(texts, _)| texts).map(|(text, _)| text.clone()).collect())
        }
    };
    match texts.and_then(|texts| keys(&texts)) {
        Ok(keys) => keys,
        Err(label) => {
            let gives = if name == "hello_key" { "is not a valid key" } else { "has no valid keys" };
            // The start of the whole value: marking one key of a list would show its line.
            top.problem(span.start..span.start + 1, format!("`{name}` {gives}"), label);
            Vec::new()
        }
    }
}

/// Parses all keys.
fn keys(texts: &[String]) -> Result<Vec<Vec<u8>>, String> {
    if texts.is_empty() || texts.len() > MOST_KEYS {
        let expected = "the key to sign with and, during a key change, a second one to accept";
        return Err(format!("{} keys given, expected 1 or {MOST_KEYS}: {expected}", texts.len()));
    }
    let mut keys = Vec::new();
    for (number, text) in (1..).zip(texts) {
        let place = |label| if texts.len() > 1 { format!("key {number}: {label}") } else { label };
        let key = key(text).map_err(place)?;
        if keys.contains(&key) {
            return Err(format!("key {number} is the same as the one before it: remove one of them"));
        }
        keys.push(key);
    }
    Ok(keys)
}
