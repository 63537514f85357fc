//! Parameters by name, each declared once: [`params!`](crate::params) makes of one table a structure with defaults, the
//! reader of given values, and the list that schema, documentation, messages and exports show. [`words!`](crate::words)
//! makes the type of a parameter that is one of several words.

use std::collections::BTreeMap;
use std::fmt;

#[doc(hidden)]
pub use serde;
use serde::{Deserialize, Serialize};

use crate::{Bytes, Duration};

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// One of several words.
    Choice(&'static [&'static str]),
    /// A duration with its unit.
    Duration,
    /// A size with its unit.
    Bytes,
    /// A positive integer.
    Count,
}

/// A parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue<Text = String> {
    /// An integer.
    Count(u64),
    /// A duration.
    Duration(Duration),
    /// A size.
    Bytes(Bytes),
    /// One of several words.
    Text(Text),
}

/// The values given, by name; all other parameters have their defaults.
pub type Given = BTreeMap<String, ParamValue>;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Its name: the key in a file.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// Its default.
    pub default: ParamValue<&'static str>,
    /// The least and the largest value, as an integer of the smallest unit.
    pub range: (u64, u64),
    /// What it means.
    pub doc: &'static str,
    /// Other values in public code, with their sources; empty if none is known.
    pub elsewhere: &'static str,
}

impl ParamInfo {
    /// The range of a parameter that may have any value.
    pub const ANY: (u64, u64) = (0, u64::MAX);

    /// The values that are expected, if `value` is out of range.
    pub fn expected(&self, value: &ParamValue) -> Option<String> {
        let (least, most) = self.range;
        if (least..=most).contains(&value.number()?) {
            return None;
        }
        let shown = |bound| match self.kind {
            ParamKind::Duration => Duration::from_ps(bound).to_string(),
            ParamKind::Bytes => Bytes(bound).to_string(),
            _ => bound.to_string(),
        };
        Some(match most {
            u64::MAX => format!("expected at least {}", shown(least)),
            _ => format!("expected {} to {}", shown(least), shown(most)),
        })
    }
}

impl ParamValue {
    /// The value as an integer of its smallest unit.
    fn number(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            Self::Duration(time) => Some(time.ps()),
            Self::Bytes(bytes) => Some(bytes.0),
            Self::Text(_) => None,
        }
    }
}

impl From<ParamValue<&str>> for ParamValue {
    fn from(value: ParamValue<&str>) -> Self {
        match value {
            ParamValue::Count(count) => Self::Count(count),
            ParamValue::Duration(time) => Self::Duration(time),
            ParamValue::Bytes(bytes) => Self::Bytes(bytes),
            ParamValue::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

/// As in a file, without quotes. A size that is no round number is in bytes.
impl<Text: fmt::Display> fmt::Display for ParamValue<Text> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Duration(time) => time.fmt(f),
            Self::Bytes(bytes) if bytes.to_string().contains('.') => write!(f, "{} B", bytes.0),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// A type of parameters.
pub trait Param: Sized {
    /// The value, if it is of this type.
    fn of(value: &ParamValue) -> Option<Self>;
}

macro_rules! quantity {
    ($($kind:ident)*) => {
        $(impl Param for $kind {
            fn of(value: &ParamValue) -> Option<Self> {
                match value {
                    ParamValue::$kind(value) => Some(*value),
                    _ => None,
                }
            }
        })*
    };
}

quantity!(Duration Bytes);

macro_rules! count {
    ($($kind:ident)*) => {
        $(impl Param for $kind {
            /// Larger values, which ranges exclude, are the largest.
            fn of(value: &ParamValue) -> Option<Self> {
                match value {
                    ParamValue::Count(count) => Some((*count).try_into().unwrap_or(Self::MAX)),
                    _ => None,
                }
            }
        })*
    };
}

count!(u8 u16 u32 u64 usize);

/// Declares a structure of parameters. A field has its documentation, which users see, its default, and perhaps its range
/// and the values of public code; its name is the key unless another stands behind `as`. Tables named behind `..` are parts with parameters of their own;
/// the fields of `fixed` are none of the parameters.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $kind:ident $(as $name:literal)? = $default:expr
                $(, in $range:expr)?
                $(, elsewhere $elsewhere:literal)?;
            )+
            $(..$part:ident: $Part:ident;)*
        }
        $(fixed {
            $($(#[$fixed_meta:meta])+ $fixed:ident: $Fixed:ty = $value:expr;)+
        })?
    ) => {
        $(#[$meta])*
        $vis struct $Name {
            $($(#[doc = $doc])+ $vis $key: $kind,)+
            $(/// A part with parameters of its own.
            $vis $part: $Part,)*
            $($($(#[$fixed_meta])+ $vis $fixed: $Fixed,)+)?
        }

        impl $Name {
            /// The parameters.
            $vis const PARAMS: &'static [$crate::ParamInfo] = {
                const OWN: &[$crate::ParamInfo] = &[$($crate::ParamInfo {
                    name: $crate::param!(@name $key $(, $name)?),
                    kind: $crate::param!(@kind $kind),
                    default: $crate::param!(@value $kind, $default),
                    range: $crate::param!(@range $kind $(, $range)?),
                    doc: concat!($($doc),+).trim_ascii(),
                    elsewhere: concat!($($elsewhere)?),
                }),+];
                &$crate::param::joined::<{ OWN.len() $(+ $Part::PARAMS.len())* }>(&[OWN $(, $Part::PARAMS)*])
            };

            /// The values given, and the defaults of the others.
            $vis fn of(given: &$crate::Given) -> Self {
                Self {
                    $($key: match given.get($crate::param!(@name $key $(, $name)?)).and_then($crate::Param::of) {
                        Some(value) => value,
                        None => $default,
                    },)+
                    $($part: $Part::of(given),)*
                    $($($fixed: $value,)+)?
                }
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                Self::of(&$crate::Given::new())
            }
        }
    };
}

/// What [`params!`](crate::params) needs of a field's type.
#[doc(hidden)]
#[macro_export]
macro_rules! param {
    (@name $key:ident) => {
        stringify!($key)
    };
    (@name $key:ident, $name:literal) => {
        $name
    };
    (@kind Duration) => {
        $crate::ParamKind::Duration
    };
    (@kind Bytes) => {
        $crate::ParamKind::Bytes
    };
    (@kind u8) => {
        $crate::ParamKind::Count
    };
    (@kind u16) => {
        $crate::ParamKind::Count
    };
    (@kind u32) => {
        $crate::ParamKind::Count
    };
    (@kind u64) => {
        $crate::ParamKind::Count
    };
    (@kind usize) => {
        $crate::ParamKind::Count
    };
    (@kind $Words:ident) => {
        $crate::ParamKind::Choice($Words::WORDS)
    };
    (@value Duration, $value:expr) => {
        $crate::ParamValue::Duration($value)
    };
    (@value Bytes, $value:expr) => {
        $crate::ParamValue::Bytes($value)
    };
    (@value u8, $value:expr) => {
        $crate::ParamValue::Count($value as u64)
    };
    (@value u16, $value:expr) => {
        $crate::ParamValue::Count($value as u64)
    };
    (@value u32, $value:expr) => {
        $crate::ParamValue::Count($value as u64)
    };
    (@value u64, $value:expr) => {
        $crate::ParamValue::Count($value)
    };
    (@value usize, $value:expr) => {
        $crate::ParamValue::Count($value as u64)
    };
    (@value $Words:ident, $value:expr) => {
        $crate::ParamValue::Text($Words::word($value))
    };
    (@range $kind:ident) => {
        $crate::ParamInfo::ANY
    };
    (@range Duration, $range:expr) => {
        ($range.start().ps(), $range.end().ps())
    };
    (@range Bytes, $range:expr) => {
        ($range.start().0, $range.end().0)
    };
    (@range u64, $range:expr) => {
        (*$range.start(), *$range.end())
    };
    (@range $count:ident, $range:expr) => {
        (*$range.start() as u64, *$range.end() as u64)
    };
}

/// Several lists of parameters, one after the other; `N` is the length of all together.
#[doc(hidden)]
pub const fn joined<const N: usize>(lists: &[&[ParamInfo]]) -> [ParamInfo; N] {
    let mut all = [lists[0][0]; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            all[at] = lists[list][place];
            (at, place) = (at + 1, place + 1);
        }
        list += 1;
    }
    all
}

/// Declares the type of a value that is one of several words, read and written as this word.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$word_meta:meta])* $Word:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $Name {
            $($(#[$word_meta])* $Word,)+
        }

        impl $Name {
            /// All words.
            $vis const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$Word => $word,)+
                }
            }
        }

        impl $crate::Param for $Name {
            fn of(value: &$crate::ParamValue) -> Option<Self> {
                match value {
                    $crate::ParamValue::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = String;

            /// The error is the text itself.
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$Word),)+
                    other => Err(other.to_owned()),
                }
            }
        }

        impl $crate::param::serde::Serialize for $Name {
            fn serialize<S: $crate::param::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> $crate::param::serde::Deserialize<'de> for $Name {
            fn deserialize<D: $crate::param::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::param::serde::de::Error;
                let text = <String as $crate::param::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(|text: String| D::Error::unknown_variant(&text, Self::WORDS))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    words! {
        /// Colours.
        enum Colour {
            Red = "red",
            Blue = "light-blue",
        }
    }

    params! {
        /// A part.
        #[derive(Clone, PartialEq, Debug)]
        struct Part {
            /// size of a cell
            cell: Bytes = Bytes(65_536), in Bytes(1)..=Bytes(u64::MAX);
        }
    }

    params! {
        /// All kinds.
        #[derive(Clone, PartialEq, Debug)]
        struct Config {
            /// pause after which a flow
            /// may change its path
            gap: Duration = Duration::from_us(500), in Duration::from_us(1)..=Duration::from_ms(2), elsewhere "ns-3 50 us";
            /// entries
            entries: u16 as "table" = 512, in 1..=1_000;
            /// colour
            colour: Colour = Colour::Blue;
            ..part: Part;
        }
        fixed {
            /// Not a parameter.
            hops: u8 = 64;
        }
    }

    #[test]
    fn a_table_has_the_texts_and_the_values_of_its_parameters() {
        let shown: Vec<_> =
            Config::PARAMS.iter().map(|param| (param.name, param.default.to_string(), param.doc)).collect();
        let gap = "pause after which a flow may change its path";
        let expected = [
            ("gap", "500 us", gap),
            ("table", "512", "entries"),
            ("colour", "light-blue", "colour"),
            ("cell", "65536 B", "size of a cell"),
        ];
        assert_eq!(shown, expected.map(|(name, default, doc)| (name, default.to_owned(), doc)));
        assert_eq!(Config::PARAMS[0].elsewhere, "ns-3 50 us");
        assert_eq!(Config::PARAMS[2].kind, ParamKind::Choice(&["red", "light-blue"]));
    }

    #[test]
    fn values_given_take_the_place_of_defaults() {
        let all = Config::PARAMS.iter().map(|param| (param.name.to_owned(), param.default.into()));
        assert_eq!(Config::of(&all.collect()), Config::default());
        let given = [
            ("gap", ParamValue::Duration(Duration::from_us(7))),
            ("table", ParamValue::Count(70_000)),
            ("colour", ParamValue::Text("red".to_owned())),
            ("cell", ParamValue::Count(1)),
        ];
        let config = Config::of(&given.map(|(name, value)| (name.to_owned(), value)).into());
        let expected =
            Config { gap: Duration::from_us(7), entries: u16::MAX, colour: Colour::Red, ..Config::default() };
        assert_eq!(config, expected, "and a value of another type does not");
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_the_range() {
        let [gap, table, _, cell] = Config::PARAMS else { panic!("four parameters") };
        assert_eq!(gap.expected(&ParamValue::Duration(Duration::from_us(1))), None);
        let late = ParamValue::Duration(Duration::from_ms(3));
        assert_eq!(gap.expected(&late).as_deref(), Some("expected 1 us to 2 ms"));
        assert_eq!(table.expected(&ParamValue::Count(0)).as_deref(), Some("expected 1 to 1000"));
        assert_eq!(cell.expected(&ParamValue::Bytes(Bytes(0))).as_deref(), Some("expected at least 1 B"));
    }
}
