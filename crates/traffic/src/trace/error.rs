//! [`TraceError`]: why a file is not a valid trace, and where.

use std::fmt;

use thiserror::Error;

/// The location of an error in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A row of a Parquet file, counted from 1.
    Row(u64),
    /// An operation of a rank, counted from 1, in a binary file.
    Operation {
        /// The rank.
        rank: u32,
        /// The number of the operation.
        operation: u64,
    },
    /// A node of a rank's file.
    Node {
        /// The rank.
        rank: u32,
        /// The id of the node.
        node: u64,
    },
    /// A byte of a rank's file, counted from 0.
    Byte {
        /// The rank.
        rank: u32,
        /// Its offset.
        byte: u64,
    },
    /// The file of a rank as a whole.
    Rank(u32),
}

impl Place {
    /// Its name within a sentence.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File => "the file".to_owned(),
            Self::Line(line) => format!("line {line}"),
            Self::Row(row) => format!("row {row}"),
            Self::Operation { rank, operation } => format!("operation {operation} of rank {rank}"),
            Self::Node { rank, node } => format!("node {node} of rank {rank}"),
            Self::Byte { rank, byte } => format!("byte {byte} of rank {rank}"),
            Self::Rank(rank) => format!("rank {rank}"),
        }
    }

    /// The same, after a noun: `the message on line 3`.
    pub(super) fn on(&self) -> String {
        let before = if matches!(self, Self::Line(_) | Self::Row(_)) { "on" } else { "in" };
        format!("{before} {}", self.name())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            place => write!(f, "{}: ", place.name()),
        }
    }
}

/// Why a file is not a valid trace.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}{why}")]
pub struct TraceError {
    /// The location.
    pub place: Place,
    /// The error, with the offending text and the expected one.
    pub why: String,
}

impl TraceError {
    /// An error of the file as a whole.
    pub(super) fn file(why: impl Into<String>) -> Self {
        Self { place: Place::File, why: why.into() }
    }

    /// An error at `line`.
    pub(super) fn line(line: u64, why: impl Into<String>) -> Self {
        Self::at(Place::Line(line), why)
    }

    /// An error at `place`.
    pub(super) fn at(place: Place, why: impl Into<String>) -> Self {
        Self { place, why: why.into() }
    }
}
