//! A trace from CSV: a header with column names, then one line per flow (RFC 4180). Lines that start
//! with `#` are skipped.

use ::csv::{Position, StringRecord};

use super::columns::Columns;
use super::{FindHost, Place, TraceError};
use crate::listed::ListedFlow;

/// Reads a trace from the bytes of a CSV file.
///
/// # Errors
/// A line that is not a valid flow, with its number.
pub fn read_csv(bytes: &[u8], find: FindHost<'_>) -> Result<Vec<ListedFlow>, TraceError> {
    let mut reader =
        ::csv::ReaderBuilder::new().comment(Some(b'#')).trim(::csv::Trim::All).from_reader(bytes);
    let refuse = |error: ::csv::Error| refuse(&error, bytes);
    let at = |record: &StringRecord, why| TraceError { place: place(record.position(), bytes), why };
    let header = reader.headers().map_err(refuse)?.clone();
    if header.is_empty() {
        let why = "the file is empty; expected a header `src,dst,bytes,start` and one line per flow";
        return Err(TraceError::file(why));
    }
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    let columns = Columns::find(&names).map_err(|why| at(&header, why))?;
    let mut flows = Vec::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(refuse)? {
        let cell = |column| record.get(column).unwrap_or_default();
        flows.push(columns.flow(cell, find).map_err(|why| at(&record, why))?);
    }
    Ok(flows)
}

fn refuse(error: &::csv::Error, bytes: &[u8]) -> TraceError {
    let why = match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("this line has {len} fields; expected {expected_len}, as in the header")
        }
        ::csv::ErrorKind::Utf8 { .. } => "this is not UTF-8 text; expected a CSV file".to_owned(),
        _ => error.to_string(),
    };
    TraceError { place: place(error.position(), bytes), why }
}

/// The line of a record: the reader's position is before the empty lines and comments that it skips.
fn place(position: Option<&Position>, bytes: &[u8]) -> Place {
    let Some(position) = position else { return Place::File };
    let rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    let skipped = |line: &&[u8]| line.is_empty() || *line == b"\r" || line.starts_with(b"#");
    Place::Line(position.line() + rest.split(|byte| *byte == b'\n').take_while(skipped).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::{find, flow};
    use proptest::prelude::*;

    #[test]
    fn columns_are_found_by_name_in_any_order_and_units_are_read() {
        let text =
            "# a trace\nstart, dst, note, src, bytes, class\n1 ms,h3,x,h0,10 MB,long\n0 s,h1,y,h2,1500,\n";
        let expected = [flow(0, 3, 10_000_000, 1_000_000_000, Some("long")), flow(2, 1, 1_500, 0, None)];
        assert_eq!(read_csv(text.as_bytes(), &find), Ok(expected.to_vec()));
        let seconds = "src,dst,bytes,start_s\nh0,h1,5,0.25\n";
        assert_eq!(read_csv(seconds.as_bytes(), &find).unwrap()[0].start.ps(), 250_000_000_000);
        for (size, bytes) in [("1e+05", 100_000), ("1.5E3", 1_500), ("1000.0", 1_000)] {
            let text = format!("src,dst,bytes,start_s\nh0,h1,{size},0\n");
            assert_eq!(read_csv(text.as_bytes(), &find).unwrap()[0].bytes, bytes, "{size}");
        }
        for size in ["1,000", "1 000", "1_000", "1.000,5", "1'000", "1.000", "1e-1", "1e300", "-1e3"] {
            let text = format!("src,dst,bytes,start_s\nh0,h1,\"{size}\",0\n");
            assert!(read_csv(text.as_bytes(), &find).is_err(), "{size}");
        }
        let quoted = "\u{feff}\"src\",\"dst\",\"bytes\",\"start_s\"\r\n\"h0\",\"h1\",\"5\",\"1e-3\"\r\n";
        assert_eq!(read_csv(quoted.as_bytes(), &find).unwrap()[0].start.ps(), 1_000_000_000);
        let dscps = read_csv(b"src,dst,bytes,start_ps,dscp\nh0,h1,5,0,46\nh0,h1,5,0,\n", &find).unwrap();
        assert_eq!(dscps.iter().map(|flow| flow.dscp).collect::<Vec<_>>(), [Some(46), None]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        for (text, message) in [
            ("", "the file is empty; expected a header `src,dst,bytes,start` and one line per flow"),
            (
                "src,dst,size,start\nh0,h1,5,0 s\n",
                "line 1: there is no column `bytes` among `src`, `dst`, `size`, `start`; expected src, dst, bytes \
                 and start (or start_s, start_ps)",
            ),
            (
                "src,dst,bytes,start\nh0,h1,5\n",
                "line 2: this line has 3 fields; expected 4, as in the header",
            ),
            (
                "src,dst,bytes,start\nh0,h1,5,0 s\n\n# more\nh0,h99,5,0 s\n",
                "line 5: dst: there is no node `h99`",
            ),
            (
                "src,dst,bytes,start\nh0,h1,-5,0 s\n",
                "line 2: bytes: `-5` is not a size such as \"1500 B\" or \"10 MB\": it is negative",
            ),
            (
                "src,dst,bytes,start\nh0,h1,18446744073709551616,0 s\n",
                "line 2: bytes: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "src,dst,bytes,start_ps\nh0,h1,5,18446744073709551616\n",
                "line 2: start_ps: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "src,dst,bytes,start_ps\nh0,h1,5,1 s\n",
                "line 2: start_ps: `1 s` is not a time; expected a whole number of picoseconds, at least 0",
            ),
            (
                "src,dst,bytes,start_s\nh0,h1,5,10000000\n",
                "line 2: start_s: `10000000` is too large; expected less than 10000000 seconds",
            ),
            (
                "src,start_ps,dst,bytes,start\nh0,7,h1,5,0 s\n",
                "line 1: there are two columns of starts, `start` and `start_ps`; remove `start_ps`",
            ),
            (
                "src,dst,bytes,start_s\nh0,h1,5,0\nh0,h1,5,-1\n",
                "line 3: start_s: `-1` is not a time; expected a number of seconds, at least 0",
            ),
            (
                "src,dst,bytes,start_ps,sport,dport\nh0,h1,5,0,70000,1\n",
                "line 2: `70000` is not a port; expected a number from 0 to 65535",
            ),
            (
                "src;dst;bytes;start\nh0;h1;5;0 s\n",
                "line 1: the columns are separated by ';'; expected commas",
            ),
            (
                "src,dst,bytes,start_s,bytes\nh0,h1,5,0,6\n",
                "line 1: there are two columns `bytes`; remove one",
            ),
            (
                "src,dst,bytes,start_s\nh0,h1,5,\"0,5\"\n",
                "line 2: start_s: `0,5` is not a time; expected a number of seconds, at least 0",
            ),
            (
                "src,dst,bytes,start_ps,dscp\nh0,h1,5,0,64\n",
                "line 2: `64` is not a valid DSCP; expected a number from 0 to 63",
            ),
            (
                "src,dst,bytes,start_ps,sport\nh0,h1,5,0,7\n",
                "line 1: there is a column `sport` but no `dport`; expected both or none",
            ),
        ] {
            assert_eq!(read_csv(text.as_bytes(), &find).unwrap_err().to_string(), message, "{text:?}");
        }
        let latin = b"src,dst,bytes,start\nh0,h1,5,0 \xb5s\n";
        assert_eq!(
            read_csv(latin, &find).unwrap_err().to_string(),
            "line 2: this is not UTF-8 text; expected a CSV file"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(src,dst,bytes,start\n)?([h0-9,\"# \n.-]{0,60})") {
            let _ = read_csv(text.as_bytes(), &find);
        }
    }
}
