//! `[transport]`: a protocol, TCP's profile, and overridden parameters. The keys are the protocol's parameters
//! themselves, so new ones need no change here.

use serde::Serialize;
use serde_json::Value as Json;
use weft_fabric::Fabric;
use weft_switching::{Descriptor, Header};
use weft_traffic::{Flow, Traffic};
use weft_transport::profile::PROFILES;
use weft_transport::{
    Config, CongestionControl, ControllerInfo, PROTOCOLS, Parameters, Protocol, roce, udp, uec,
};
use weft_units::Bytes;

use crate::diagnostic::Problem;
use crate::nearest::{list, nearest};
use crate::round_trip::longest;
use crate::section::{Key, Kind, Section, key};
use crate::sections::congestion::Control;
use crate::source::Span;
use crate::tree::{Entry, Value};

/// The default profile.
pub(crate) const DEFAULT_PROFILE: &str = "linux";

/// The key that names the profile.
pub(crate) const PROFILE: Key = key(
    "profile",
    Kind::Choice(profiles),
    DEFAULT_PROFILE,
    "with protocol = \"tcp\", the variant whose parameters are the defaults",
);

/// The names of all profiles.
pub(crate) fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// The key that names the protocol.
pub(crate) const PROTOCOL: Key =
    key("protocol", Kind::Choice(protocols), DEFAULT_PROTOCOL, "transport protocol of the hosts");

/// The default protocol.
const DEFAULT_PROTOCOL: &str = "tcp";

/// The names of all protocols.
pub(crate) fn protocols() -> Vec<&'static str> {
    PROTOCOLS.iter().map(|(name, _)| *name).collect()
}

/// A protocol with the scenario's overrides.
#[derive(Clone, PartialEq, Debug)]
pub struct Transport {
    /// The name of TCP's profile, or of another protocol.
    pub profile: String,
    /// The protocol with every parameter.
    pub protocol: Protocol,
}

impl Default for Transport {
    fn default() -> Self {
        let config = Config::profile(DEFAULT_PROFILE).expect("the default profile exists: a test reads it");
        Self { profile: DEFAULT_PROFILE.to_owned(), protocol: config.into() }
    }
}

impl Transport {
    /// Reads `[transport]`, which may name one of these congestion controllers of modules.
    pub(crate) fn decode(
        section: Option<&Section<'_>>,
        controllers: &[&'static ControllerInfo],
    ) -> Option<Self> {
        let Some(section) = section else { return Some(Self::default()) };
        let choices: Vec<_> = protocols().into_iter().map(|name| (name, name)).collect();
        let name = match section.node(PROTOCOL.name) {
            Some(_) => section.choice(PROTOCOL.name, &choices)?.value,
            None => DEFAULT_PROTOCOL,
        };
        if let Some(entry) = section.table.entry(PROFILE.name).filter(|_| name != DEFAULT_PROTOCOL) {
            let message =
                format!("`transport.profile` is a profile of TCP, and `transport.protocol` is \"{name}\"");
            section.problem(entry.span, message, "remove it, or set protocol = \"tcp\"");
            return None;
        }
        let source = format!("the protocol `{name}`");
        let protocol = match name {
            "udp" => Protocol::Udp(read(section, &[], &source, "UDP", udp::Config::default())?),
            "roce" => Protocol::Roce(Box::new(read(section, &[], &source, "RoCE", roce::Config::default())?)),
            "uec" => Protocol::Uec(read(section, &[], &source, "UEC", uec::Config::default())?),
            _ => return Self::decode_tcp(section, controllers),
        };
        Some(Self { profile: name.to_owned(), protocol })
    }

    /// The congestion controller of a module, if it is one.
    pub fn controller(&self) -> Option<&'static ControllerInfo> {
        match self.protocol.tcp()?.congestion_control {
            CongestionControl::Custom(info) => Some(info),
            _ => None,
        }
    }

    /// Computes from the fabric what depends on it and was not given.
    pub(crate) fn settle(&mut self, fabric: &Fabric) {
        if let Protocol::Uec(config) = &mut self.protocol {
            let packet = config.framing().full_packet();
            let trims = fabric.links().iter().any(|link| link.queue.trim);
            config.settle(longest(fabric, packet, uec::Config::ANSWER.into()), trims);
        }
    }

    /// The problem with `rto` at `position` if the fabric's round-trip time is not shorter.
    pub(crate) fn early(&self, position: Span) -> Option<Problem> {
        let Protocol::Uec(config) = &self.protocol else { return None };
        let (rto, longest) = (config.rto(), config.base_rtt.filter(|longest| *longest >= config.rto())?);
        let message =
            format!("`transport.rto` is {rto}, and the longest path has a round-trip time of {longest}");
        let label = format!("expected more than {longest}, or no `rto`: every packet would be sent again");
        Some(Problem::at(position, message).label(label))
    }

    /// The problem if the hosts' protocol is not one for which `scheme` at `position` chooses paths, or if scheme and
    /// congestion controller are of two modules.
    pub(crate) fn misfit(&self, scheme: &Descriptor, position: Span) -> Option<Problem> {
        if let (Some(_), Some(info)) = (scheme.module, self.controller()) {
            let message = format!("`{}` and `{}` are of two plugins", scheme.name, info.name);
            return Some(Problem::at(position, message).label("a run can have one plugin"));
        }
        if !scheme.is_at_hosts || self.protocol.tcp().is_some() {
            return None;
        }
        let (name, protocol) = (scheme.name, self.protocol.name());
        let message = format!("`{name}` chooses paths for TCP, and transport.protocol is \"{protocol}\"");
        Some(
            Problem::at(position, message)
                .label("name a scheme of switches, such as \"ecmp\", or set protocol = \"tcp\""),
        )
    }

    /// The problem with a flow of the traffic at `position` that the protocol cannot carry, if there is one.
    pub(crate) fn unfit(&self, flows: &[Flow], position: Span, fabric: &Fabric) -> Option<Problem> {
        let name = self.protocol.name();
        if self.protocol.tcp().is_none() && flows.iter().any(|flow| flow.dscp == Header::TRIMMED) {
            let message =
                format!("a flow has DSCP {}, which marks trimmed packets of {name}", Header::TRIMMED);
            return Some(Problem::at(position, message).label("choose another `dscp`"));
        }
        let largest = self.protocol.largest_flow();
        let flow = flows.iter().max_by_key(|flow| flow.bytes).filter(|flow| flow.bytes > largest)?;
        let payload = self.protocol.framing().payload;
        let host = |host| &fabric.node(fabric.host_node(host)).name;
        let message = format!(
            "the flow from `{}` to `{}` at {} has {}, and {name} carries at most {} with {} bytes per packet",
            host(flow.src),
            host(flow.dst),
            flow.start,
            Bytes(flow.bytes),
            Bytes(largest),
            payload
        );
        let (key, most) = self.protocol.payload_parameter();
        let larger = flow.bytes.div_ceil(largest / u64::from(payload));
        Some(Problem::at(position, message).label(if larger <= u64::from(most) {
            format!("limit the sizes, or set transport.{key} to at least {larger}")
        } else {
            "limit the sizes".to_owned()
        }))
    }

    /// The problem with connections that stay open, for the collective at `position`: datagrams have none, and numbered packets
    /// may be too many.
    pub(crate) fn unfit_connections(&self, traffic: &Traffic, position: Span) -> Option<Problem> {
        let (all, name) = (&traffic.connections, self.protocol.name());
        all.firsts().next()?;
        if matches!(self.protocol, Protocol::Udp(_)) {
            let message = format!("the hosts' protocol is \"{name}\", which has no connections");
            let label = "remove `connections`, or set transport.protocol to \"tcp\", \"roce\" or \"uec\"";
            return Some(Problem::at(position, message).label(label));
        }
        if self.protocol.tcp().is_some() {
            return None;
        }
        let framing = self.protocol.framing();
        let packets = |flow: u32| framing.packets(traffic.flows[flow as usize].bytes).0;
        let most = u64::from(u32::MAX - 1);
        let sums = all.firsts().map(|first| all.messages(first).map(packets).fold(0, u64::saturating_add));
        let packets = sums.max().filter(|packets| *packets > most)?;
        let message = format!("a connection carries {packets} packets, and {name} numbers at most {most}");
        Some(Problem::at(position, message).label("lower `bytes` or `repeats`, or remove `connections`"))
    }

    /// A copy with what applications set on connections that stay open: they disable Nagle's algorithm.
    pub(crate) fn with_connections(&self, traffic: &Traffic) -> Self {
        let mut this = self.clone();
        if let Protocol::Tcp(config) = &mut this.protocol {
            config.nagle &= traffic.connections.firsts().next().is_none();
        }
        this
    }

    fn decode_tcp(section: &Section<'_>, controllers: &[&'static ControllerInfo]) -> Option<Self> {
        let mut profile = DEFAULT_PROFILE.to_owned();
        if section.node(PROFILE.name).is_some() {
            let choices: Vec<_> = profiles().into_iter().map(|name| (name, name)).collect();
            profile = section.choice(PROFILE.name, &choices)?.value.to_owned();
        }
        let mut config = Config::profile(&profile)?;
        let control = Control::of(section, controllers);
        if let Control::OfModule(_) = control {
            // The profile's controller may need other parameters, as DCTCP does.
            config.congestion_control = CongestionControl::Reno;
        }
        let given = control.given(section);
        let keys = control.keys(controllers);
        let mut config = read(section, &keys, &format!("the profile `{profile}`"), "TCP", config)?;
        config.congestion.custom = given?;
        control.set(&mut config);
        Some(Self { profile, protocol: config.into() })
    }

    /// The default of every protocol other than TCP.
    pub(crate) fn others() -> [Protocol; 3] {
        let uec = Protocol::Uec(uec::Config::default());
        [Protocol::Udp(udp::Config::default()), Protocol::Roce(Box::default()), uec]
    }
}

/// Reads the parameters of a protocol, `title` in messages, apart from those in `others`; the section overrides the values
/// of `config`, which are those of `source`.
fn read<C: Parameters>(
    section: &Section<'_>,
    others: &[&str],
    source: &str,
    title: &str,
    mut config: C,
) -> Option<C> {
    let mut fields = fields(&config);
    let foreign = others.iter().map(|&key| key.to_owned()).filter(|key| !fields.contains_key(key));
    let names: Vec<String> = fields.keys().cloned().chain(foreign).collect();
    let mut good = true;
    let is_own = |key: &str| ![PROFILE.name, PROTOCOL.name].contains(&key) && !others.contains(&key);
    for entry in section.table.0.iter().filter(|entry| is_own(&entry.key)) {
        let key = &entry.key;
        let Some(before) = fields.insert(key.clone(), entry.node.to_json()) else {
            fields.remove(key);
            good = false;
            unknown(section, entry, title, &names);
            continue;
        };
        if let Ok(read) = serde_json::from_value::<C>(Json::Object(fields.clone())) {
            config = read;
            continue;
        }
        good = false;
        fields.insert(key.clone(), before.clone());
        refuse::<C>(section, entry, &before, &fields, source);
    }
    if let Err(error) = config.validate() {
        let entry = section.table.entry(error.name);
        let span = entry.map_or(section.span, |entry| entry.node.span);
        let message = format!("`transport.{}` is {}", error.name, error.found);
        section.problem(span, message, format!("expected {}", error.expected));
        good = false;
    }
    good.then_some(config)
}

/// Reports a key that is none of the parameters `names` of a protocol.
fn unknown(section: &Section<'_>, entry: &Entry, title: &str, names: &[String]) {
    let key = entry.key.as_str();
    let problem = Problem::at(entry.span, format!("unknown key `{key}` in [transport]"));
    let all = || names.iter().map(String::as_str).chain([PROTOCOL.name, PROFILE.name]);
    let owner = Transport::others().into_iter().chain([Transport::default().protocol]);
    let owner = owner.into_iter().find(|protocol| fields(protocol).contains_key(key));
    section.problems.add(match (owner, nearest(key, all())) {
        (Some(owner), _) => {
            problem.label(format!("not a {title} parameter; protocol = \"{}\" has it", owner.name()))
        }
        (None, Some(nearest)) => problem.label(format!("did you mean `{nearest}`?")),
        (None, None) => problem
            .label(format!("not a {title} parameter"))
            .help(format!("expected one of {}", list(names.iter().map(String::as_str)))),
    });
}

/// Reports an unreadable parameter value and the expected one. `before`, its current value in `fields`, shows
/// the kind of value.
fn refuse<C: Parameters>(
    section: &Section<'_>,
    entry: &Entry,
    before: &Json,
    fields: &serde_json::Map<String, Json>,
    source: &str,
) {
    let (key, node) = (entry.key.as_str(), &entry.node);
    let why = match before {
        Json::Number(number) => {
            let what = if number.is_f64() { "a finite number" } else { "a whole number" };
            let kind = if matches!(node.value, Value::Integer(_)) { "" } else { what };
            let range = range::<C>(fields, key, number);
            let parts = [kind, range.as_deref().unwrap_or_default()];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("expected {}", parts.join(", "))
        }
        Json::Bool(_) => "expected true or false, without quotes".to_owned(),
        _ => match (choices::<C>(fields, key), &node.value) {
            (Some(names), Value::Text(_)) => {
                let names: Vec<(&str, ())> = names.iter().map(|name| (name.as_str(), ())).collect();
                section.choice(key, &names);
                return;
            }
            (Some(names), _) => format!("expected one of {}", list(names.iter().map(String::as_str))),
            (None, Value::Integer(_) | Value::Float(_)) => {
                format!("the unit is missing: write it as a string, \"{} ...\"", node.short())
            }
            (None, _) => {
                let why = refusal::<C>(fields, key, node.to_json()).unwrap_or_default();
                // Serde repeats the value, which the message shows already.
                match why.split_once(", expected ") {
                    Some((start, what)) if start.starts_with("invalid ") => format!("expected {what}"),
                    _ => why,
                }
            }
        },
    };
    let message = format!("`transport.{key}` cannot be {}", node.describe());
    section.problem(node.span, message, format!("{why}; {source} has {before}"));
}

/// The error of the parameter's own reader for `value`, if any.
fn refusal<C: Parameters>(fields: &serde_json::Map<String, Json>, key: &str, value: Json) -> Option<String> {
    let mut fields = fields.clone();
    fields.insert(key.to_owned(), value);
    serde_json::from_value::<C>(Json::Object(fields)).err().map(|error| error.to_string())
}

/// The choices of the parameter `key`, if it has a few: its reader lists them when given an empty string.
fn choices<C: Parameters>(fields: &serde_json::Map<String, Json>, key: &str) -> Option<Vec<String>> {
    let error = refusal::<C>(fields, key, "".into())?;
    let (_, names) = error.strip_prefix("unknown variant ")?.split_once("expected ")?;
    Some(names.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// The valid range of the numeric parameter `key`; `number` is a valid value.
fn range<C: Parameters>(
    fields: &serde_json::Map<String, Json>,
    key: &str,
    number: &serde_json::Number,
) -> Option<String> {
    let whole = !number.is_f64();
    let largest = [u64::from(u8::MAX), u16::MAX.into(), u32::MAX.into(), u64::MAX];
    let most = largest.into_iter().rev().find(|most| refusal::<C>(fields, key, (*most).into()).is_none());
    let outermost = if whole { vec![0.into(), most?.into()] } else { vec![Json::from(-1.0)] };
    // The range that validation reports for one of the extreme values, if any.
    let said = outermost.into_iter().find_map(|number| {
        let mut fields = fields.clone();
        fields.insert(key.to_owned(), number);
        let config = serde_json::from_value::<C>(Json::Object(fields)).ok()?;
        config.validate().err().filter(|error| error.name == key)
    });
    match said {
        Some(error) => Some(error.expected.to_owned()),
        None if whole => Some(format!("0 to {}", most?)),
        None => None,
    }
}

/// The parameters of a protocol by name, as strings, numbers and booleans.
pub(crate) fn fields(config: &impl Serialize) -> serde_json::Map<String, Json> {
    match serde_json::to_value(config) {
        Ok(Json::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    }
}
