//! A list of flows of conweave-ns3 or HPCC: a line with the number of flows, then a line for each flow: source,
//! destination, priority group, in HPCC's files the destination port, bytes, start in seconds. Node `n` is host `hn`.

use weft_units::Time;

use super::{FindHost, Place, Start, TraceError, read_bytes, read_start, without_mark};
use crate::listed::ListedFlow;
use crate::words::{short, there_are};

/// Reads a list of flows from the bytes of a file.
///
/// # Errors
/// A line that is not a valid flow, with its number.
pub fn read_conweave(bytes: &[u8], find: FindHost<'_>) -> Result<Vec<ListedFlow>, TraceError> {
    let lines = without_mark(bytes).split(|byte| *byte == b'\n').zip(1..);
    let mut lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let text = |line| {
        let not_text =
            |_| "this is not UTF-8 text; expected a number of flows and one line per flow".to_owned();
        std::str::from_utf8(line).map(str::trim).map_err(not_text)
    };
    let Some((first, number)) = lines.next() else {
        let why = "the file is empty; expected the number of flows and one line per flow".to_owned();
        return Err(TraceError { place: Place::File, why });
    };
    let at = |line, why| TraceError { place: Place::Line(line), why };
    let count = text(first).map_err(|why| at(number, why))?;
    let not_a_count = || at(number, format!("`{}` is not a number of flows", short(count)));
    let expected: usize = count.parse().map_err(|_| not_a_count())?;
    let mut flows = Vec::new();
    for (line, number) in lines {
        let flow = text(line).and_then(|line| flow(line, find));
        flows.push(flow.map_err(|why| at(number, why))?);
    }
    if flows.len() != expected {
        return Err(at(
            number,
            format!("{}; this line says {expected}", there_are(flows.len() as u64, "flow")),
        ));
    }
    Ok(flows)
}

fn flow(line: &str, find: FindHost<'_>) -> Result<ListedFlow, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (src, dst, bytes, start) = match words[..] {
        [src, dst, _, bytes, start] | [src, dst, _, _, bytes, start] => (src, dst, bytes, start),
        _ => {
            let fields = words.len();
            return Err(format!(
                "this line has {fields} fields; expected 5 or 6: source, destination, priority group, (port,) bytes, start"
            ));
        }
    };
    let host = |node: &str, name| match node.parse::<u32>() {
        Ok(number) => find(&format!("h{number}")).map_err(|why| format!("{name}: {why}")),
        Err(_) => Err(format!("{name}: `{}` is not the number of a node", short(node))),
    };
    Ok(ListedFlow {
        src: host(src, "src")?,
        dst: host(dst, "dst")?,
        bytes: read_bytes(bytes)?,
        start: Time::ZERO + read_start("start_s", start, Start::Seconds)?,
        class: None,
        dscp: None,
        ports: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::{find, flow};
    use proptest::prelude::*;

    #[test]
    fn both_variants_are_read() {
        let text = "2\n0 3 3 10000000 0.001000000\n\n2 1 3 100 1500 2.000000000 \n";
        let expected =
            [flow(0, 3, 10_000_000, 1_000_000_000, None), flow(2, 1, 1_500, 2_000_000_000_000, None)];
        assert_eq!(read_conweave(text.as_bytes(), &find), Ok(expected.to_vec()));
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        for (text, message) in [
            ("\n", "the file is empty; expected the number of flows and one line per flow"),
            ("0 1 3 5 0\n", "line 1: `0 1 3 5 0` is not a number of flows"),
            ("2\n0 1 3 5 0\n", "line 1: there is 1 flow; this line says 2"),
            (
                "1\n0 1 5 0\n",
                "line 2: this line has 4 fields; expected 5 or 6: source, destination, priority group, (port,) \
                 bytes, start",
            ),
            ("1\n\n0 99 3 5 0\n", "line 3: dst: there is no node `h99`"),
            ("1\nh0 1 3 5 0\n", "line 2: src: `h0` is not the number of a node"),
            (
                "1\n0 1 3 18446744073709551616 0\n",
                "line 2: bytes: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "1\n0 1 3 5 -1\n",
                "line 2: start_s: `-1` is not a time; expected a number of seconds, at least 0",
            ),
        ] {
            assert_eq!(read_conweave(text.as_bytes(), &find).unwrap_err().to_string(), message, "{text:?}");
        }
        assert!(
            read_conweave(b"1\n0 1 3 5 \xb5\n", &find)
                .unwrap_err()
                .to_string()
                .starts_with("line 2: this is not")
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in "([0-9]{1,2}\n)?([0-9. \n-]{0,60})") {
            let _ = read_conweave(text.as_bytes(), &find);
        }
    }
}
