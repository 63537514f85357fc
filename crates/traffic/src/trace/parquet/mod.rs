//! A trace from Parquet, from any writer: numbers and text of any width, with or without dictionaries.

mod compact;
mod quiet;
mod sound;

use std::fmt::Display;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::{Columns, FindHost, Place, TraceError};
use crate::listed::ListedFlow;

/// Rows read at once: few enough that long text in each of them does not matter.
const BATCH: usize = 256;

/// Reads a trace from the bytes of a Parquet file.
///
/// # Errors
/// A file that is not Parquet, or a row that is not a valid flow, with its number.
pub fn read_parquet(bytes: &[u8], find: FindHost<'_>) -> Result<Vec<ListedFlow>, TraceError> {
    // The parquet crate panics on some damaged files instead of rejecting them.
    quiet::quietly(|| read(bytes, find)).unwrap_or_else(|| Err(damaged()))
}

fn damaged() -> TraceError {
    TraceError { place: Place::File, why: "the file is damaged; expected a Parquet file".to_owned() }
}

fn read(bytes: &[u8], find: FindHost<'_>) -> Result<Vec<ListedFlow>, TraceError> {
    let file = |why| TraceError { place: Place::File, why };
    if bytes.ends_with(b"PAR1") && !sound::footer(bytes) {
        return Err(damaged());
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::copy_from_slice(bytes), options)
            .map_err(|error| file(refuse(&error)))?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns = Columns::find(&names).map_err(file)?;
    let schema = builder.parquet_schema();
    let used: Vec<usize> = columns.used().collect();
    let leaves: Vec<usize> =
        (0..schema.num_columns()).filter(|leaf| used.contains(&schema.get_column_root_idx(*leaf))).collect();
    if !sound::columns(bytes, builder.metadata(), &leaves).map_err(file)? {
        return Err(damaged());
    }
    let mask = ProjectionMask::leaves(schema, leaves);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
    let mut flows: Vec<ListedFlow> = Vec::new();
    for batch in reader.map_err(|error| file(refuse(&error)))? {
        let batch = batch.map_err(|error| file(refuse(&error)))?;
        let mut cells: Vec<Option<StringArray>> = vec![None; names.len()];
        for &column in &used {
            let array = batch.column_by_name(&names[column]).ok_or_else(damaged)?;
            cells[column] = Some(as_text(array, &names[column]).map_err(file)?);
        }
        for row in 0..batch.num_rows() {
            let cell = |column: usize| {
                cells[column]
                    .as_ref()
                    .filter(|array| array.is_valid(row))
                    .map_or("", |array| array.value(row))
            };
            let place = Place::Row(flows.len() as u64 + 1);
            flows.push(columns.flow(cell, find).map_err(|why| TraceError { place, why })?);
        }
    }
    Ok(flows)
}

impl Columns {
    fn used(&self) -> impl Iterator<Item = usize> {
        let ports = self.ports.map(|(sport, dport)| [sport, dport]);
        [self.src, self.dst, self.bytes, self.start.0]
            .into_iter()
            .chain(self.class)
            .chain(self.dscp)
            .chain(ports.into_iter().flatten())
    }
}

fn as_text(column: &ArrayRef, name: &str) -> Result<StringArray, String> {
    let kind = column.data_type();
    let text = cast(column, &DataType::Utf8)
        .map_err(|_| format!("column `{name}` holds {kind}; expected numbers or text"))?;
    match text.as_any().downcast_ref::<StringArray>() {
        Some(text) => Ok(text.clone()),
        None => Err(format!("column `{name}` holds {kind}; expected numbers or text")),
    }
}

fn refuse(error: &dyn Display) -> String {
    let why = error.to_string();
    match why.rsplit_once("Disabled feature at compile time: ") {
        Some((_, codec)) => format!("it is compressed with {codec}; expected zstd, snappy or no compression"),
        None => format!("{why}; expected a Parquet file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::{find, flow};
    use arrow_array::RecordBatch;
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Float64Array, Int64Array, UInt32Array};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, Encoding, ZstdLevel};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        written(WriterProperties::default(), columns)
    }

    fn written(properties: WriterProperties, columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn text(values: &[&str]) -> ArrayRef {
        Arc::new(values.iter().copied().collect::<DictionaryArray<Int32Type>>())
    }

    #[test]
    fn the_flows_of_a_result_are_a_trace() {
        let bytes = file(vec![
            ("flow", Arc::new(Int64Array::from(vec![0, 1]))),
            ("src", text(&["h0", "h2"])),
            ("dst", text(&["h3", "h1"])),
            ("class", text(&["long", "mouse"])),
            ("bytes", Arc::new(Int64Array::from(vec![10_000_000, 1_500]))),
            ("start_ps", Arc::new(Int64Array::from(vec![0, 70]))),
            ("fct_ps", Arc::new(Int64Array::from(vec![Some(9), None]))),
        ]);
        let expected = vec![flow(0, 3, 10_000_000, 0, Some("long")), flow(2, 1, 1_500, 70, Some("mouse"))];
        assert_eq!(read_parquet(&bytes, &find), Ok(expected));
    }

    #[test]
    fn a_bad_file_is_refused_with_its_row() {
        let bad = |bytes: Vec<u8>| read_parquet(&bytes, &find).unwrap_err().to_string();
        let host: fn(&[&'static str]) -> ArrayRef = |names| Arc::new(StringArray::from(names.to_vec()));
        let rows = |starts: Vec<Option<f64>>| {
            file(vec![
                ("src", host(&["h0", "h2"])),
                ("dst", host(&["h3", "h1"])),
                ("bytes", Arc::new(UInt32Array::from(vec![5, 6]))),
                ("start_s", Arc::new(Float64Array::from(starts))),
            ])
        };
        assert_eq!(
            read_parquet(&rows(vec![Some(0.5), Some(1e-3)]), &find).unwrap()[1].start.ps(),
            1_000_000_000
        );
        assert!(bad(rows(vec![Some(0.5), None])).starts_with("row 2: start_s: `` is not a time"));
        assert!(bad(rows(vec![Some(f64::NAN), None])).starts_with("row 1: start_s: `NaN`"));
        assert!(bad(file(vec![("src", host(&["h0"]))])).contains("no column `dst`"), "columns are needed");
        assert!(bad(b"src,dst,bytes\n".to_vec()).ends_with("expected a Parquet file"));
        let mut cut = rows(vec![Some(0.5), Some(1.0)]);
        cut.drain(4..40);
        assert!(!bad(cut).is_empty());
    }

    #[test]
    fn a_list_said_to_be_enormous_takes_no_memory() {
        // Version 1, then a schema of 2^31 - 1 elements.
        let metadata = [0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0, 0];
        let mut bytes = [b"PAR1".as_slice(), &metadata].concat();
        bytes.extend((metadata.len() as u32).to_le_bytes());
        bytes.extend(b"PAR1");
        assert_eq!(read_parquet(&bytes, &find), Err(damaged()));
    }

    #[test]
    fn a_codec_that_is_not_built_in_is_named() {
        let error = "Parquet argument error: Parquet error: Disabled feature at compile time: lz4";
        assert_eq!(refuse(&error), "it is compressed with lz4; expected zstd, snappy or no compression");
    }

    fn codecs() -> [Compression; 3] {
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
    }

    /// A file of three flows with the given compression and writer version.
    fn three(codec: Compression, version: WriterVersion) -> Vec<u8> {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .set_column_encoding("bytes".into(), Encoding::PLAIN)
            .set_column_dictionary_enabled("bytes".into(), false)
            .set_data_page_row_count_limit(2)
            .set_write_batch_size(1);
        let columns = vec![
            ("src", text(&["h0", "h2", "h0"])),
            ("dst", text(&["h3", "h1", "h1"])),
            ("bytes", Arc::new(Int64Array::from(vec![5, 6, 7])) as ArrayRef),
            ("start_ps", Arc::new(Int64Array::from(vec![0, 70, 80]))),
        ];
        written(properties.build(), columns)
    }

    #[test]
    fn a_file_is_read_however_it_is_compressed() {
        let flows = vec![flow(0, 3, 5, 0, None), flow(2, 1, 6, 70, None), flow(0, 1, 7, 80, None)];
        for codec in codecs() {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                assert_eq!(
                    read_parquet(&three(codec, version), &find).as_ref(),
                    Ok(&flows),
                    "{codec} {version:?}"
                );
            }
        }
    }

    /// Changes every byte of a small file in several ways, and truncates the file everywhere.
    #[test]
    fn every_damage_is_survived() {
        for codec in codecs() {
            let whole = three(codec, WriterVersion::PARQUET_1_0);
            for at in 0..whole.len() {
                assert!(read_parquet(&whole[..at], &find).is_err(), "{codec}: the first {at} bytes");
                for change in [0x01, 0x40, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= change;
                    let _ = read_parquet(&bytes, &find);
                }
            }
        }
    }

    /// In a separate process: a damaged file must neither print anything nor allocate much memory.
    #[cfg(target_os = "linux")]
    #[test]
    fn damage_prints_nothing_and_needs_little_memory() {
        let tests = std::env::current_exe().unwrap();
        let script = "ulimit -v 600000; exec \"$0\" --exact --nocapture --test-threads 1 \"$1\"";
        let name = "trace::parquet::tests::every_damage_is_survived";
        let done =
            std::process::Command::new("sh").args(["-c", script]).arg(tests).arg(name).output().unwrap();
        let [out, error] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(done.status.success() && out.contains("1 passed"), "{out}{error}");
        assert_eq!(error, "");
    }

    proptest! {
        #[test]
        fn no_damage_makes_it_panic(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
            end: Option<proptest::sample::Index>,
        ) {
            let mut bytes = three(Compression::SNAPPY, WriterVersion::PARQUET_1_0);
            for (at, byte) in changes {
                let length = bytes.len();
                bytes[at.index(length)] = byte;
            }
            if let Some(end) = end {
                bytes.truncate(end.index(bytes.len()));
            }
            let _ = read_parquet(&bytes, &find);
        }
    }
}
