//! A CDF of flow sizes from a file: one knot per line, `size probability`, as most traffic generators
//! write it. Sizes are in bytes, or carry a unit (`10 kB`, written without a space: `10kB`).
//! Probabilities end at 1, or at 100 if they are percentages. Empty lines and text after a `#` are
//! skipped.

use thiserror::Error;
use weft_units::Bytes;

use crate::sizes::{CdfPoint, Sizes, SizesError};
use crate::trace::without_mark;

/// Why a text is not a valid CDF.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("line {line}: {why}")]
pub struct CdfError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem there, with the offending text and the expected one.
    pub why: String,
}

/// Reads a CDF of flow sizes from the bytes of its file.
///
/// # Errors
/// A line that is not a knot, or knots that do not form a CDF, each with the line.
pub fn read_cdf(bytes: &[u8]) -> Result<Sizes, CdfError> {
    let bytes = without_mark(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        CdfError { line, why: "this is not UTF-8 text; expected lines of `size probability`".into() }
    })?;
    let mut knots = Vec::new();
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let why = |why: String| CdfError { line: at + 1, why };
        let fields: Vec<&str> = content
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|field| !field.is_empty())
            .collect();
        let &[size, probability] = fields.as_slice() else {
            let found = fields.len();
            let ns2 = match found {
                3 => " (of ns-2's three columns, remove the second; its sizes may be packets)",
                _ => "",
            };
            return Err(why(format!(
                "`{content}` has {found} fields; expected two, `size probability`{ns2}"
            )));
        };
        let size = match size.parse::<f64>() {
            Ok(bytes) => bytes,
            Err(_) => size.parse::<Bytes>().map_err(|error| why(error.to_string()))?.0 as f64,
        };
        let probability = probability.parse::<f64>().map_err(|_| {
            why(format!(
                "`{probability}` is not a probability; expected a number from 0 to 1, or to 100 if the last is 100"
            ))
        })?;
        knots.push(CdfPoint { bytes: size, probability });
        lines.push(at + 1);
    }
    if knots.last().is_some_and(|last| last.probability == 100.0) {
        for knot in &mut knots {
            knot.probability /= 100.0;
        }
    }
    Sizes::new(knots).map_err(|error| {
        let last = lines.last().copied().unwrap_or(1);
        let line = match error {
            SizesError::Falls { index, .. } | SizesError::Impossible { index, .. } => lines[index - 1],
            _ => last,
        };
        CdfError { line, why: error.to_string() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;
    use proptest::prelude::*;

    #[test]
    fn a_file_in_fractions_or_percent_reads_as_the_same_distribution() {
        let fractions = "# web search\n0 0\n10kB 0.15\n\n30e6\t1\n";
        let percent = "\u{feff}0, 0\r\n10000, 15 # kept\r\n30000000, 100.0\r\n";
        assert_eq!(read_cdf(fractions.as_bytes()), read_cdf(percent.as_bytes()));
        let table = published::named("facebook-hadoop").unwrap().sizes();
        let text: String =
            table.knots().iter().map(|knot| format!("{} {}\n", knot.bytes, knot.probability)).collect();
        assert_eq!(read_cdf(text.as_bytes()), Ok(table));
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line() {
        for (text, line, part) in [
            ("0 0\n10 0.5 7\n", 2, "3 fields"),
            ("1 1 0\n2 1 1\n", 1, "of ns-2's three columns"),
            ("0 0\n10,000 0.5\n", 2, "3 fields"),
            ("0 0\n10 50%\n20 100%\n", 2, "`50%` is not a probability"),
            ("0 0\n10 99.9\n", 2, "the probability is 99.9"),
            ("0 0\n# fine\n10 half\n", 3, "`half`"),
            ("0 0\nlong 1\n", 2, "`long`"),
            ("0 0\n10 0.6\n20 0.5\n30 1", 3, "falls from 0.6 to 0.5"),
            ("0 0\n10 0.6\n5 0.7\n30 1", 3, "falls from 10 to 5"),
            ("0 0\n10 0.6\n", 2, "ends at 1"),
            ("0 -0.5\n10 1\n", 1, "from 0 to 1"),
            ("0 0\n10 nan\n20 1\n", 2, "NaN"),
            ("", 1, "at least one"),
        ] {
            let error = read_cdf(text.as_bytes()).unwrap_err();
            assert!(error.line == line && error.why.contains(part), "{text:?}: {error}");
        }
        assert_eq!(read_cdf(b"0 0\n\xff 1\n").unwrap_err().line, 2);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_cdf(&bytes);
        }

        #[test]
        fn no_lines_of_numbers_make_it_panic(text in "([0-9e. -]{0,12}\n){0,6}") {
            let _ = read_cdf(text.as_bytes());
        }
    }
}
