//! Checks before the parquet crate may read a file: it trusts the lengths and counts that it finds, and allocates that
//! much memory. Version 60.1 bounds the lists of the footer (arrow-rs, issue 10920), but still allocates the size in a
//! page's header, up to 2 GB, and the count in front of a delta encoding.

use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::compact::Compact;
use crate::flow::MAX_FLOWS;

/// Maximum size of a decompressed page in bytes; writers make pages of about 1 MB.
const MAX_PAGE: i64 = 1 << 28;
/// Maximum number of schema nodes with children; a table of flows has one.
const MAX_NESTS: usize = 64;
/// Maximum width of a value of fixed length in bytes: a decimal number of 76 digits takes 32.
const MAX_WIDTH: i32 = 32;
/// Bytes at the end of a file: the length of its metadata, and `PAR1`.
const TAIL: usize = 8;

/// `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`, which start with their own count.
const COUNTED: [i64; 2] = [6, 7];
const DICTIONARY_PAGE: i64 = 2;

/// Whether the lengths in the metadata at the end of the file fit the file.
pub fn footer(file: &[u8]) -> bool {
    let metadata = || {
        let (before, tail) = file.split_at_checked(file.len().checked_sub(TAIL)?)?;
        let length = u32::from_le_bytes(tail[..4].try_into().ok()?) as usize;
        before.get(before.len().checked_sub(length)?..)
    };
    // In `FileMetaData`, field 2 is the schema; in its elements, field 5 is the number of children.
    let mut nests = 0;
    let mut see = |path: &[i16], children| nests += usize::from(path == [2, 5] && children > 0);
    metadata().is_some_and(|bytes| Compact::new(bytes).structure(&mut see).is_some()) && nests <= MAX_NESTS
}

/// Whether the columns with these numbers are where the metadata places them, with the stated sizes.
///
/// # Errors
/// An unsupported file that is not damaged.
pub fn columns(file: &[u8], metadata: &ParquetMetaData, used: &[usize]) -> Result<bool, String> {
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        let of_group = group.num_rows();
        rows = rows.saturating_add(of_group);
        if of_group < 0 || rows > MAX_FLOWS as i64 {
            return Err(format!("it has {rows} rows; a run can have at most {MAX_FLOWS} flows"));
        }
        for &column in used {
            let Some(chunk) = group.columns().get(column) else { return Ok(false) };
            let name = chunk.column_descr().name();
            let column = chunk.column_descr();
            let flat = column.max_rep_level() == 0 && column.max_def_level() < 2;
            let narrow = chunk.column_type() != Type::FIXED_LEN_BYTE_ARRAY
                || (1..=MAX_WIDTH).contains(&column.type_length());
            if !flat || !narrow || chunk.num_values() != of_group {
                return Ok(false);
            }
            if let Some(codec) = unread(chunk.compression()) {
                return Err(format!(
                    "it is compressed with {codec}; expected zstd, snappy or no compression"
                ));
            }
            match chunk_bytes(file, chunk).and_then(|bytes| pages(bytes, chunk)) {
                None => return Ok(false),
                Some(Pages::Plain) => {}
                Some(Pages::Counted) => {
                    return Err(format!(
                        "column `{name}` uses a delta encoding for text or bytes; expected a plain or dictionary \
                         encoding"
                    ));
                }
            }
        }
    }
    Ok(true)
}

/// The name of a codec that is not read.
const fn unread(codec: Compression) -> Option<&'static str> {
    match codec {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => None,
        Compression::GZIP(_) => Some("gzip"),
        Compression::LZO => Some("lzo"),
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZ4 => Some("lz4"),
        Compression::LZ4_RAW => Some("lz4_raw"),
    }
}

fn chunk_bytes<'a>(file: &'a [u8], chunk: &ColumnChunkMetaData) -> Option<&'a [u8]> {
    let start = usize::try_from(chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset())).ok()?;
    let length = usize::try_from(chunk.compressed_size()).ok()?;
    file.get(start..start.checked_add(length)?)
}

/// The encoding of a column's text.
enum Pages {
    /// Plain bytes, or a dictionary of them.
    Plain,
    /// The count of values is only in the data.
    Counted,
}

/// Walks over the pages of a column; `None` if they are damaged.
fn pages(mut bytes: &[u8], chunk: &ColumnChunkMetaData) -> Option<Pages> {
    let mut values = 0_i64;
    while !bytes.is_empty() && values < chunk.num_values() {
        let mut page = Page::default();
        let left = Compact::new(bytes).structure(&mut |path, number| page.see(path, number))?;
        bytes = &bytes[bytes.len() - left..];
        let stored = usize::try_from(page.compressed).ok()?;
        let plausible = match chunk.compression() {
            Compression::UNCOMPRESSED => page.bytes == page.compressed,
            // A snappy element of three bytes copies at most 64.
            Compression::SNAPPY => page.bytes <= page.compressed.saturating_mul(64),
            _ => true,
        };
        if !plausible || !(0..=MAX_PAGE).contains(&page.bytes) || page.values < 0 {
            return None;
        }
        if page.kind == DICTIONARY_PAGE {
            // A dictionary value takes at least one byte.
            (page.values <= page.bytes).then_some(())?;
        } else {
            values = values.checked_add(page.values)?;
            let is_bytes = matches!(chunk.column_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
            if is_bytes && COUNTED.contains(&page.encoding) {
                return Some(Pages::Counted);
            }
        }
        bytes = bytes.get(stored..)?;
    }
    (values == chunk.num_values()).then_some(Pages::Plain)
}

/// The fields read from a `PageHeader`.
#[derive(Default)]
struct Page {
    kind: i64,
    bytes: i64,
    compressed: i64,
    values: i64,
    encoding: i64,
}

impl Page {
    fn see(&mut self, path: &[i16], number: i64) {
        match path {
            [1] => self.kind = number,
            [2] => self.bytes = number,
            [3] => self.compressed = number,
            // Of a data page, a dictionary page, a version 2 data page.
            [5 | 7 | 8, 1] => self.values = number,
            [5, 2] | [8, 4] => self.encoding = number,
            _ => {}
        }
    }
}
