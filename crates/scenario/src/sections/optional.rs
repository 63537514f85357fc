//! Optional values of a flow or group: ports, DSCPs.

use std::fmt::Display;

use weft_traffic::MAX_DSCP;

use crate::key::Kind;
use crate::section::Section;

/// A DSCP.
pub(crate) const DSCP: Kind = Kind::UpTo(MAX_DSCP as u64);
/// A port of TCP or UDP.
pub(crate) const PORT: Kind = Kind::UpTo(u16::MAX as u64);

/// An optional TCP port; the outer `None` means invalid.
pub(crate) fn port(section: &Section<'_>, key: &str) -> Option<Option<u16>> {
    up_to(section, key, u16::MAX, "port")
}

/// An optional DSCP; the outer `None` means invalid.
pub(crate) fn dscp(section: &Section<'_>) -> Option<Option<u8>> {
    up_to(section, "dscp", MAX_DSCP, "DSCP")
}

/// An optional number from 0 to `most`, called `what` in messages; the outer `None` means invalid.
fn up_to<T: TryFrom<u64> + PartialOrd + Display>(
    section: &Section<'_>,
    key: &str,
    most: T,
    what: &str,
) -> Option<Option<T>> {
    if section.node(key).is_none() {
        return Some(None);
    }
    let given = section.get::<u64>(key)?;
    match T::try_from(given.value) {
        Ok(number) if number <= most => Some(Some(number)),
        _ => {
            let message = format!("{} is not a valid {what}", given.value);
            section.problem(given.span, message, format!("expected a number from 0 to {most}"));
            None
        }
    }
}
