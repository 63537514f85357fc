//! Warnings of `measure.ring_steps`.

use weft_traffic::{Parts, Traffic};

use crate::settings::Settings;

/// Warns if no step of a ring is recorded, or not all are. With a sweep over the traffic or its hosts, the key is meant for
/// other points, too.
pub(super) fn idle_or_cut(traffic: &Traffic, settings: &Settings) -> Option<String> {
    let decides = |key: &String| key.starts_with("traffic") || key.starts_with("transport");
    let (count, most) = (traffic.parts.count(), Parts::MOST_RECORDED);
    if !settings.measure.ring_steps || settings.swept.iter().any(decides) {
        return None;
    }
    match count {
        0 => Some(
            "`measure.ring_steps` has no effect, as no ring is sent in parts: choose an algorithm with rings and \
             `traffic.connections = \"persistent\"`, without `traffic.relay`, or remove it"
                .to_owned(),
        ),
        _ if count > most.into() => Some(format!(
            "`measure.ring_steps` records at most {most} of {count} steps of rings: those of the first flows"
        )),
        _ => None,
    }
}
