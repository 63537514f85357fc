//! Parameters by name, each declared once: [`params!`](crate::params) makes of one table a structure with defaults, the
//! reader of given values, and the list that schema, documentation, messages and exports show.

use crate::{Given, ParamInfo, ParamValue};

/// A structure of parameters, as [`params!`](crate::params) declares it.
pub trait Parameters: Default {
    /// The parameters.
    const PARAMS: &'static [ParamInfo];

    /// Takes over the values that are `given`.
    fn set(&mut self, given: &Given);

    /// All values, in the order of [`PARAMS`](Self::PARAMS).
    fn values(&self) -> Vec<ParamValue>;

    /// All parameters with their values.
    fn parameters(&self) -> Vec<(&'static ParamInfo, ParamValue)> {
        Self::PARAMS.iter().zip(self.values()).collect()
    }
}

/// Declares a structure of parameters. A field has its documentation, which users see, its default, and perhaps its range,
/// the unit of this range and the values of public code; its name is the key unless another stands behind `as`. Tables named
/// behind `..` are parts with parameters of their own; the fields of `fixed` are none of the parameters.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $(..$first:ident: $First:path;)*
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $kind:ident $(<$of:ident>)? $(as $name:literal)? = $default:expr
                $(, in $range:expr)?
                $(, unit $unit:literal)?
                $(, elsewhere $elsewhere:literal)?;
                $(..$part:ident: $Part:path;)*
            )*
        }
        $(fixed {
            $($(#[$fixed_meta:meta])+ $fixed:ident: $Fixed:ty = $value:expr;)+
        })?
    ) => {
        $(#[$meta])*
        $vis struct $Name {
            $(/// A part with parameters of its own.
            $vis $first: $First,)*
            $(
                $(#[doc = $doc])+
                $vis $key: $kind $(<$of>)?,
                $(/// A part with parameters of its own.
                $vis $part: $Part,)*
            )*
            $($($(#[$fixed_meta])+ $vis $fixed: $Fixed,)+)?
        }

        impl $Name {
            /// The parameters.
            $vis const PARAMS: &'static [$crate::ParamInfo] = {
                const LISTS: &[&[$crate::ParamInfo]] = &[$(<$First>::PARAMS,)* $(
                    &[$crate::ParamInfo {
                        name: $crate::param!(@name $key $(, $name)?),
                        kind: <$kind $(<$of>)? as $crate::Param>::KIND,
                        default: $crate::param!(@value $kind, $default),
                        range: $crate::param!(@range $kind $(<$of>)? $(, $range)?),
                        unit: concat!($($unit)?),
                        doc: concat!($($doc),+).trim_ascii(),
                        elsewhere: concat!($($elsewhere)?),
                    }],
                    $(<$Part>::PARAMS,)*
                )*];
                &$crate::params::joined::<{ $crate::params::length(LISTS) }>(LISTS)
            };

            /// The values given, and the defaults of the others.
            $vis fn of(given: &$crate::Given) -> Self {
                let mut all = Self::default();
                $crate::Parameters::set(&mut all, given);
                all
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                Self {
                    $($first: <$First>::default(),)*
                    $($key: $default, $($part: <$Part>::default(),)*)*
                    $($($fixed: $value,)+)?
                }
            }
        }

        impl $crate::Parameters for $Name {
            const PARAMS: &'static [$crate::ParamInfo] = Self::PARAMS;

            fn set(&mut self, given: &$crate::Given) {
                $($crate::Parameters::set(&mut self.$first, given);)*
                $(
                    let value = given.get($crate::param!(@name $key $(, $name)?));
                    if let Some(value) = value.and_then($crate::Param::of) {
                        self.$key = value;
                    }
                    $($crate::Parameters::set(&mut self.$part, given);)*
                )*
            }

            fn values(&self) -> Vec<$crate::ParamValue> {
                let lists = [$($crate::Parameters::values(&self.$first),)* $(
                    vec![$crate::Param::value(&self.$key)],
                    $($crate::Parameters::values(&self.$part),)*
                )*];
                lists.concat()
            }
        }
    };
}

/// The properties of a field's type that [`params!`](crate::params) needs.
#[doc(hidden)]
#[macro_export]
macro_rules! param {
    (@name $key:ident) => {
        stringify!($key)
    };
    (@name $key:ident, $name:literal) => {
        $name
    };
    (@value Duration, $value:expr) => {
        $crate::ParamValue::Duration($value)
    };
    (@value Bytes, $value:expr) => {
        $crate::ParamValue::Bytes($value)
    };
    (@value Rate, $value:expr) => {
        $crate::ParamValue::Rate($value)
    };
    (@value f64, $value:expr) => {
        $crate::ParamValue::Number($value)
    };
    (@value bool, $value:expr) => {
        $crate::ParamValue::Flag($value)
    };
    (@value Option, $value:expr) => {
        $crate::ParamValue::Computed
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
    (@range $kind:ident $(<$of:ident>)?) => {
        $crate::Range::of(<$kind $(<$of>)? as $crate::Param>::KIND)
    };
    (@range Duration, $range:expr) => {
        $crate::Range::Whole($range.start().ps(), $range.end().ps())
    };
    (@range Option<$of:ident>, $range:expr) => {
        $crate::param!(@range $of, $range)
    };
    (@range Bytes, $range:expr) => {
        $crate::Range::Whole($range.start().0, $range.end().0)
    };
    (@range Rate, $range:expr) => {
        $crate::Range::Whole($range.start().bps(), $range.end().bps())
    };
    (@range f64, $range:expr) => {
        $crate::Range::real($range)
    };
    (@range u64, $range:expr) => {
        $crate::Range::Whole(*$range.start(), *$range.end())
    };
    (@range $count:ident, $range:expr) => {
        $crate::Range::Whole(*$range.start() as u64, *$range.end() as u64)
    };
}

/// The length of several lists together.
#[doc(hidden)]
pub const fn length(lists: &[&[ParamInfo]]) -> usize {
    let (mut length, mut list) = (0, 0);
    while list < lists.len() {
        (length, list) = (length + lists[list].len(), list + 1);
    }
    length
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

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use crate::{Bytes, Duration, ParamKind, ParamValue, Parameters as _, words};

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
            entries: u16 as "table" = 512, in 1..=1_000, unit "entries";
            ..part: Part;
            /// colour
            colour: Colour = Colour::Blue;
            /// share
            share: f64 = 0.5, in (Bound::Excluded(0.0), Bound::Included(1.0));
            /// rest
            rest: Option<Duration> = None, in Duration::ZERO..=Duration::from_us(9);
            /// steps
            steps: Option<u32> = None, in 1..=9, unit "steps";
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
            ("cell", "65536 B", "size of a cell"),
            ("colour", "light-blue", "colour"),
            ("share", "0.5", "share"),
            ("rest", "computed", "rest"),
            ("steps", "computed", "steps"),
        ];
        assert_eq!(shown, expected.map(|(name, default, doc)| (name, default.to_owned(), doc)));
        assert_eq!(Config::PARAMS[0].elsewhere, "ns-3 50 us");
        assert!(matches!(Config::PARAMS[3].kind, ParamKind::Choice(["red", "light-blue"])));
        let defaults: Vec<ParamValue> = Config::PARAMS.iter().map(|param| param.default.into()).collect();
        assert_eq!(Config::default().values(), defaults);
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
        let given = [("cell".to_owned(), ParamValue::Bytes(Bytes(7)))].into();
        assert_eq!(
            (Config::of(&given).part, Part::of(&given)),
            (Part { cell: Bytes(7) }, Part { cell: Bytes(7) })
        );
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_the_range() {
        let [gap, table, cell, colour, share, _, steps] = Config::PARAMS else { panic!("seven parameters") };
        assert_eq!(gap.refusal(&ParamValue::Duration(Duration::from_us(1))), None);
        let late = ParamValue::Duration(Duration::from_ms(3));
        assert_eq!(gap.refusal(&late).as_deref(), Some("1 us to 2 ms"));
        assert_eq!(table.refusal(&ParamValue::Count(0)).as_deref(), Some("1 to 1000 entries"));
        assert_eq!(cell.refusal(&ParamValue::Bytes(Bytes(0))).as_deref(), Some("at least 1 B"));
        assert_eq!((colour.valid(), share.refusal(&ParamValue::Number(1.0))), (None, None));
        let none = share.refusal(&ParamValue::Number(0.0));
        assert_eq!(none.as_deref(), Some("more than 0, at most 1"));
        assert_eq!(steps.refusal(&ParamValue::Count(0)).as_deref(), Some("1 to 9 steps"));
        assert_eq!(steps.refusal(&steps.default.into()), None, "computed");
    }
}
