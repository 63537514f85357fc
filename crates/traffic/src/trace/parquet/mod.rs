//! A trace from Parquet, from any writer: numbers and text of any width, with or without dictionaries, and durations.

mod cells;
mod compact;
mod quiet;
mod sound;

use std::fmt::Display;

use arrow_array::{Array, StringArray};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};

use self::cells::{Holds, Use};
use super::columns::Columns;
use super::value::{FindHost, Start};
use super::{Place, TraceError};
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
    TraceError::file("the file is damaged; expected a Parquet file")
}

fn read(bytes: &[u8], find: FindHost<'_>) -> Result<Vec<ListedFlow>, TraceError> {
    if bytes.ends_with(b"PARE") {
        return Err(TraceError::file("it is encrypted; expected a Parquet file without encryption"));
    }
    if bytes.ends_with(b"PAR1") && !sound::footer(bytes) {
        return Err(damaged());
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::copy_from_slice(bytes), options)
            .map_err(refuse)?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut columns = Columns::find(&names).map_err(TraceError::file)?;
    let schema = builder.parquet_schema();
    // Parquet has no type for some of Arrow's; their writers say it in `ARROW:schema`.
    let said = builder.metadata().file_metadata().key_value_metadata();
    let said = parquet_to_arrow_schema(schema, said).map_err(refuse)?;
    let used = columns.used();
    let mut holds: Vec<Option<Holds>> = vec![None; names.len()];
    for &(column, used) in &used {
        let kind = said.fields().get(column).ok_or_else(damaged)?.data_type();
        holds[column] = Some(Holds::of(kind, used, &names[column]).map_err(TraceError::file)?);
    }
    if let Some(Holds::Duration(_)) = holds[columns.start.0] {
        columns.start.1 = Start::Text;
    }
    let is_used = |leaf: &usize| used.iter().any(|(column, _)| *column == schema.get_column_root_idx(*leaf));
    let leaves: Vec<usize> = (0..schema.num_columns()).filter(is_used).collect();
    if !sound::columns(bytes, builder.metadata(), &leaves).map_err(TraceError::file)? {
        return Err(damaged());
    }
    let mask = ProjectionMask::leaves(schema, leaves);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
    let mut flows: Vec<ListedFlow> = Vec::new();
    for batch in reader.map_err(refuse)? {
        let batch = batch.map_err(refuse)?;
        let mut cells: Vec<Option<StringArray>> = vec![None; names.len()];
        for (column, holds) in holds.iter().enumerate() {
            let Some(holds) = holds else { continue };
            let array = batch.column_by_name(&names[column]).ok_or_else(damaged)?;
            cells[column] = Some(holds.text(array).ok_or_else(damaged)?);
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
    /// The columns that are read, and their uses.
    fn used(&self) -> Vec<(usize, Use)> {
        let start = match self.start {
            (column, Start::Text, _) => (column, Use::TimeText),
            (column, Start::Seconds | Start::Picoseconds, _) => (column, Use::Time),
        };
        let pairs = [self.ports, self.interfaces].into_iter().flatten();
        let pairs = pairs.flat_map(|(src, dst)| [src, dst]);
        let names = [self.src, self.dst].into_iter().chain(self.class).map(|column| (column, Use::Name));
        let counts = [self.bytes].into_iter().chain(self.dscp).chain(pairs);
        names.chain(counts.map(|column| (column, Use::Count))).chain([start]).collect()
    }
}

fn refuse(error: impl Display) -> TraceError {
    TraceError::file(format!("{error}; expected a Parquet file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::{find, flow};
    use arrow_array::types::{Int32Type, IntervalDayTime};
    use arrow_array::*;
    use arrow_schema::{DataType, Field};
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

    /// A file of one flow with this column in place of its own.
    fn with(name: &'static str, column: ArrayRef) -> Vec<u8> {
        let start = if name.starts_with("start") { name } else { "start_ps" };
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("src", Arc::new(StringArray::from(vec!["h0"]))),
            ("dst", Arc::new(StringArray::from(vec!["h1"]))),
            ("bytes", Arc::new(Int64Array::from(vec![5]))),
            (start, Arc::new(Int64Array::from(vec![7]))),
        ];
        columns.retain(|(other, _)| *other != name);
        columns.push((name, column));
        file(columns)
    }

    #[test]
    fn durations_have_their_own_unit_whatever_the_column_is_called() {
        let columns: [(ArrayRef, u64); 4] = [
            (Arc::new(DurationSecondArray::from(vec![2])), 2_000_000_000_000),
            (Arc::new(DurationMillisecondArray::from(vec![2])), 2_000_000_000),
            (Arc::new(DurationMicrosecondArray::from(vec![2])), 2_000_000),
            (Arc::new(DurationNanosecondArray::from(vec![2])), 2_000),
        ];
        for (column, ps) in columns {
            for name in ["start", "start_s", "start_ps"] {
                let flows = read_parquet(&with(name, Arc::clone(&column)), &find).unwrap();
                assert_eq!(flows[0].start.ps(), ps, "{name} {}", column.data_type());
            }
        }
        let negative = with("start_s", Arc::new(DurationMicrosecondArray::from(vec![-2])));
        let error = read_parquet(&negative, &find).unwrap_err().to_string();
        assert!(error.starts_with("row 1: start_s: `-2 us`"), "{error}");
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        let decimal = |value, precision, scale| -> ArrayRef {
            let array = Decimal128Array::from(vec![value]).with_precision_and_scale(precision, scale);
            Arc::new(array.unwrap())
        };
        let wide = arrow_cast::cast(&Int64Array::from(vec![1_500]), &DataType::Decimal256(60, 0)).unwrap();
        // Decimal numbers up to 9 digits are stored in 32 bits, up to 18 in 64, others as bytes.
        let bytes: [(ArrayRef, u64); 10] = [
            (Arc::new(UInt64Array::from(vec![u64::MAX])), u64::MAX),
            (Arc::new(UInt8Array::from(vec![200])), 200),
            (Arc::new(UInt16Array::from(vec![60_000])), 60_000),
            (Arc::new(UInt32Array::from(vec![4_000_000_000])), 4_000_000_000),
            (Arc::new(Float64Array::from(vec![1e16])), 10_000_000_000_000_000),
            (Arc::new(Float32Array::from(vec![1_500.0])), 1_500),
            (decimal(150_000, 9, 2), 1_500),
            (decimal(150_000, 18, 2), 1_500),
            (decimal(i128::from(u64::MAX), 38, 0), u64::MAX),
            (wide, 1_500),
        ];
        for (column, value) in bytes {
            let flows = read_parquet(&with("bytes", Arc::clone(&column)), &find);
            assert_eq!(flows.map(|flows| flows[0].bytes), Ok(value), "{}", column.data_type());
        }
        let half = Float64Array::from(vec![0.5]);
        let half = arrow_cast::cast(&half, &DataType::Float16).unwrap();
        for column in [half, decimal(50, 9, 2), decimal(5_000, 30, 4)] {
            let flows = read_parquet(&with("start_s", Arc::clone(&column)), &find);
            assert_eq!(flows.map(|flows| flows[0].start.ps()), Ok(500_000_000_000), "{}", column.data_type());
        }
    }

    #[test]
    fn a_type_that_a_column_cannot_have_is_named() {
        let nested: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(5)])]));
        let field = Arc::new(Field::new("a", DataType::Int32, false));
        let a_struct: ArrayRef =
            Arc::new(StructArray::from(vec![(field, Arc::new(Int32Array::from(vec![5])) as ArrayRef)]));
        let columns: [(&str, ArrayRef, &str); 12] = [
            ("start_s", Arc::new(TimestampMicrosecondArray::from(vec![5])), "timestamps"),
            ("start_ps", Arc::new(Time64NanosecondArray::from(vec![5])), "times of day"),
            ("start_s", Arc::new(Time32MillisecondArray::from(vec![5])), "times of day"),
            ("start", Arc::new(Date32Array::from(vec![5])), "dates"),
            ("start_ps", Arc::new(Date64Array::from(vec![5])), "dates"),
            (
                "start_s",
                Arc::new(IntervalDayTimeArray::from(vec![IntervalDayTime::new(0, 5)])),
                "intervals of months, days and milliseconds",
            ),
            ("bytes", Arc::new(BooleanArray::from(vec![true])), "booleans"),
            ("bytes", Arc::new(DurationSecondArray::from(vec![5])), "durations"),
            ("src", Arc::new(DurationSecondArray::from(vec![5])), "durations"),
            ("bytes", nested, "lists"),
            ("dst", a_struct, "structs"),
            (
                "src",
                Arc::new(FixedSizeBinaryArray::try_from_iter(["ab"].into_iter()).unwrap()),
                "binary values",
            ),
        ];
        for (name, column, what) in columns {
            let error = read_parquet(&with(name, column), &find).unwrap_err().to_string();
            assert!(error.starts_with(&format!("column `{name}` holds {what}; expected ")), "{error}");
        }
    }

    #[test]
    fn a_codec_that_is_not_read_is_named() {
        let plain = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let of_src = [b"\x03src\x15".as_slice(), &[2]].concat();
        let bytes = written(
            plain,
            vec![
                ("src", Arc::new(StringArray::from(vec!["h0"])) as ArrayRef),
                ("dst", Arc::new(StringArray::from(vec!["h1"]))),
                ("bytes", Arc::new(Int64Array::from(vec![5]))),
                ("start_ps", Arc::new(Int64Array::from(vec![7]))),
            ],
        );
        let at = bytes.windows(of_src.len()).position(|window| window == of_src).unwrap();
        for (codec, name) in [(2, "gzip"), (3, "lzo"), (4, "brotli"), (5, "lz4"), (7, "lz4_raw")] {
            let mut other = bytes.clone();
            other[at + of_src.len() - 1] = codec * 2;
            let error = read_parquet(&other, &find).unwrap_err().to_string();
            let expected = format!("it is compressed with {name}; expected zstd, snappy or no compression");
            assert_eq!(error, expected);
        }
        let error = read_parquet(b"PAR1PARE", &find).unwrap_err().to_string();
        assert_eq!(error, "it is encrypted; expected a Parquet file without encryption");
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
