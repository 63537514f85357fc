//! The grammar of a quantity in text: a decimal number, optional white space, a unit.
//!
//! Numbers are parsed exactly (`"0.25 ns"` is 250 ps): the digits are scaled as integers, and a
//! value that is not a whole number of the smallest unit is rounded down.

use std::fmt;

use thiserror::Error;

/// Why a text is not a valid quantity.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not {expected}: {why}")]
pub struct QuantityError {
    /// The given text.
    pub text: String,
    /// The expected format, with an example.
    pub expected: &'static str,
    /// The problem.
    pub why: String,
}

/// Parses `text` as a number times one of `units`.
pub(crate) fn parse_scaled(
    text: &str,
    expected: &'static str,
    units: &[(&str, u64)],
) -> Result<u64, QuantityError> {
    let error = |why: String| QuantityError { text: text.to_owned(), expected, why };
    let trimmed = text.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    // The Greek letter looks like the sign for micro.
    let unit = trimmed[split..].trim().replace('\u{3bc}', "µ");
    let number = &trimmed[..split];
    if trimmed.starts_with('-') {
        return Err(error("it is negative".into()));
    }
    if number.is_empty() {
        return Err(error("it does not start with a number".into()));
    }
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if unit.is_empty() {
        return Err(error(format!("the unit is missing (one of {})", names())));
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        if let Some(advice) = without_exponent(number, &unit) {
            return Err(error(advice));
        }
        return Err(error(match intended(&unit, units) {
            Some(name) => {
                format!("unknown unit `{unit}`, did you mean `{name}`? Expected one of {}", names())
            }
            None => format!("unknown unit `{unit}`, expected one of {}", names()),
        }));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.chars().filter(|c| *c != '_').collect::<String>();
    let (whole, mut fraction) = (digits(whole), digits(fraction));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(error(format!("`{number}` is not a number")));
    }
    fraction.truncate(18);
    let too_large = || error("it is too large".into());
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let mut value = whole.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let denominator = 10_u128.pow(fraction.len() as u32);
        let numerator: u128 = fraction.parse().map_err(|_| too_large())?;
        value = value.checked_add(numerator * u128::from(scale) / denominator).ok_or_else(too_large)?;
    }
    u64::try_from(value).map_err(|_| too_large())
}

/// How to write a number whose exponent was read as the start of its unit; `None` if it has none.
fn without_exponent(number: &str, unit: &str) -> Option<String> {
    let digits = unit.strip_prefix(['e', 'E'])?;
    let power = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let rest = power.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == power.len() {
        return None;
    }
    let exponent = &unit[..unit.len() - rest.len()];
    let value =
        format!("{number}{exponent}").parse::<f64>().ok().filter(|value| (1e-6..1e15).contains(value));
    Some(match value {
        Some(value) => format!("write the number without an exponent: \"{value} {}\"", rest.trim()),
        None => "write the number without an exponent; it is too large or too small".to_owned(),
    })
}

/// The unit that is probably meant: one that differs in case only, or one with some letters more, unless these would
/// have different values. `B` is never taken for `b`: bytes are not bits.
fn intended<'a>(unit: &str, units: &[(&'a str, u64)]) -> Option<&'a str> {
    let plain = unit.to_lowercase();
    let keeps_bytes = |name: &str| !unit.contains('B') || name.contains('B');
    let has_letters = |name: &str| {
        let (name, mut wanted) = (name.to_lowercase(), plain.chars().peekable());
        for letter in name.chars() {
            wanted.next_if_eq(&letter);
        }
        wanted.peek().is_none()
    };
    let known = || units.iter().filter(|(name, _)| keeps_bytes(name));
    if let Some((name, _)) = known().find(|(name, _)| name.to_lowercase() == plain) {
        return Some(name);
    }
    let mut longer = known().filter(|(name, _)| has_letters(name));
    let (name, scale) = longer.next()?;
    longer.all(|(_, other)| other == scale).then_some(name)
}

/// Writes `value` in the largest of `units`, in ascending order, that is not larger than it.
pub(crate) fn show(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = units.iter().rfind(|(_, scale)| *scale <= value);
    let (unit, scale) = fits.or(units.first()).copied().unwrap_or_default();
    write!(f, "{} {unit}", value as f64 / scale as f64)
}

/// Parsing of a quantity from its text form, and serde in this form.
macro_rules! text_form {
    ($name:ty, $units:expr, $expected:literal) => {
        impl std::str::FromStr for $name {
            type Err = $crate::quantity::QuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::quantity::parse_scaled(text, $expected, $units).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}
pub(crate) use text_form;

#[cfg(test)]
mod tests {
    use crate::{Bytes, Duration, Rate};

    fn why<T: std::str::FromStr<Err = super::QuantityError> + std::fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err().why
    }

    #[test]
    fn a_unit_of_other_spelling_finds_the_one_that_is_meant() {
        for (text, unit) in [("1 Gbit", "Gbit/s"), ("1 gbps", "Gbps"), ("1 Gb", "Gbps"), ("1 Gbs", "Gbps")] {
            let why = why::<Rate>(text);
            assert!(why.contains(&format!("did you mean `{unit}`? Expected one of bps, bit/s")), "{why}");
        }
        assert!(why::<Bytes>("1 Mb").contains("did you mean `MB`?"));
        assert!(why::<Duration>("1 MS").contains("did you mean `ms`?"));
        // Bytes are not bits, and `m` may mean milliseconds or minutes.
        for why in
            [why::<Rate>("1 GB"), why::<Rate>("1 s"), why::<Duration>("1 m"), why::<Duration>("1 parsec")]
        {
            assert!(why.starts_with("unknown unit `") && !why.contains("did you mean"), "{why}");
        }
    }

    #[test]
    fn an_exponent_is_named() {
        assert_eq!(why::<Rate>("1e3 Gbps"), "write the number without an exponent: \"1000 Gbps\"");
        assert_eq!(why::<Duration>("2.5E-1 s"), "write the number without an exponent: \"0.25 s\"");
        assert_eq!(
            why::<Rate>("1e30 Gbps"),
            "write the number without an exponent; it is too large or too small"
        );
        assert!(why::<Rate>("1 exa").starts_with("unknown unit `exa`"));
    }
}
