//! The keys of ports that choose among waiting packets: RED, priority flow control, and the buffer that the queues of a
//! switch share.

use weft_fabric::{Limit, MAX_QUEUES, MarkAt, PfcSpec, RedSpec, SharedBuffer, parts_of};
use weft_units::Bytes;

use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::tree::shown;

/// The keys of `red`.
pub(crate) const RED_KEYS: &[Key] = &[
    key("kmin", Kind::Limit, "", "up to this queue, no packet is marked"),
    key("kmax", Kind::Limit, "", "beyond this queue, every packet is marked"),
    key("pmax", Kind::Number, "1", "probability of a mark at `kmax`"),
    key(
        "at",
        Kind::Word(MarkAt::WORDS),
        "enqueue",
        "moment of marking: by the queue that a packet finds, or that it leaves",
    ),
];

/// The keys of `pfc`.
pub(crate) const PFC_KEYS: &[Key] = &[
    key(
        "xoff",
        Kind::Bytes,
        "",
        "bytes of a queue in the switch at the end of the link at which it pauses the queue",
    ),
    key("xon", Kind::Bytes, "", "bytes at which the queue resumes (default: 3076 B below `xoff`)"),
    key(
        "headroom",
        Kind::Bytes,
        "",
        "space for packets that arrive after a pause (default: by rate and delay)",
    ),
    key("queues", Kind::Counts, "", "the lossless queues, 0 is the most urgent one (default: all)"),
];

/// The keys of the buffer of every switch.
pub(crate) const BUFFER_KEYS: &[Key] = &[
    key("buffer", Kind::Bytes, "", "memory that all queues of a switch share"),
    key("alpha", Kind::Number, "1", "a queue may grow up to this many times the free part of `buffer`"),
];

/// The buffer of `[fabric]`.
pub(crate) fn buffer(section: &Section<'_>) -> Option<At<SharedBuffer>> {
    let alpha = section.get_or_default::<f64>(BUFFER_KEYS, "alpha");
    let bytes = section.get::<Bytes>("buffer");
    if let Some(alpha) = alpha
        && (alpha.value <= 0.0 || alpha.value > 1024.0)
    {
        let label = "expected a number above 0, up to 1024";
        section.problem(alpha.span, format!("`alpha` is {}", shown(alpha.value)), label);
        return None;
    }
    let Some(bytes) = bytes else {
        if let (Some(alpha), Some(_)) = (alpha, section.node("alpha")) {
            section.problem(alpha.span, "`alpha` without a `buffer`", "expected buffer = \"9 MB\" as well");
        }
        return None;
    };
    if bytes.value.0 < 10_000 {
        section.problem(bytes.span, format!("a `buffer` of {}", bytes.value), "expected at least 10 kB");
        return None;
    }
    Some(At { value: SharedBuffer { bytes: bytes.value, alpha: alpha?.value }, span: bytes.span })
}

/// RED as written.
pub(crate) fn red(section: &Section<'_>) -> Option<At<RedSpec>> {
    section.only(&[RED_KEYS]);
    let (kmin, kmax) = (section.need::<Limit>("kmin"), section.need::<Limit>("kmax"));
    let (pmax, at) = (section.get_or_default::<f64>(RED_KEYS, "pmax"), section.value(RED_KEYS, "at"));
    let (kmin, kmax, share) = (kmin?, kmax?, pmax?);
    let Some(pmax) = parts_of(share.value) else {
        let message = format!("`pmax` is {}", shown(share.value));
        section.problem(share.span, message, "expected a probability from 1e-9 to 1");
        return None;
    };
    let red = RedSpec { kmin: kmin.value, kmax: kmax.value, pmax, at: at? };
    if let Some(why) = red.fault() {
        section.problem(kmin.span, why, "expected a size up to `kmax`, in its unit");
        return None;
    }
    Some(At { value: red, span: section.span })
}

/// Priority flow control as written, of ports with this many queues if that is known here.
pub(crate) fn pfc(section: &Section<'_>, known: Option<usize>) -> Option<At<PfcSpec>> {
    section.only(&[PFC_KEYS]);
    let size = |name| section.get::<Bytes>(name);
    let (xoff, xon, headroom) = (size("xoff"), size("xon"), size("headroom"));
    if let (Some(xoff), Some(xon)) = (xoff, xon)
        && xon.value > xoff.value
    {
        let message = format!("`xon` ({}) is above `xoff` ({})", xon.value, xoff.value);
        section.problem(xon.span, message, "expected at most `xoff`");
        return None;
    }
    if let (None, Some(xon)) = (xoff, xon) {
        section.problem(xon.span, "`xon` without an `xoff`", "expected xoff = \"100 kB\" as well");
        return None;
    }
    let queues = match section.node("queues") {
        None => None,
        Some(_) => {
            let listed = section.list::<u32>("queues")?;
            if listed.value.is_empty() {
                section.problem(
                    listed.span,
                    "no queue is lossless",
                    "expected queues such as [0], or no `pfc`",
                );
            }
            let most = known.unwrap_or(MAX_QUEUES).clamp(1, MAX_QUEUES);
            if let Some(beyond) = listed.value.iter().find(|queue| queue.value as usize >= most) {
                let label = match (known, most) {
                    (None, _) => format!("a port has at most {most} queues, 0 is the most urgent one"),
                    (_, 1) => "a port has 1 queue, number 0; `queues` of the port give it more".to_owned(),
                    _ => format!("a port has {most} queues, 0 to {}, 0 is the most urgent one", most - 1),
                };
                section.problem(beyond.span, format!("there is no queue {}", beyond.value), label);
                return None;
            }
            Some(listed.value.iter().fold(0_u8, |mask, queue| mask | 1 << queue.value))
        }
    };
    let value = |at: Option<At<Bytes>>| at.map(|at| at.value);
    let spec = PfcSpec { xoff: value(xoff), xon: value(xon), headroom: value(headroom), queues };
    Some(At { value: spec, span: section.span })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_default_of_xon_is_that_of_the_fabric() {
        let xon = PFC_KEYS.iter().find(|key| key.name == "xon").expect("a key");
        let default = format!("{} B below `xoff`", weft_fabric::HYSTERESIS);
        assert!(xon.doc.contains(&default), "{}", xon.doc);
    }
}
