//! A list of flows of conweave-ns3 or HPCC: a line with the number of flows, then a line for each flow: source,
//! destination, priority group, in HPCC's files the destination port, bytes, start in seconds. Node `n` is host `hn`.
//!
//! Both simulators read as many flows as the first line gives; further lines are notes.

use weft_units::{Time, plural};

use super::value::{self, Start, whole_number};
use super::{FindHost, Read, TraceError, without_mark};
use crate::lane::Lane;
use crate::listed::ListedFlow;
use crate::words::{short, there_are};

/// A flow and the columns that Weft ignores: the priority group and, if there is one, the port.
struct Line<'a> {
    flow: ListedFlow,
    group: &'a str,
    port: Option<&'a str>,
}

/// Reads a list of flows from the bytes of a file.
///
/// # Errors
/// A line that is not a valid flow, with its number; fewer flows than the first line says.
pub fn read_conweave(bytes: &[u8], find: FindHost<'_>) -> Result<Read<Vec<ListedFlow>>, TraceError> {
    let lines = without_mark(bytes).split(|byte| *byte == b'\n').zip(1..);
    let mut lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let text = |line| {
        let not_text =
            |_| "this is not UTF-8 text; expected a number of flows and one line per flow".to_owned();
        std::str::from_utf8(line).map(str::trim_ascii).map_err(not_text)
    };
    let Some((first, number)) = lines.next() else {
        return Err(TraceError::file(
            "the file is empty; expected the number of flows and one line per flow",
        ));
    };
    let count = text(first).map_err(|why| TraceError::line(number, why))?;
    let not_a_count = || TraceError::line(number, format!("`{}` is not a number of flows", short(count)));
    let expected: usize = count.parse().map_err(|_| not_a_count())?;
    let (mut flows, mut kept) = (Vec::new(), None);
    let mut differ = [false; 2];
    for (line, number) in lines.by_ref().take(expected) {
        let read = text(line)
            .and_then(|line| Line::read(line, find))
            .map_err(|why| TraceError::line(number, why))?;
        let (group, port, first) = *kept.get_or_insert((read.group, read.port, number));
        if port.is_some() != read.port.is_some() {
            let why = format!("this line and line {first} have a different number of fields");
            return Err(TraceError::line(number, why));
        }
        differ = [differ[0] || group != read.group, differ[1] || port != read.port];
        flows.push(read.flow);
    }
    if flows.len() < expected {
        return Err(TraceError::line(
            number,
            format!("{}; this line says {expected}", there_are(flows.len() as u64, "flow")),
        ));
    }
    let columns = ["priority groups", "ports"].into_iter().zip(differ);
    let columns: Vec<&str> = columns.filter_map(|(name, differs)| differs.then_some(name)).collect();
    let mut ignored = Vec::new();
    if !columns.is_empty() {
        ignored.push(format!("the {} of the flows are ignored", columns.join(" and ")));
    }
    if let Some((_, more)) = lines.next() {
        ignored.push(format!(
            "line {number} says {}; the file from line {more} on is ignored",
            plural(expected as u64, "flow")
        ));
    }
    Ok(Read { flows, ignored })
}

impl<'a> Line<'a> {
    fn read(line: &'a str, find: FindHost<'_>) -> Result<Self, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (src, dst, group, port, bytes, start) = match words[..] {
            [src, dst, group, bytes, start] => (src, dst, group, None, bytes, start),
            [src, dst, group, port, bytes, start] => (src, dst, group, Some(port), bytes, start),
            _ => {
                return Err(format!(
                    "this line has {}; expected 5 or 6: source, destination, priority group, (port,) bytes, start",
                    plural(words.len() as u64, "field")
                ));
            }
        };
        let host = |node: &str, name| match node.parse::<u32>() {
            Ok(number) => find(&format!("h{number}")).map_err(|why| format!("{name}: {why}")),
            Err(_) => Err(format!("{name}: `{}` is not the number of a node", short(node))),
        };
        let flow = ListedFlow {
            src: host(src, "src")?,
            dst: host(dst, "dst")?,
            bytes: whole_number("bytes", bytes)?,
            start: Time::ZERO + value::start("start", start, Start::Seconds)?,
            class: None,
            dscp: None,
            ports: None,
            lane: Lane::Any,
        };
        Ok(Self { flow, group, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::{find, flow};
    use proptest::prelude::*;

    #[test]
    fn both_variants_are_read() {
        let flows = [flow(0, 3, 10_000_000, 1_000_000_000, None), flow(2, 1, 1_500, 2_000_000_000_000, None)];
        for text in [
            "2\n0 3 3 10000000 0.001000000\n\n2 1 3 1500 2.000000000 \n",
            "2 \r\n0 3 3 100 10000000 1e-3\r\n2 1 3 100 1500 2\r\n",
        ] {
            let expected = Read { flows: flows.to_vec(), ignored: vec![] };
            assert_eq!(read_conweave(text.as_bytes(), &find), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_is_ignored_is_named_once() {
        let text = "2\n0 3 3 100 5 0\n2 1 3 101 6 0\n2 1 0 100 7 0\n\nfirst line: flows\n";
        let read = read_conweave(text.as_bytes(), &find).unwrap();
        assert_eq!(read.flows, [flow(0, 3, 5, 0, None), flow(2, 1, 6, 0, None)]);
        let expected =
            ["the ports of the flows are ignored", "line 1 says 2 flows; the file from line 4 on is ignored"];
        assert_eq!(read.ignored, expected);
        let groups = read_conweave(b"2\n0 3 3 5 0\n0 3 1 5 0\n", &find).unwrap();
        assert_eq!(groups.ignored, ["the priority groups of the flows are ignored"]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        for (text, message) in [
            ("\n", "the file is empty; expected the number of flows and one line per flow"),
            ("\u{a0}\n", "line 1: `\\u{a0}` is not a number of flows"),
            ("\u{b}1\n0 1 3 5 0\n", "line 1: `\\u{b}1` is not a number of flows"),
            ("1\n0\u{a0}1 3 5 0 0\n", "line 2: src: `0\\u{a0}1` is not the number of a node"),
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
                "line 2: start: `-1` is not a time; expected a number of seconds, at least 0",
            ),
            ("1\n0 1 3 10MB 0\n", "line 2: bytes: `10MB` is not a whole number"),
            ("1\n0 1 3 10000000 2.0 9.5\n", "line 2: bytes: `2.0` is not a whole number"),
            (
                "2\n0 1 3 100 5 0\n0 1 3 5 0\n",
                "line 3: this line and line 2 have a different number of fields",
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
        fn no_bytes_make_it_panic(text in "([0-9\u{a0}\u{b}]{1,2}\n)?([0-9. \n\u{a0}\u{b}-]{0,60})") {
            let _ = read_conweave(text.as_bytes(), &find);
        }
    }
}
