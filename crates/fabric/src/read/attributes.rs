//! The attributes of nodes and links, common to all formats.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use weft_units::{Duration, Rate};

use super::ErrorKind;
use super::error::explain;
use crate::{Limit, LinkSpec, Overhead, QueueSpec, Role};

/// A tier, read as a number or as one of its names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Tier(pub u8);

const TIER: &str = "a tier: a number up to 255, or host, scale-up, tor, edge, leaf, aggregation, core, spine";

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "host" | "scale-up" => Ok(Self(0)),
            "tor" | "edge" | "leaf" => Ok(Self(1)),
            "aggregation" | "aggr" | "fabric" | "pod-spine" => Ok(Self(2)),
            "core" | "spine" => Ok(Self(3)),
            number => number.parse().map(Self).map_err(|_| format!("`{text}` is not {TIER}")),
        }
    }
}

impl<'de> Deserialize<'de> for Tier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Tier;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(TIER)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Tier, E> {
                u8::try_from(number)
                    .map(Tier)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Tier, E> {
                u8::try_from(number)
                    .map(Tier)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Tier, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A node's attributes in a file, except its name.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct NodeAttributes {
    pub role: Option<Role>,
    pub tier: Option<Tier>,
    pub pod: Option<u32>,
}

impl NodeAttributes {
    /// Parses the attributes; `get` returns the text of one.
    pub fn from_text<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, ErrorKind> {
        Ok(Self {
            role: parse("role", get("role"), |text| {
                text.parse().map_err(|text: String| format!("`{text}` is neither host nor switch"))
            })?,
            tier: parse("tier", get("tier"), str::parse)?,
            pod: parse("pod", get("pod"), |text| {
                text.parse().map_err(|_| format!("`{text}` is not a whole number below 2^32"))
            })?,
        })
    }
}

/// The attributes of one direction of a link in a file; the others have defaults.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkAttributes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_threshold: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
}

/// The attribute names of one direction in a file.
pub(crate) struct Names {
    rate: &'static str,
    delay: &'static str,
    overhead: &'static str,
    ecn_threshold: &'static str,
    queue: &'static str,
}

/// Names for the direction from the first end of a link to the second; also the default for the reverse.
pub(crate) const FORTH: Names = Names {
    rate: "rate",
    delay: "delay",
    overhead: "overhead",
    ecn_threshold: "ecn_threshold",
    queue: "queue",
};

/// Names for the direction from the second end of an undirected link to the first.
pub(crate) const BACK: Names = Names {
    rate: "rate_back",
    delay: "delay_back",
    overhead: "overhead_back",
    ecn_threshold: "ecn_threshold_back",
    queue: "queue_back",
};

impl Names {
    /// All names.
    pub fn all(&self) -> [&'static str; 5] {
        [self.rate, self.delay, self.overhead, self.ecn_threshold, self.queue]
    }
}

impl LinkAttributes {
    /// From a function that returns the text of an attribute. A queue with several classes is a JSON object.
    pub fn from_text<'a>(names: &Names, get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, ErrorKind> {
        Ok(Self {
            rate: parse(names.rate, get(names.rate), quantity)?,
            delay: parse(names.delay, get(names.delay), quantity)?,
            overhead: parse(names.overhead, get(names.overhead), |text| {
                text.parse().map_err(|text: String| format!("`{text}` is none of ethernet, ppp, none"))
            })?,
            ecn_threshold: parse(names.ecn_threshold, get(names.ecn_threshold), quantity)?,
            queue: parse(names.queue, get(names.queue), queue)?,
        })
    }

    /// The attributes of `spec` that differ from `defaults`.
    pub fn difference(spec: &LinkSpec, defaults: &LinkSpec) -> Self {
        let (queue, ecn_threshold) = if spec.queue == defaults.queue {
            (None, None)
        } else if spec.queue.is_simple() {
            // The threshold is separate, so that formats without tables can represent it.
            (Some(QueueSpec::fifo(spec.queue.limit)), spec.queue.ecn_threshold)
        } else {
            (Some(spec.queue.clone()), None)
        };
        Self {
            rate: (spec.rate != defaults.rate).then_some(spec.rate),
            delay: (spec.delay != defaults.delay).then_some(spec.delay),
            overhead: (spec.overhead != defaults.overhead).then_some(spec.overhead),
            ecn_threshold,
            queue,
        }
    }

    /// All attributes of `spec`.
    pub fn whole(spec: &LinkSpec) -> Self {
        let queue =
            if spec.queue.is_simple() { QueueSpec::fifo(spec.queue.limit) } else { spec.queue.clone() };
        Self {
            rate: Some(spec.rate),
            delay: Some(spec.delay),
            overhead: Some(spec.overhead),
            ecn_threshold: spec.queue.ecn_threshold.filter(|_| spec.queue.is_simple()),
            queue: Some(queue),
        }
    }

    /// The attributes as text, in the order of [`Names::all`].
    pub fn to_text(&self) -> [Option<String>; 5] {
        let queue = self.queue.as_ref().map(|queue| match serde_json::to_value(queue) {
            Ok(serde_json::Value::String(limit)) => limit,
            table => table.expect("text, numbers and lists have a JSON form").to_string(),
        });
        [
            self.rate.map(|rate| rate.to_string()),
            self.delay.map(|delay| delay.to_string()),
            self.overhead.map(|overhead| overhead.to_string()),
            self.ecn_threshold.map(|threshold| threshold.to_string()),
            queue,
        ]
    }

    /// The link, with `defaults` for missing attributes. A given queue takes no threshold from the defaults.
    pub fn or(self, defaults: &LinkSpec) -> LinkSpec {
        let mut queue = self.queue.unwrap_or_else(|| defaults.queue.clone());
        queue.ecn_threshold = self.ecn_threshold.or(queue.ecn_threshold);
        LinkSpec {
            rate: self.rate.unwrap_or(defaults.rate),
            delay: self.delay.unwrap_or(defaults.delay),
            overhead: self.overhead.unwrap_or(defaults.overhead),
            queue,
        }
    }
}

/// A queue: its limit, or a JSON object.
fn queue(text: &str) -> Result<QueueSpec, String> {
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| explain(&error.to_string()));
    }
    quantity(text)
}

/// A quantity; the error is text.
fn quantity<T: FromStr<Err = weft_units::QuantityError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: weft_units::QuantityError| error.to_string())
}

/// An optional attribute.
pub(super) fn parse<T>(
    key: &'static str,
    text: Option<&str>,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ErrorKind> {
    text.map(|text| read(text.trim())).transpose().map_err(|why| ErrorKind::Value { key, why })
}

/// `true` or `false` as text, or 1 or 0, which GraphML allows too.
pub(super) fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}
