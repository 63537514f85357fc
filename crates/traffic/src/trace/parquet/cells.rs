//! [`Holds`]: the type of a Parquet file's column, and its values as the text that a CSV file would have.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};

/// The use of a column's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A host or a class.
    Name,
    /// A whole number, or a size with its unit as text.
    Count,
    /// A start as a number.
    Time,
    /// A start as text.
    TimeText,
}

/// The values of a column, as far as a trace can use them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers that can have a fraction.
    Real,
    /// Times in this unit.
    Duration(TimeUnit),
}

impl Holds {
    /// The values of a column of this type.
    ///
    /// # Errors
    /// A type that a column of this use cannot have, by name.
    pub fn of(kind: &DataType, used: Use, name: &str) -> Result<Self, String> {
        let holds = Self::classify(kind);
        let (fits, expected) = match (used, holds) {
            (Use::Name, Ok(holds)) => (!matches!(holds, Self::Duration(_)), "text"),
            (Use::Name, Err(_)) => (false, "text"),
            (Use::Count, holds) => (holds.is_ok_and(|holds| !matches!(holds, Self::Duration(_))), "numbers"),
            (Use::Time, holds) => (holds.is_ok(), "numbers or durations"),
            (Use::TimeText, holds) => (holds.is_ok(), "text with a unit, or durations"),
        };
        match holds {
            Ok(holds) if fits => Ok(holds),
            Ok(_) => Err(format!("column `{name}` holds durations; expected {expected}")),
            Err(what) => Err(format!("column `{name}` holds {what}; expected {expected}")),
        }
    }

    fn classify(kind: &DataType) -> Result<Self, &'static str> {
        match kind {
            // Old writers do not say that bytes are text.
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::Null => Ok(Self::Text),
            kind if kind.is_integer() => Ok(Self::Whole),
            kind if kind.is_floating() || is_decimal(kind) => Ok(Self::Real),
            DataType::Duration(unit) => Ok(Self::Duration(*unit)),
            DataType::Dictionary(_, values) => Self::classify(values),
            DataType::Boolean => Err("booleans"),
            DataType::Timestamp(..) => Err("timestamps"),
            DataType::Date32 | DataType::Date64 => Err("dates"),
            DataType::Time32(_) | DataType::Time64(_) => Err("times of day"),
            DataType::Interval(_) => Err("intervals of months, days and milliseconds"),
            DataType::Struct(_) => Err("structs"),
            DataType::Map(..) => Err("maps"),
            kind if kind.is_nested() => Err("lists"),
            _ => Err("binary values"),
        }
    }

    /// The cells of a column as text; whole numbers have no fraction, durations have their unit.
    pub fn text(self, column: &ArrayRef) -> Option<StringArray> {
        match self {
            Self::Text | Self::Whole => Some(cast(column, &DataType::Utf8).ok()?.as_string().clone()),
            Self::Real if is_decimal(column.data_type()) => {
                let text = cast(column, &DataType::Utf8).ok()?;
                let short = |text: &str| match text.contains('.') {
                    true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                    false => text.to_owned(),
                };
                Some(text.as_string::<i32>().iter().map(|text| text.map(short)).collect())
            }
            // A text is the shortest that a number of the same width has.
            Self::Real if *column.data_type() == DataType::Float32 => {
                let numbers = column.as_primitive::<arrow_array::types::Float32Type>();
                Some(numbers.iter().map(|number| number.map(|number| number.to_string())).collect())
            }
            Self::Real => {
                let numbers = cast(column, &DataType::Float64).ok()?;
                let numbers = numbers.as_primitive::<Float64Type>().iter();
                Some(numbers.map(|number| number.map(|number| number.to_string())).collect())
            }
            Self::Duration(unit) => {
                let counts = cast(column, &DataType::Int64).ok()?;
                let unit = match unit {
                    TimeUnit::Second => "s",
                    TimeUnit::Millisecond => "ms",
                    TimeUnit::Microsecond => "us",
                    TimeUnit::Nanosecond => "ns",
                };
                let counts = counts.as_primitive::<Int64Type>().iter();
                Some(counts.map(|count| count.map(|count| format!("{count} {unit}"))).collect())
            }
        }
    }
}

const fn is_decimal(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..)
    )
}
