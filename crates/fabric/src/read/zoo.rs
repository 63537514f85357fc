//! The speeds of the Topology Zoo's links: `LinkSpeedRaw` in bit/s, or `LinkSpeed` in `LinkSpeedUnits`.

use weft_units::Rate;

use super::ErrorKind;
use super::attributes::parse;
use super::notes::Notes;

/// The attributes of a link's speed.
pub(super) const SPEED: [&str; 3] = [RAW, NUMBER, UNITS];

const RAW: &str = "LinkSpeedRaw";
const NUMBER: &str = "LinkSpeed";
const UNITS: &str = "LinkSpeedUnits";

/// The rate of a link, if it has a speed.
///
/// # Errors
/// A speed that is not a number, or whose unit is missing or unknown.
pub(super) fn speed<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Rate>, ErrorKind> {
    if get(RAW).is_some() {
        return parse(RAW, get(RAW), |bps| in_unit(bps, "bps"));
    }
    let unit = get(UNITS).unwrap_or_default().trim();
    parse(NUMBER, get(NUMBER), |number| match unit {
        "K" | "k" => in_unit(number, "kbps"),
        "M" => in_unit(number, "Mbps"),
        "G" => in_unit(number, "Gbps"),
        "T" => in_unit(number, "Tbps"),
        _ => Err(format!("`{UNITS}` is `{unit}`; expected K, M, G or T")),
    })
}

/// Notes that only `with` of `links` have a speed.
pub(super) fn note_missing(with: usize, links: usize, notes: &mut Notes) {
    if (1..links).contains(&with) {
        notes.add(format!(
            "{with} of {links} links have a speed (`{RAW}` or `{NUMBER}`); the others without `rate` get the default rate"
        ));
    }
}

/// A number may have an exponent, as programs write large ones: `1.0E10`.
fn in_unit(number: &str, unit: &str) -> Result<Rate, String> {
    let has_exponent = number.contains(['e', 'E']);
    let plain = number.parse::<f64>().ok().filter(|value| has_exponent && value.is_finite());
    let number = plain.map_or_else(|| number.to_owned(), |value| value.to_string());
    format!("{number} {unit}").parse().map_err(|error: weft_units::QuantityError| error.to_string())
}
