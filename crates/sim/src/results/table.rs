//! A Parquet [`Table`] of a result, written in batches, so that memory does not grow with the length of a run, and the
//! [`Column`]s that it has.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringDictionaryBuilder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use weft_units::{Duration, Time};

/// Rows per batch.
const BATCH: usize = 16_384;

/// The type of a column's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One of few names.
    Text,
    /// A 32-bit number.
    Int32,
    /// A 64-bit number.
    Int64,
    /// A measured value.
    Float64,
    /// A boolean.
    Bool,
}

/// A column as declared. In files, every column may have nulls.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// Whether a simulation leaves it null for some rows.
    pub or_null: bool,
    /// The meaning of its values.
    pub doc: &'static str,
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// Unknown, or none.
    Null,
    /// A value of [`Kind::Text`].
    Text(&'a str),
    /// A value of [`Kind::Int32`] or [`Kind::Int64`].
    Whole(i64),
    /// A value of [`Kind::Float64`].
    Real(f64),
    /// A value of [`Kind::Bool`].
    Flag(bool),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Null, Self::Whole)
    }
}

/// Implements cells for whole numbers.
macro_rules! whole {
    ($($value:ty: |$number:ident| $u64:expr),*) => {
        $(impl From<$value> for Cell<'_> {
            fn from($number: $value) -> Self {
                Self::from($u64)
            }
        })*
    };
}

whole!(u8: |n| u64::from(n), u16: |n| u64::from(n), u32: |n| u64::from(n), Time: |at| at.ps(), Duration: |took| took.ps());

impl<'a, T: Into<Self>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One column under construction.
enum Values {
    Text(StringDictionaryBuilder<Int32Type>),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Bool(BooleanBuilder),
}

impl Values {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringDictionaryBuilder::new()),
            Kind::Int32 => Self::Int32(Int32Builder::new()),
            Kind::Int64 => Self::Int64(Int64Builder::new()),
            Kind::Float64 => Self::Float64(Float64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
        }
    }

    /// Appends a value; returns whether it has the column's type.
    fn append(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Text(column), Cell::Text(text)) => column.append_value(text),
            (Self::Text(column), Cell::Null) => column.append_null(),
            (Self::Int32(column), Cell::Whole(number)) => column.append_option(i32::try_from(number).ok()),
            (Self::Int32(column), Cell::Null) => column.append_null(),
            (Self::Int64(column), Cell::Whole(number)) => column.append_value(number),
            (Self::Int64(column), Cell::Null) => column.append_null(),
            (Self::Float64(column), Cell::Real(number)) => column.append_value(number),
            (Self::Bool(column), Cell::Flag(flag)) => column.append_value(flag),
            _ => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Int32(column) => Arc::new(column.finish()),
            Self::Int64(column) => Arc::new(column.finish()),
            Self::Float64(column) => Arc::new(column.finish()),
            Self::Bool(column) => Arc::new(column.finish()),
        }
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
            Self::Bool => DataType::Boolean,
        }
    }
}

/// A file that keeps its first write error: the Parquet writer does not return the cause.
struct Watched {
    file: File,
    failure: Arc<OnceLock<io::Error>>,
}

impl Watched {
    fn note<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| drop(self.failure.set(copy(error))))
    }
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.note(flushed)
    }
}

/// A copy of an error.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// A table that is being written.
pub struct Table {
    columns: Vec<Values>,
    schema: Arc<Schema>,
    rows: usize,
    writer: ArrowWriter<Watched>,
    failure: Arc<OnceLock<io::Error>>,
}

impl Table {
    /// Starts a table in `file`.
    pub fn new(file: File, columns: &[Column]) -> Result<Self, ParquetError> {
        let fields: Vec<Field> =
            columns.iter().map(|column| Field::new(column.name, column.kind.data_type(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("weft".to_owned())
            .build();
        let failure = Arc::new(OnceLock::new());
        let file = Watched { file, failure: Arc::clone(&failure) };
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| reason(&failure, error))?;
        let columns = columns.iter().map(|column| Values::of(column.kind)).collect();
        Ok(Self { columns, schema, rows: 0, writer, failure })
    }

    /// Appends a row; its cells must match the columns in order and type.
    pub fn push(&mut self, row: &[Cell<'_>]) -> Result<(), ParquetError> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            if !column.append(*cell) {
                return Err(ParquetError::General("cell type does not match its column".to_owned()));
            }
        }
        self.rows += 1;
        if self.rows == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            self.rows = 0;
            let arrays = self.columns.iter_mut().map(Values::finish).collect();
            let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)
                .map_err(|error| ParquetError::ArrowError(error.to_string()))?;
            self.writer.write(&batch).map_err(|error| reason(&self.failure, error))?;
        }
        Ok(())
    }

    /// Writes the remaining rows and ends the file.
    pub fn finish(mut self) -> Result<(), ParquetError> {
        self.flush()?;
        self.writer.close().map(|_| ()).map_err(|error| reason(&self.failure, error))
    }
}

/// The file system's error if there was one, otherwise the writer's own.
fn reason(failure: &OnceLock<io::Error>, error: ParquetError) -> ParquetError {
    failure.get().map_or(error, |failure| ParquetError::External(Box::new(copy(failure))))
}
