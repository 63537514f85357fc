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
        return Err(error(format!("unknown unit `{unit}`, expected one of {}", names())));
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
