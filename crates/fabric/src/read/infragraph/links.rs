//! [`Link`]: the rate and delay of a link of a file.

use weft_units::{Duration, Rate};

use super::super::notes::Notes;
use super::table::{Fault, Table};
use crate::bounds::{MAX_DELAY, MAX_RATE};
use crate::visible;

/// A kind of link of a device or of the infrastructure.
#[derive(Debug)]
pub(super) struct Link<'y> {
    pub name: &'y str,
    pub rate: Option<Rate>,
    pub delay: Option<Duration>,
    /// Whether its bandwidth is in transfers per second, as that of PCI Express: no rate without the lanes.
    pub is_in_transfers: bool,
}

/// The units of a bandwidth and the bits per second of each; transfers have none.
const BANDWIDTHS: [(&str, &str, Option<f64>); 3] = [
    ("gigabits_per_second", "`gigabits_per_second`", Some(1e9)),
    ("gigabytes_per_second", "`gigabytes_per_second`", Some(8e9)),
    ("gigatransfers_per_second", "`gigatransfers_per_second`", None),
];

/// The units of a latency and the picoseconds of each.
const LATENCIES: [(&str, &str, f64); 3] = [("ms", "`ms`", 1e9), ("us", "`us`", 1e6), ("ns", "`ns`", 1e3)];

impl<'y> Link<'y> {
    /// Reads a link.
    pub fn read(table: &Table<'y>, name: &'y str, notes: &mut Notes) -> Result<Self, Fault> {
        table.only(&["name", "description", "physical"], "links", notes)?;
        let mut link = Self { name, rate: None, delay: None, is_in_transfers: false };
        let Some(physical) = table.table("physical")? else { return Ok(link) };
        physical.only(&["bandwidth", "latency"], "links", notes)?;
        if let Some(bandwidth) = physical.table("bandwidth")? {
            let (key, missing, bits) = unit(&bandwidth, &BANDWIDTHS.map(|(key, ..)| key))?
                .map_or(BANDWIDTHS[0], |unit| BANDWIDTHS[unit]);
            link.is_in_transfers = bits.is_none();
            // Transfers give no rate, but are checked.
            let bps =
                bandwidth.number((key, missing, bits.unwrap_or(0.0)), MAX_RATE.bps() as f64, MAX_RATE)?;
            link.rate = bits.map(|_| Rate::from_bps(bps));
        }
        if let Some(latency) = physical.table("latency")? {
            let (key, missing, ps) =
                unit(&latency, &LATENCIES.map(|(key, ..)| key))?.map_or(LATENCIES[0], |unit| LATENCIES[unit]);
            let ps = latency.number((key, missing, ps), MAX_DELAY.ps() as f64, MAX_DELAY)?;
            link.delay = Some(Duration::from_ps(ps));
        }
        Ok(link)
    }
}

/// The position among `units` of the one that a table chooses, or of the only one it gives.
fn unit(table: &Table<'_>, units: &[&'static str]) -> Result<Option<usize>, Fault> {
    match table.text("choice")? {
        Some(choice) => {
            let found = units.iter().position(|unit| *unit == choice.text);
            let why = || format!("`{}` is none of {}", visible(choice.text), units.join(", "));
            found.map(Some).ok_or_else(|| table.invalid("choice", choice.byte, why()))
        }
        None => Ok(units.iter().position(|unit| table.get(unit).is_some())),
    }
}
