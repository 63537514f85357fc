//! [`Columns`]: the columns of a table of flows, found by their names.

use weft_units::Time;

use super::value::{self, FindHost, Start};
use crate::flow::MAX_DSCP;
use crate::lane::Lane;
use crate::listed::ListedFlow;
use crate::words::short;

const STARTS: [(&str, Start); 3] =
    [("start", Start::Text), ("start_s", Start::Seconds), ("start_ps", Start::Picoseconds)];

/// The names of all columns that are read.
const COLUMNS: [&str; 12] = [
    "src",
    "dst",
    "bytes",
    "start",
    "start_s",
    "start_ps",
    "class",
    "dscp",
    "sport",
    "dport",
    "src_interface",
    "dst_interface",
];

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
    pub(super) interfaces: Option<(usize, usize)>,
}

impl Columns {
    /// The columns among these names.
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
        let both = |src: &str, dst: &str| {
            let (there, missing) = match (place(src), place(dst)) {
                (Some(src), Some(dst)) => return Ok(Some((src, dst))),
                (None, None) => return Ok(None),
                (Some(_), None) => (src, dst),
                (None, Some(_)) => (dst, src),
            };
            Err(format!("there is a column `{there}` but no `{missing}`; expected both or none"))
        };
        let (ports, interfaces) = (both("sport", "dport")?, both("src_interface", "dst_interface")?);
        Ok(Self { src, dst, bytes, start, class: place("class"), dscp: place("dscp"), ports, interfaces })
    }

    /// The flow of a row whose cells are given as text.
    pub(super) fn flow<'a>(
        &self,
        cell: impl Fn(usize) -> &'a str,
        find: FindHost<'_>,
    ) -> Result<ListedFlow, String> {
        let cell = |column: usize| cell(column).trim();
        let host = |column, name| value::host(cell(column), find).map_err(|why| format!("{name}: {why}"));
        let (src, dst) = (host(self.src, "src")?, host(self.dst, "dst")?);
        let bytes = value::bytes(cell(self.bytes))?;
        let (column, kind, name) = self.start;
        let start = value::start(name, cell(column), kind)?;
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
        let interface = |column| {
            let text = cell(column);
            text.parse::<u8>().map_err(|_| {
                format!(
                    "`{}` is not the number of an interface; expected a number from 0 to 255",
                    short(text)
                )
            })
        };
        let lane = match self.interfaces {
            Some((src, dst)) if !(cell(src).is_empty() && cell(dst).is_empty()) => {
                Lane::Interfaces([interface(src)?, interface(dst)?])
            }
            _ => Lane::Any,
        };
        Ok(ListedFlow { src, dst, bytes, start: Time::ZERO + start, class, dscp, ports, lane })
    }
}
