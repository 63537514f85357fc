//! Parses rules and groups.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, ipv4_mask_to_prefix};
use weft_fabric::gates::Gate;
use weft_fabric::nearest;
use weft_wire::Tag;

use super::error::SyntaxError;
use super::filter::FlowFilter;
use crate::tag_forward::flow::{FlowAction, FlowTarget, GroupId, Way};

/// Fields of a rule; the last two are counters in table dumps and are ignored.
const FIELDS: [&str; 12] = [
    "priority",
    "ip",
    "ipv6",
    "ip_src",
    "ip_dst",
    "nw_src",
    "nw_dst",
    "ipv6_src",
    "ipv6_dst",
    "actions",
    "n_packets",
    "n_bytes",
];
/// The parts of an action.
const ACTIONS: [&str; 5] = ["queue", "down", "gate", "up", "group"];
/// Fields of a group.
const GROUP_FIELDS: [&str; 3] = ["group_id", "type", "bucket"];

/// Sets a field that must not be set yet.
fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), SyntaxError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(SyntaxError::Twice(name.to_owned())),
    }
}

fn unknown(name: &str, known: &'static [&'static str]) -> SyntaxError {
    let near = nearest(name, known.iter().copied()).and_then(|near| known.iter().find(|name| **name == near));
    SyntaxError::Unknown { name: name.to_owned(), near: near.copied(), known: known.join(", ") }
}

fn wrong(name: &str, value: &str, expected: &'static str) -> SyntaxError {
    SyntaxError::Value { name: name.to_owned(), value: value.to_owned(), expected }
}

/// The parts of a text, separated by commas and white space.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\t', '\r', '\n']).filter(|part| !part.is_empty())
}

/// A number, decimal or hexadecimal with `0x`.
fn number<T: TryFrom<u32>>(name: &str, value: &str, expected: &'static str) -> Result<T, SyntaxError> {
    // Rust's own parsing would accept a sign.
    let (digits, radix) = value.strip_prefix("0x").map_or((value, 10), |digits| (digits, 16));
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, radix).ok().filter(|_| plain);
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| wrong(name, value, expected))
}

/// A network: an address, with a prefix length or a mask after `/`; `None` for any.
fn network(name: &str, value: &str) -> Result<Option<IpNet>, SyntaxError> {
    let expected = "an address, such as 10.0.0.1, 10.0.0.0/24, 10.0.0.0/255.255.255.0 or fd00::/16";
    let wrong = || wrong(name, value, expected);
    if matches!(value, "*" | "any" | "ANY") {
        return Ok(None);
    }
    let (address, mask) = match value.split_once('/') {
        Some((address, mask)) => (address, Some(mask)),
        None => (value, None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let prefix = match (mask, mask.and_then(|mask| mask.parse::<Ipv4Addr>().ok())) {
        (None, _) => most,
        (Some(_), Some(mask)) if address.is_ipv4() => ipv4_mask_to_prefix(mask).map_err(|_| wrong())?,
        (Some(mask), _) if !mask.starts_with('+') => mask.parse().map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    IpNet::new(address, prefix).map(|network| Some(network.trunc())).map_err(|_| wrong())
}

/// Parses a rule, and its action if there is one.
pub fn parse_rule(text: &str) -> Result<(FlowFilter, Option<FlowAction>), SyntaxError> {
    let (fields, actions) = match text.find("action") {
        Some(at) => {
            let (fields, rest) = text.split_at(at);
            let (name, actions) = rest.split_once('=').unwrap_or((rest, ""));
            match name {
                "action" | "actions" => (fields, Some(actions)),
                name => return Err(unknown(parts(name).next().unwrap_or(name), &FIELDS)),
            }
        }
        None => (text, None),
    };
    let mut filter = FlowFilter::default();
    // Networks are `Some(None)` for `any`; the address family is also implied by field names.
    let (mut source, mut destination, mut implied) = (None, None, None);
    for field in parts(fields) {
        let (name, value) = field.split_once('=').map_or((field, None), |(name, value)| (name, Some(value)));
        implied = match name.split('_').next() {
            Some("nw") => Some(false),
            Some("ipv6") => Some(true),
            _ => implied,
        };
        match (name, value) {
            ("ip", None) => once(&mut filter.is_v6, "ip or ipv6", false)?,
            ("ipv6", None) => once(&mut filter.is_v6, "ip or ipv6", true)?,
            ("priority", Some(value)) => {
                once(&mut filter.priority, name, number(name, value, "a number from 0 to 65535")?)?;
            }
            ("ip_src" | "nw_src" | "ipv6_src", Some(value)) => {
                once(&mut source, "ip_src", of_family(name, network(name, value)?)?)?;
            }
            ("ip_dst" | "nw_dst" | "ipv6_dst", Some(value)) => {
                once(&mut destination, "ip_dst", of_family(name, network(name, value)?)?)?;
            }
            ("n_packets" | "n_bytes", Some(_)) => {}
            (name, None) if FIELDS.contains(&name) => return Err(wrong(name, "", "a value after `=`")),
            (name, _) => return Err(unknown(name, &FIELDS)),
        }
    }
    (filter.source, filter.destination) = (source.flatten(), destination.flatten());
    filter.is_v6 = filter.is_v6.or(implied);
    Ok((filter, actions.map(parse_action).transpose()?))
}

/// Checks that a network has the family that the field's name implies.
fn of_family(name: &str, network: Option<IpNet>) -> Result<Option<IpNet>, SyntaxError> {
    let Some(value) = network else { return Ok(None) };
    let family = match (name.as_bytes().first(), name.starts_with("ipv6"), value) {
        (Some(b'n'), _, IpNet::V6(_)) => "IPv4",
        (_, true, IpNet::V4(_)) => "IPv6",
        _ => return Ok(network),
    };
    Err(SyntaxError::Family { name: name.to_owned(), family, value })
}

/// A part of an action: its name, and its value after the colon.
fn action_part(part: &str) -> Result<(&str, &str), SyntaxError> {
    match part.split_once(':') {
        Some((name, value)) => Ok((name, value)),
        None => Err(unknown(part, &ACTIONS)),
    }
}

const NO_GATE: &str = "a bucket starts with its gate: bucket=gate:48,up:48";
const ANY_NUMBER: &str = "a number";
const A_GATE: &str = "a gate number, 1 or more";

fn gate(name: &str, value: &str) -> Result<Gate, SyntaxError> {
    match number(name, value, A_GATE)? {
        0 => Err(wrong(name, value, A_GATE)),
        gate => Ok(Gate(gate)),
    }
}

fn queue_number(value: &str) -> Result<u8, SyntaxError> {
    let expected = "a number from 0 to 7";
    let queue: u8 = number("queue", value, expected)?;
    if queue > Tag::MAX_QUEUE { Err(wrong("queue", value, expected)) } else { Ok(queue) }
}

fn parse_action(text: &str) -> Result<FlowAction, SyntaxError> {
    let (mut queue, mut down, mut to, mut up, mut group) = (None, None, None, None, None);
    for part in parts(text) {
        let (name, value) = action_part(part)?;
        match name {
            "queue" => once(&mut queue, name, queue_number(value)?)?,
            "down" => once(&mut down, name, number(name, value, ANY_NUMBER)?)?,
            "gate" => once(&mut to, name, gate(name, value)?)?,
            "up" => once(&mut up, name, number(name, value, ANY_NUMBER)?)?,
            "group" => once(&mut group, name, GroupId(number(name, value, ANY_NUMBER)?))?,
            _ => return Err(unknown(name, &ACTIONS)),
        }
    }
    let to = match (to, up, group) {
        (Some(gate), up, None) => FlowTarget::Way(Way { gate, up: up.unwrap_or(0) }),
        (None, None, Some(id)) => FlowTarget::Group(id),
        (None, _, None) => {
            return Err(SyntaxError::Lacks("the actions select no path: expected gate:48,up:48 or group:3"));
        }
        (_, _, Some(_)) => {
            return Err(SyntaxError::Superfluous(
                "gate and up come from the group's buckets: leave them out",
            ));
        }
    };
    Ok(FlowAction { queue: queue.unwrap_or(0), down: down.unwrap_or(0), to })
}

/// Parses a group: its number and its paths.
pub fn parse_group(text: &str) -> Result<(GroupId, Vec<Way>), SyntaxError> {
    let (mut id, mut kind) = (None, None);
    // UP, if given, follows its gate.
    let mut ways: Vec<(Gate, Option<u32>)> = Vec::new();
    for part in parts(text) {
        let (field, part) = part.split_once('=').map_or((None, part), |(name, rest)| (Some(name), rest));
        match field {
            Some("group_id") => once(&mut id, "group_id", GroupId(number("group_id", part, ANY_NUMBER)?))?,
            Some("type") if part == "select" => once(&mut kind, "type", ())?,
            Some("type") => return Err(wrong("type", part, "select (each packet takes one bucket)")),
            Some("bucket") => match action_part(part)? {
                ("gate", value) => ways.push((gate("gate", value)?, None)),
                _ => return Err(SyntaxError::Lacks(NO_GATE)),
            },
            Some(name) => return Err(unknown(name, &GROUP_FIELDS)),
            None => match (action_part(part)?, ways.last_mut()) {
                (("up", value), Some((_, up))) => once(up, "up", number("up", value, ANY_NUMBER)?)?,
                _ => return Err(SyntaxError::Lacks(NO_GATE)),
            },
        }
    }
    let id = id.ok_or(SyntaxError::Lacks("missing group_id: expected group_id=3"))?;
    Ok((id, ways.into_iter().map(|(gate, up)| Way { gate, up: up.unwrap_or(0) }).collect()))
}
