//! The values of a flow, read from text: host, bytes and start.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use weft_units::{Bytes, Duration, HostId};

use crate::words::short;

/// Finds a host by its name; the error describes the problem with the name.
pub type FindHost<'a> = &'a dyn Fn(&str) -> Result<HostId, String>;

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

/// Whether a number does not fit its type.
pub(super) fn is_too_large(error: &ParseIntError) -> bool {
    *error.kind() == IntErrorKind::PosOverflow
}

/// The error of a whole number that does not fit 64 bits.
pub(super) fn too_large(column: &str, number: &str) -> String {
    above(column, number, u64::MAX)
}

/// The error of a whole number above the largest one.
pub(super) fn above(column: &str, number: &str, most: u64) -> String {
    format!("{column}: `{}` is too large; expected at most {most}", short(number))
}

/// A whole number.
pub(super) fn whole_number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| match is_too_large(&error) {
        true => too_large(name, text),
        false => format!("{name}: `{}` is not a whole number", short(text)),
    })
}

/// A number of bytes, possibly with a unit.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(bytes) => Ok(bytes),
        Err(error) if is_too_large(&error) => Err(too_large("bytes", text)),
        Err(_) => whole(text).map_or_else(|| Ok(quantity::<Bytes>("bytes", text)?.0), Ok),
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
pub(super) fn host(name: &str, find: FindHost<'_>) -> Result<HostId, String> {
    find(name).map_err(|why| find(&short(name)).err().unwrap_or(why))
}

/// A quantity with a unit.
fn quantity<T: FromStr<Err: Display>>(column: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| {
        let error = short(text).parse::<T>().err().unwrap_or(error);
        format!("{column}: {error}")
    })
}

/// The start of a flow.
pub(super) fn start(name: &str, text: &str, kind: Start) -> Result<Duration, String> {
    match kind {
        Start::Text => quantity(name, text),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_quantity_is_cut_in_messages() {
        let error = quantity::<Bytes>("bytes", &format!("5 {}", "x".repeat(5_000))).unwrap_err();
        assert!(error.len() < 250, "{error}");
    }
}
