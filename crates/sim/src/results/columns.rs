//! The two Parquet tables of a result, written in batches, so that memory does not grow with the
//! length of a run.

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

/// Rows per batch.
const BATCH: usize = 16_384;

/// One column under construction.
pub enum Column {
    /// A nullable name, one of few.
    Name(StringDictionaryBuilder<Int32Type>),
    /// A nullable 32-bit number.
    Int(Int32Builder),
    /// A nullable 64-bit number.
    Long(Int64Builder),
    /// A measured value.
    Real(Float64Builder),
    /// A boolean.
    Flag(BooleanBuilder),
}

impl Column {
    /// A column of names.
    pub fn name() -> Self {
        Self::Name(StringDictionaryBuilder::new())
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Name(_) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Int(_) => DataType::Int32,
            Self::Long(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Flag(_) => DataType::Boolean,
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Name(builder) => Arc::new(builder.finish()),
            Self::Int(builder) => Arc::new(builder.finish()),
            Self::Long(builder) => Arc::new(builder.finish()),
            Self::Real(builder) => Arc::new(builder.finish()),
            Self::Flag(builder) => Arc::new(builder.finish()),
        }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// For a [`Column::Name`].
    Name(Option<&'a str>),
    /// For a [`Column::Int`].
    Int(Option<i32>),
    /// For a [`Column::Long`].
    Long(Option<i64>),
    /// For a [`Column::Real`].
    Real(f64),
    /// For a [`Column::Flag`].
    Flag(bool),
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
    columns: Vec<Column>,
    schema: Arc<Schema>,
    rows: usize,
    writer: ArrowWriter<Watched>,
    failure: Arc<OnceLock<io::Error>>,
}

impl Table {
    /// Starts a table in `file`.
    pub fn new(file: File, columns: Vec<(&str, Column)>) -> Result<Self, ParquetError> {
        let fields: Vec<Field> =
            columns.iter().map(|(name, column)| Field::new(*name, column.data_type(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("weft".to_owned())
            .build();
        let failure = Arc::new(OnceLock::new());
        let file = Watched { file, failure: Arc::clone(&failure) };
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| reason(&failure, error))?;
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        Ok(Self { columns, schema, rows: 0, writer, failure })
    }

    /// Appends a row; its cells must match the columns in order and type.
    pub fn push(&mut self, row: &[Cell<'_>]) -> Result<(), ParquetError> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, *cell) {
                (Column::Name(builder), Cell::Name(value)) => builder.append_option(value),
                (Column::Int(builder), Cell::Int(value)) => builder.append_option(value),
                (Column::Long(builder), Cell::Long(value)) => builder.append_option(value),
                (Column::Real(builder), Cell::Real(value)) => builder.append_value(value),
                (Column::Flag(builder), Cell::Flag(value)) => builder.append_value(value),
                _ => return Err(ParquetError::General("cell type does not match its column".to_owned())),
            }
        }
        self.rows += 1;
        if self.rows == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            self.rows = 0;
            let arrays = self.columns.iter_mut().map(Column::finish).collect();
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
