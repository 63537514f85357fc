//! [`ReadError`]: an error in a file, with its position.

use std::fmt;

use thiserror::Error;

use crate::{FabricError, nearest};

/// An error in a file, with its position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct ReadError {
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// The node or link, such as ``link 3 (`e0` - `a1`)``.
    pub element: Option<String>,
    /// The problem.
    #[source]
    pub why: ErrorKind,
}

/// The kind of error in a file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ErrorKind {
    /// The format itself is violated.
    #[error("{0}")]
    Syntax(String),
    /// Something required is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A value is invalid.
    #[error("`{key}` is invalid: {why}")]
    Value {
        /// The attribute.
        key: &'static str,
        /// Why, with the value and the accepted values.
        why: String,
    },
    /// A directed edge without its reverse.
    #[error("the directed edge `{from}` -> `{to}` has no reverse edge: write both, or an undirected graph")]
    OneWay {
        /// The node it leaves.
        from: String,
        /// The node it enters.
        to: String,
    },
    /// The text describes an invalid fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The bytes are not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotUtf8,
    /// Unknown format.
    #[error(
        "`{path}` is not a fabric file: its name must end in .toml, .graphml, .xml, .json, .topo, .txt or .yaml"
    )]
    Ending {
        /// The path.
        path: String,
    },
}

impl ReadError {
    /// Adds the position: a byte of a text.
    pub(super) fn at(self, text: &str, byte: usize) -> Self {
        let (line, column) = position(text, byte);
        Self { line: Some(line), column: Some(column), ..self }
    }

    /// Adds the position: an element.
    pub(super) fn of(self, element: impl Into<String>) -> Self {
        Self { element: Some(element.into()), ..self }
    }
}

impl<W: Into<ErrorKind>> From<W> for ReadError {
    fn from(why: W) -> Self {
        Self { line: None, column: None, element: None, why: why.into() }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(element) = &self.element {
            write!(f, "{element}: ")?;
        }
        self.why.fmt(f)
    }
}

/// serde's message about an unknown key, with the nearest valid one.
pub(super) fn explain(message: &str) -> String {
    let Some((key, expected)) = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'))
    else {
        return message.to_owned();
    };
    match nearest(key, expected.split('`').skip(1).step_by(2)) {
        Some(nearest) => format!("unknown key `{key}`: did you mean `{nearest}`?"),
        None => format!("unknown key `{key}`{expected}"),
    }
}

/// Line and column of a byte of a text, both from 1.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}
