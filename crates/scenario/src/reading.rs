//! [`Read`]: a value that can be read from a node: a word, a number, or a quantity with its unit.

use weft_fabric::{HostQueue, Limit, MarkAt, Overhead, Scheduler};
use weft_traffic::{
    Algorithm, Arrivals, InterfaceRule, Lengths, LoadOf, Named, Placement, Precision, Protocol, Relay, Reuse,
};
use weft_units::{Bytes, Duration, QuantityError, Rate};

use crate::tree::{Node, Value};

/// A value that can be read from a node.
pub(crate) trait Read: Sized {
    /// Description for messages.
    const WHAT: &'static str;

    /// The words, if only these are valid.
    const CHOICES: &'static [&'static str] = &[];

    /// The value; the error adds to the fact that it is not [`WHAT`](Self::WHAT).
    fn read(node: &Node) -> Result<Self, String>;
}

impl Read for String {
    const WHAT: &'static str = "a string";
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err("put it in quotes".into()),
        }
    }
}

impl Read for bool {
    const WHAT: &'static str = "true or false";
    fn read(node: &Node) -> Result<Self, String> {
        match node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err("expected true or false, without quotes".into()),
        }
    }
}

/// Why a text is no number: how to write the one that it contains, if any.
fn plain_number(text: &str) -> String {
    let share = |text: &str| text.trim().strip_suffix('%')?.trim().parse::<f64>().ok();
    let digits = text.trim().trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    match (text.trim().parse::<f64>(), share(text)) {
        (Ok(number), _) if number.is_finite() => format!("write it without quotes: {}", text.trim()),
        (_, Some(percent)) if percent.is_finite() => {
            format!("write it as a fraction, without quotes: {}", (percent * 1e10).round() / 1e12)
        }
        _ if digits.parse::<f64>().is_ok() => format!("write it without quotes and without a unit: {digits}"),
        _ => "expected a number, not a string".to_owned(),
    }
}

impl Read for u64 {
    const WHAT: &'static str = "a whole number";
    fn read(node: &Node) -> Result<Self, String> {
        match node.value {
            Value::Integer(number) => number.try_into().map_err(|_| "it is negative".into()),
            Value::Text(ref text) => Err(plain_number(text)),
            Value::Float(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => {
                Err(format!("write it without a fraction and an exponent: {number}"))
            }
            _ => Err("expected a whole number".into()),
        }
    }
}

impl Read for u32 {
    const WHAT: &'static str = "a whole number";
    fn read(node: &Node) -> Result<Self, String> {
        let most = format!("expected at most {}", Self::MAX);
        match node.value {
            Value::Float(number) if number.fract() == 0.0 && number > Self::MAX.into() => {
                Err(format!("{most}, without a fraction and an exponent"))
            }
            _ => u64::read(node)?.try_into().map_err(|_| most),
        }
    }
}

impl Read for f64 {
    const WHAT: &'static str = "a number";
    fn read(node: &Node) -> Result<Self, String> {
        match node.value {
            Value::Integer(number) => Ok(number as Self),
            Value::Float(number) if number.is_finite() => Ok(number),
            Value::Text(ref text) => Err(plain_number(text)),
            _ => Err("expected a finite number".into()),
        }
    }
}

/// Reads a quantity: a string with a unit, such as `unit`.
fn quantity<T: std::str::FromStr<Err = QuantityError>>(node: &Node, unit: &str) -> Result<T, String> {
    match &node.value {
        Value::Text(text) => text.parse().map_err(|error: QuantityError| error.why),
        Value::Integer(number) => {
            Err(format!("the unit is missing: write it as a string, such as \"{number} {unit}\""))
        }
        Value::Float(number) => {
            Err(format!("the unit is missing: write it as a string, such as \"{number} {unit}\""))
        }
        _ => Err("expected a string with a unit".into()),
    }
}

macro_rules! read_quantity {
    ($name:ty, $unit:literal, $what:literal) => {
        impl Read for $name {
            const WHAT: &'static str = $what;
            fn read(node: &Node) -> Result<Self, String> {
                quantity(node, $unit)
            }
        }
    };
}

read_quantity!(Duration, "ms", "a time such as \"25 us\" or \"1.5 s\"");
read_quantity!(Rate, "Gbps", "a rate such as \"10 Gbps\" or \"100 Mbps\"");
read_quantity!(Bytes, "kB", "a size such as \"1500 B\" or \"10 MB\"");
read_quantity!(Limit, "packets", "a queue size such as \"1000 packets\" or \"150 kB\"");
read_quantity!(
    HostQueue,
    "packets",
    "a queue size such as \"1000 packets\", \"unlimited\" or \"as-switches\""
);

macro_rules! read_words {
    ($($name:ident)*) => {
        $(impl Read for $name {
            const WHAT: &'static str = String::WHAT;
            const CHOICES: &'static [&'static str] = Self::WORDS;
            fn read(node: &Node) -> Result<Self, String> {
                String::read(node)?.parse()
            }
        })*
    };
}

read_words!(Algorithm Arrivals InterfaceRule Lengths LoadOf MarkAt Named Overhead Placement Precision Protocol Relay Reuse Scheduler);
