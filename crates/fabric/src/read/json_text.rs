//! JSON as Python's `json.dump` writes it: with `NaN`, `Infinity` and `-Infinity`, which are not JSON.

use std::borrow::Cow;

/// The tokens that Python adds, with numbers of the same length.
const ADDED: [(&str, &str); 3] = [("NaN", "0e0"), ("-Infinity", "-0e000000"), ("Infinity", "0e000000")];

/// The text as valid JSON of the same length, in which numbers stand for Python's tokens: for the positions of elements.
pub(super) fn same_length(text: &str) -> Cow<'_, str> {
    replaced(text, |_, number| number.to_owned())
}

/// The text as valid JSON, with Python's tokens as strings: for their values.
pub(super) fn with_strings(text: &str) -> Cow<'_, str> {
    replaced(text, |token, _| format!("\"{token}\""))
}

/// The text with Python's tokens, outside of strings, replaced by the result of `form` for a token and its number.
fn replaced(text: &str, form: impl Fn(&str, &str) -> String) -> Cow<'_, str> {
    if !ADDED.iter().any(|(token, _)| text.contains(token)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['"', 'N', 'I', '-']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = if from.starts_with('"') {
            let length = string_length(from);
            out.push_str(&from[..length]);
            length
        } else if let Some((token, number)) = ADDED.iter().find(|(token, _)| from.starts_with(token)) {
            out.push_str(&form(token, number));
            token.len()
        } else {
            out.push_str(&from[..1]);
            1
        };
        rest = &from[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The bytes of the string at the start of `text`, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_outside_of_strings_are_replaced() {
        let text = r#"{"NaN": [NaN, -Infinity,Infinity, -1], "a\"NaN": "-Infinity", "ü": NaN}"#;
        let strings = r#"{"NaN": ["NaN", "-Infinity","Infinity", -1], "a\"NaN": "-Infinity", "ü": "NaN"}"#;
        assert_eq!(with_strings(text), strings);
        assert_eq!(same_length(text).len(), text.len());
        assert!(serde_json::from_str::<serde_json::Value>(&same_length(text)).is_ok());
        for plain in ["", "{}", "\"NaN", "[1, -2]"] {
            assert_eq!((with_strings(plain), same_length(plain)), (plain.into(), plain.into()));
        }
    }
}
