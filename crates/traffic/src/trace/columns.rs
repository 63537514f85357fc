//! [`Columns`]: the columns of a trace, found by name, and the flow of a row.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use weft_units::{Bytes, Duration, HostId, Time};

use super::error::FindHost;
use crate::flow::MAX_DSCP;
use crate::listed::ListedFlow;
use crate::words::short;

/// The format of flow start times in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// Text with a unit.
    Text,
    /// Seconds.
    Seconds,
    /// Picoseconds.
    Picoseconds,
}

const STARTS: [(&str, Start); 3] =
    [("start", Start::Text), ("start_s", Start::Seconds), ("start_ps", Start::Picoseconds)];

/// The names of all columns that are read.
const COLUMNS: [&str; 10] =
    ["src", "dst", "bytes", "start", "start_s", "start_ps", "class", "dscp", "sport", "dport"];

/// The column indices of a trace.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) src: usize,
    pub(super) dst: usize,
    pub(super) bytes: usize,
    pub(super) start: (usize, Start, &'static str),
    pub(super) class: Option<usize>,
    pub(super) dscp: Option<usize>,
    pub(super) ports: Option<(usize, usize)>,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Result<Self, String> {
        let place = |name: &str| names.iter().position(|known| known == name);
        let needed = |name: &str| {
            let found = names.iter().map(|name| format!("`{}`", short(name))).collect::<Vec<_>>().join(", ");
            place(name).ok_or_else(|| {
                format!("there is no column `{name}` among {found}; expected src, dst, bytes and start (or start_s, start_ps)")
            })
        };
        if let [line] = names
            && let Some(mark) = [';', '\t', '|'].into_iter().find(|mark| line.contains(*mark))
        {
            return Err(format!("the columns are separated by {mark:?}; expected commas"));
        }
        if let Some(twice) =
            COLUMNS.iter().find(|name| names.iter().filter(|other| other == name).count() > 1)
        {
            return Err(format!("there are two columns `{twice}`; remove one"));
        }
        let (src, dst, bytes) = (needed("src")?, needed("dst")?, needed("bytes")?);
        let starts: Vec<_> = STARTS.into_iter().filter(|(name, _)| place(name).is_some()).collect();
        if let [(kept, _), (other, _), ..] = starts[..] {
            return Err(format!("there are two columns of starts, `{kept}` and `{other}`; remove `{other}`"));
        }
        let (name, kind) = starts.first().copied().unwrap_or(STARTS[0]);
        let start = (needed(name)?, kind, name);
        let ports = match (place("sport"), place("dport")) {
            (Some(sport), Some(dport)) => Some((sport, dport)),
            (None, None) => None,
            (Some(_), None) => {
                return Err("there is a column `sport` but no `dport`; expected both or none".into());
            }
            (None, Some(_)) => {
                return Err("there is a column `dport` but no `sport`; expected both or none".into());
            }
        };
        Ok(Self { src, dst, bytes, start, class: place("class"), dscp: place("dscp"), ports })
    }

    /// The flow of a row whose cells are given as text.
    pub(super) fn flow<'a>(
        &self,
        cell: impl Fn(usize) -> &'a str,
        find: FindHost<'_>,
    ) -> Result<ListedFlow, String> {
        let cell = |column: usize| cell(column).trim();
        let host = |column, name| find_short(cell(column), find).map_err(|why| format!("{name}: {why}"));
        let (src, dst) = (host(self.src, "src")?, host(self.dst, "dst")?);
        let bytes = read_bytes(cell(self.bytes))?;
        let (column, kind, name) = self.start;
        let start = read_start(name, cell(column), kind)?;
        let class = self.class.map(&cell).filter(|class| !class.is_empty()).map(str::to_owned);
        let dscp = |text: &str| {
            let number = text.parse::<u8>().ok().filter(|dscp| *dscp <= MAX_DSCP);
            number.ok_or_else(|| {
                format!("`{}` is not a valid DSCP; expected a number from 0 to {MAX_DSCP}", short(text))
            })
        };
        let dscp = self.dscp.map(&cell).filter(|text| !text.is_empty()).map(dscp).transpose()?;
        let port = |column| {
            let text = cell(column);
            text.parse::<u16>()
                .map_err(|_| format!("`{}` is not a port; expected a number from 0 to 65535", short(text)))
        };
        let ports = match self.ports {
            Some((sport, dport)) => Some((port(sport)?, port(dport)?)),
            None => None,
        };
        Ok(ListedFlow { src, dst, bytes, start: Time::ZERO + start, class, dscp, ports })
    }
}

pub(super) fn is_too_large(error: &ParseIntError) -> bool {
    *error.kind() == IntErrorKind::PosOverflow
}

pub(super) fn too_large(column: &str, number: &str) -> String {
    format!("{column}: `{}` is too large; expected at most {}", short(number), u64::MAX)
}

fn read_bytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(bytes) => Ok(bytes),
        Err(error) if is_too_large(&error) => Err(too_large("bytes", text)),
        Err(_) => whole(text).map_or_else(|| Ok(read_unit::<Bytes>("bytes", text)?.0), Ok),
    }
}

/// A whole number as programs write one in a column of floating-point numbers: `1000.0` (pandas), `1e+05` (R).
fn whole(text: &str) -> Option<u64> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    if let Some(number) = text.strip_suffix(".0") {
        return number.parse().ok();
    }
    let value = text.contains(['e', 'E']).then(|| text.parse::<f64>().ok()).flatten()?;
    ((0.0..=EXACT).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// The host of this name; the error has the start of a long name.
fn find_short(name: &str, find: FindHost<'_>) -> Result<HostId, String> {
    find(name).map_err(|why| find(&short(name)).err().unwrap_or(why))
}

/// A quantity with a unit.
pub(super) fn read_unit<T: FromStr<Err: fmt::Display>>(column: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| {
        let error = short(text).parse::<T>().err().unwrap_or(error);
        format!("{column}: {error}")
    })
}

/// The text of a file without the byte order mark that some editors put before it.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

pub(super) fn read_start(name: &str, text: &str, kind: Start) -> Result<Duration, String> {
    match kind {
        Start::Text => read_unit(name, text),
        Start::Picoseconds => match text.parse::<u64>() {
            Ok(ps) => Ok(Duration::from_ps(ps)),
            Err(error) if is_too_large(&error) => Err(too_large(name, text)),
            Err(_) => Err(format!(
                "{name}: `{}` is not a time; expected a whole number of picoseconds, at least 0",
                short(text)
            )),
        },
        Start::Seconds => match text.parse::<f64>() {
            Ok(seconds) if (0.0..1e7).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
            Ok(seconds) if seconds >= 1e7 => {
                Err(format!("{name}: `{}` is too large; expected less than 10000000 seconds", short(text)))
            }
            _ => Err(format!(
                "{name}: `{}` is not a time; expected a number of seconds, at least 0",
                short(text)
            )),
        },
    }
}
