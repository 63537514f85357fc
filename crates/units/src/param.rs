//! [`ParamInfo`]: a parameter with name, kind, default, range and meaning; [`ParamValue`]: its value of any kind.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, RangeBounds as _};

use serde::{Deserialize, Serialize};

use crate::{Bytes, Duration, Rate};

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind<Words = &'static [&'static str]> {
    /// One of several words.
    Choice(Words),
    /// A duration with its unit.
    Duration,
    /// A size with its unit.
    Bytes,
    /// A rate with its unit.
    Rate,
    /// An integer.
    Count,
    /// A finite number.
    Number,
    /// True or false.
    Flag,
}

impl<Words> ParamKind<Words> {
    /// The kind with its words in another form.
    pub fn map<T>(self, words: impl FnOnce(Words) -> T) -> ParamKind<T> {
        match self {
            Self::Choice(all) => ParamKind::Choice(words(all)),
            Self::Duration => ParamKind::Duration,
            Self::Bytes => ParamKind::Bytes,
            Self::Rate => ParamKind::Rate,
            Self::Count => ParamKind::Count,
            Self::Number => ParamKind::Number,
            Self::Flag => ParamKind::Flag,
        }
    }
}

/// A parameter's value.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue<Text = String> {
    /// An integer.
    Count(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A duration.
    Duration(Duration),
    /// A size.
    Bytes(Bytes),
    /// A rate.
    Rate(Rate),
    /// One of several words.
    Text(Text),
    /// Not given, and computed from other values.
    Computed,
}

/// The values given, by name; all other parameters have their defaults.
pub type Given = BTreeMap<String, ParamValue>;

/// One parameter.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ParamInfo {
    /// Its name: the key in a file.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// Its default.
    pub default: ParamValue<&'static str>,
    /// Its valid values.
    pub range: Range,
    /// The unit of an integer, for messages; may be empty.
    pub unit: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// Other values in public code, with their sources; empty if none is known.
    pub elsewhere: &'static str,
}

/// The valid values of a parameter.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Range {
    /// From the least to the largest, as integers of the smallest unit.
    Whole(u64, u64),
    /// Numbers between these.
    Real(Bound<f64>, Bound<f64>),
}

impl Range {
    /// That of a parameter without one: every value, but not a count of 0.
    pub const fn of(kind: ParamKind) -> Self {
        Self::Whole(matches!(kind, ParamKind::Count) as u64, u64::MAX)
    }

    /// Numbers between two bounds.
    pub const fn real((least, most): (Bound<f64>, Bound<f64>)) -> Self {
        Self::Real(least, most)
    }
}

impl ParamInfo {
    /// The valid values as text; `None` if every value of its kind is valid.
    pub fn valid(&self) -> Option<String> {
        let shown = |bound| match self.kind {
            ParamKind::Duration => Duration::from_ps(bound).to_string(),
            ParamKind::Bytes => Bytes(bound).to_string(),
            ParamKind::Rate => Rate::from_bps(bound).to_string(),
            _ => bound.to_string(),
        };
        let text = match self.range {
            Range::Whole(0, u64::MAX) => return None,
            Range::Whole(least, u64::MAX) => format!("at least {}", shown(least)),
            Range::Whole(least, most) if most - least == 1 => format!("{least} or {most}"),
            Range::Whole(least, most) => format!("{} to {}", shown(least), shown(most)),
            Range::Real(Bound::Included(least), Bound::Included(most)) => format!("{least} to {most}"),
            Range::Real(Bound::Excluded(least), Bound::Included(most)) => {
                format!("more than {least}, at most {most}")
            }
            Range::Real(Bound::Excluded(least), Bound::Excluded(most)) => {
                format!("more than {least}, less than {most}")
            }
            Range::Real(Bound::Excluded(least), _) => format!("more than {least}"),
            Range::Real(..) => return None,
        };
        Some(format!("{text} {}", self.unit).trim_end().to_owned())
    }

    /// The valid values, if `value` is none of them.
    pub fn refusal(&self, value: &ParamValue) -> Option<String> {
        let is_valid = match (self.range, value) {
            (Range::Whole(least, most), _) => (least..=most).contains(&value.number()?),
            (Range::Real(least, most), ParamValue::Number(number)) => {
                number.is_finite() && (least, most).contains(number)
            }
            (Range::Real(..), _) => true,
        };
        if is_valid { None } else { self.valid() }
    }
}

impl ParamValue {
    /// The value as an integer of its smallest unit.
    fn number(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            Self::Duration(time) => Some(time.ps()),
            Self::Bytes(bytes) => Some(bytes.0),
            Self::Rate(rate) => Some(rate.bps()),
            Self::Number(_) | Self::Flag(_) | Self::Text(_) | Self::Computed => None,
        }
    }
}

impl<Text> ParamValue<Text> {
    /// The value with its text in another form.
    pub fn map<T>(self, text: impl FnOnce(Text) -> T) -> ParamValue<T> {
        match self {
            Self::Count(count) => ParamValue::Count(count),
            Self::Number(number) => ParamValue::Number(number),
            Self::Flag(flag) => ParamValue::Flag(flag),
            Self::Duration(time) => ParamValue::Duration(time),
            Self::Bytes(bytes) => ParamValue::Bytes(bytes),
            Self::Rate(rate) => ParamValue::Rate(rate),
            Self::Text(word) => ParamValue::Text(text(word)),
            Self::Computed => ParamValue::Computed,
        }
    }
}

impl From<ParamValue<&str>> for ParamValue {
    fn from(value: ParamValue<&str>) -> Self {
        value.map(str::to_owned)
    }
}

/// As in a file, without quotes. A size that is no round number is in bytes.
impl<Text: fmt::Display> fmt::Display for ParamValue<Text> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Duration(time) => time.fmt(f),
            Self::Bytes(bytes) if bytes.to_string().contains('.') => write!(f, "{} B", bytes.0),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Computed => f.write_str("computed"),
        }
    }
}

/// A type of parameters.
pub trait Param: Sized {
    /// Its kind.
    const KIND: ParamKind;

    /// The value, if it is of this type.
    fn of(value: &ParamValue) -> Option<Self>;

    /// The value of any type.
    fn value(&self) -> ParamValue;
}

macro_rules! kinds {
    ($($kind:ident $type:ty;)*) => {
        $(impl Param for $type {
            const KIND: ParamKind = ParamKind::$kind;

            fn of(value: &ParamValue) -> Option<Self> {
                match value {
                    ParamValue::$kind(value) => Some(*value),
                    _ => None,
                }
            }

            fn value(&self) -> ParamValue {
                ParamValue::$kind(*self)
            }
        })*
    };
}

kinds! { Duration Duration; Bytes Bytes; Rate Rate; Count u64; Number f64; Flag bool; }

/// `None` is computed from other values.
impl<T: Param> Param for Option<T> {
    const KIND: ParamKind = T::KIND;

    fn of(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Computed => Some(None),
            given => T::of(given).map(Some),
        }
    }

    fn value(&self) -> ParamValue {
        self.as_ref().map_or(ParamValue::Computed, T::value)
    }
}

macro_rules! count {
    ($($kind:ident)*) => {
        $(impl Param for $kind {
            const KIND: ParamKind = ParamKind::Count;

            /// Larger values, which ranges exclude, are the largest.
            fn of(value: &ParamValue) -> Option<Self> {
                match value {
                    ParamValue::Count(count) => Some((*count).try_into().unwrap_or(Self::MAX)),
                    _ => None,
                }
            }

            fn value(&self) -> ParamValue {
                ParamValue::Count(*self as u64)
            }
        })*
    };
}

count!(u8 u16 u32 usize);
