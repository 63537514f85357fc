//! [`Limit`]: the capacity of a queue or a marking threshold, in packets or bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use weft_units::{Bytes, QuantityError};

/// The capacity of a queue, or its marking threshold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// Number of packets of any size.
    Packets(u32),
    /// Number of bytes on the wire.
    Bytes(u64),
    /// None.
    Unlimited,
}

impl Limit {
    /// The text of [`Limit::Unlimited`].
    pub const UNLIMITED: &'static str = "unlimited";

    /// The number of packets or bytes; the largest number if there is no limit.
    pub const fn count(self) -> u64 {
        match self {
            Self::Packets(packets) => packets as u64,
            Self::Bytes(bytes) => bytes,
            Self::Unlimited => u64::MAX,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unlimited => f.write_str(Self::UNLIMITED),
            Self::Packets(1) => f.write_str("1 packet"),
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => {
                let shown = Bytes(bytes).to_string();
                match shown.parse() {
                    Ok(Bytes(read)) if read == bytes => f.write_str(&shown),
                    _ => write!(f, "{bytes} B"),
                }
            }
        }
    }
}

impl FromStr for Limit {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let error = |why: String| QuantityError {
            text: text.to_owned(),
            expected: "a queue size such as \"1000 packets\" or \"150 kB\"",
            why,
        };
        let trimmed = text.trim();
        if trimmed == Self::UNLIMITED {
            return Ok(Self::Unlimited);
        }
        let packets = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"));
        match packets.filter(|number| !number.ends_with(char::is_alphabetic)) {
            Some(number) => match number.trim().parse::<u32>() {
                Ok(packets) => Ok(Self::Packets(packets)),
                Err(_) if number.trim().starts_with('-') => Err(error("it is negative".into())),
                Err(_) => Err(error(format!("`{}` is not a whole number below 2^32", number.trim()))),
            },
            None => match trimmed.parse::<Bytes>() {
                Ok(Bytes(bytes)) => Ok(Self::Bytes(bytes)),
                Err(as_bytes) => Err(error(as_bytes.why.replace("one of B", "one of packets, B"))),
            },
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_packets_or_bytes_and_its_text_reads_back() {
        for (text, limit) in [
            ("1000 packets", Limit::Packets(1000)),
            ("1packet", Limit::Packets(1)),
            ("150 kB", Limit::Bytes(150_000)),
            ("1538 B", Limit::Bytes(1538)),
            ("unlimited", Limit::Unlimited),
        ] {
            assert_eq!(text.parse(), Ok(limit), "{text}");
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
        let odd = Limit::Bytes(u64::MAX - 1);
        assert_eq!(odd.to_string().parse(), Ok(odd), "no size is rounded in its text");
    }

    #[test]
    fn what_is_no_queue_size_is_refused_with_what_would_be() {
        for text in ["", "1000", "packets", "-1 packets", "1.5 packets", "5 Mbps", "99999999999 packets"] {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains("1000 packets") && error.contains("150 kB"), "{text}: {error}");
        }
        for (text, why) in [
            ("10 foo", "unknown unit `foo`, expected one of packets, B, byte,"),
            ("10 npackets", "unknown unit `npackets`, expected one of packets, B, byte,"),
            ("10", "the unit is missing (one of packets, B, byte,"),
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.why.starts_with(why), "{text}: {}", error.why);
        }
    }
}
