//! `[transport]`: a protocol, TCP's profile, and overridden parameters. The keys are the protocol's parameters
//! themselves, so new ones need no change here.

use serde_json::json;
use weft_fabric::Fabric;
use weft_switching::{Descriptor, Header};
use weft_traffic::{Flow, InterfaceRule, Traffic};
use weft_transport::profile::PROFILES;
use weft_transport::{Config, ControllerInfo, FirstWindow, FixedTimeout, PROTOCOLS, Protocol};
use weft_units::{Bytes, Given, ParamInfo, ParamValue, alternatives, plural};

use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::longest_path::longest;
use crate::nearest::{list, nearest};
use crate::section::Section;
use crate::sections::congestion::Control;
use crate::sections::interfaces::RULE;
use crate::source::Span;
use crate::synonym::key_synonym;
use crate::tree::Entry;

/// The key that names the profile.
pub(crate) const PROFILE: Key = key(
    "profile",
    Kind::Choice(|| PROFILES.iter().map(|(name, _)| *name).collect()),
    "linux",
    "with protocol = \"tcp\", the variant whose parameters are the defaults",
);

/// The key that names the protocol.
pub(crate) const PROTOCOL: Key = key(
    "protocol",
    Kind::Choice(|| PROTOCOLS.iter().map(|(name, _)| *name).collect()),
    "tcp",
    "transport protocol of the hosts",
);

/// A protocol with the scenario's overrides.
#[derive(Clone, PartialEq, Debug)]
pub struct Transport {
    /// The name of TCP's profile, or of another protocol.
    pub profile: String,
    /// The protocol with every parameter.
    pub protocol: Protocol,
    /// How flows choose interfaces.
    pub interfaces: InterfaceRule,
}

impl Transport {
    /// Reads `[transport]`, which may name one of these congestion controllers of modules.
    pub(crate) fn decode(section: &Section<'_>, controllers: &[&'static ControllerInfo]) -> Option<Self> {
        let name = section.choice(&PROTOCOL)?;
        let interfaces = section.value(&[RULE], RULE.name)?;
        if let Some(entry) = section.table.entry(PROFILE.name).filter(|_| name != "tcp") {
            let message =
                format!("`transport.profile` is a profile of TCP, and `transport.protocol` is \"{name}\"");
            section.problem(entry.span, message, "remove it, or set protocol = \"tcp\"");
            return None;
        }
        let profile = section.choice(&PROFILE)?;
        let mut control = Control::Own;
        let (profile, source, protocol, controllers) = match Protocol::named(name)? {
            Protocol::Tcp(_) => {
                let mut config = Config::profile(profile)?;
                control = Control::of(section, controllers);
                control.set(&mut config);
                (profile, format!("the profile `{profile}`"), config.into(), controllers)
            }
            other => (name, format!("the protocol `{name}`"), other, [].as_slice()),
        };
        let protocol = read(section, &source, protocol, &control.ignored(controllers));
        let protocol = protocol.filter(|_| !matches!(control, Control::Unknown))?;
        Some(Self { profile: profile.to_owned(), protocol, interfaces })
    }

    /// Computes the parameters that depend on the fabric and were not given.
    pub(crate) fn settle(&mut self, fabric: &Fabric) {
        let config = self.protocol.config_mut();
        if let Some(timeout) = config.fixed_timeout() {
            let packet = config.framing().full_packet();
            let trims = fabric.links().iter().any(|link| link.queue.trim);
            config.settle_times(longest(fabric, packet, timeout.answer.into()), trims);
        }
    }

    /// The problem with `rto` at `position` if the fabric's round-trip time is not shorter.
    pub(crate) fn early(&self, position: Span) -> Option<Problem> {
        let FixedTimeout { rto, base_rtt, .. } = self.protocol.config().fixed_timeout()?;
        let longest = base_rtt.filter(|longest| *longest >= rto)?;
        let message =
            format!("`transport.rto` is {rto}, and the longest path has a round-trip time of {longest}");
        let label = format!("expected more than {longest}, or no `rto`: every packet would be sent again");
        Some(Problem::at(position, message).label(label))
    }

    /// The problem with `initial_window` at `position` if it is above the largest window of every host.
    pub(crate) fn wide(&self, position: Span, fabric: &Fabric) -> Option<Problem> {
        let of_hosts = fabric.links().iter().filter(|link| fabric.node(link.from).is_host());
        let fastest = of_hosts.map(|link| link.rate).max()?;
        let FirstWindow { packets, largest } = self.protocol.config().first_window(fastest)?;
        (packets > largest).then(|| {
            let message = format!(
                "`transport.initial_window` is {}, and the largest window at {fastest} is {largest}",
                plural(packets, "packet")
            );
            Problem::at(position, message).label(format!("expected at most {largest}"))
        })
    }

    /// The problem if the hosts' protocol is not one for which `scheme` at `position` chooses paths, or if scheme and
    /// congestion controller are of two modules.
    pub(crate) fn misfit(&self, scheme: &Descriptor, position: Span) -> Option<Problem> {
        if let (Some(_), Some(info)) = (scheme.module, self.protocol.controller()) {
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
        let largest = self.protocol.config().largest_flow();
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
        let key = self.protocol.config().payload_key();
        let larger = flow.bytes.div_ceil(largest / u64::from(payload));
        let mut all = self.protocol.parameters().into_iter().map(|(param, _)| param);
        let is_valid =
            all.any(|param| param.name == key && param.refusal(&ParamValue::Count(larger)).is_none());
        Some(Problem::at(position, message).label(if is_valid {
            format!("limit the sizes, or set transport.{key} to at least {larger}")
        } else {
            "limit the sizes".to_owned()
        }))
    }

    /// Whether connections between the ranks of a collective stay open unless the scenario says otherwise: queue pairs do.
    pub(crate) fn keeps_connections(&self) -> bool {
        self.protocol.tcp().is_none() && self.protocol.config().has_connections()
    }

    /// The problem with connections that stay open, for the collective at `position`: datagrams have none, and numbered packets
    /// may be too many.
    pub(crate) fn unfit_connections(&self, traffic: &Traffic, position: Span) -> Option<Problem> {
        let (all, name) = (&traffic.connections, self.protocol.name());
        all.firsts().next()?;
        if !self.protocol.config().has_connections() {
            let message = format!("the hosts' protocol is \"{name}\", which has no connections");
            let others = Protocol::quoted(|config| config.has_connections());
            let label = format!("remove `connections`, or set transport.protocol to {others}");
            return Some(Problem::at(position, message).label(label));
        }
        if self.protocol.tcp().is_some() {
            return None;
        }
        let framing = self.protocol.framing();
        let packets = |flow: u32| {
            let sizes = traffic.parts.sizes(flow, traffic.flows[flow as usize].bytes);
            sizes
                .map(|(bytes, count)| framing.packets(bytes).0.saturating_mul(count))
                .fold(0, u64::saturating_add)
        };
        let most = u64::from(u32::MAX - 1);
        let sums = all.firsts().map(|first| all.messages(first).map(packets).fold(0, u64::saturating_add));
        let packets = sums.max().filter(|packets| *packets > most)?;
        let message = format!("a connection carries {packets} packets, and {name} numbers at most {most}");
        Some(Problem::at(position, message).label("lower `bytes` or `repeats`, or remove `connections`"))
    }

    /// A copy with the options that applications set on connections that stay open: they disable Nagle's algorithm.
    pub(crate) fn with_connections(&self, traffic: &Traffic) -> Self {
        let mut this = self.clone();
        if let Protocol::Tcp(config) = &mut this.protocol {
            config.nagle &= traffic.connections.firsts().next().is_none();
        }
        this
    }
}

/// Reads the parameters of `protocol`, apart from those `ignored`; the section overrides its values, which are those of
/// `source`.
fn read(section: &Section<'_>, source: &str, mut protocol: Protocol, ignored: &[&str]) -> Option<Protocol> {
    let mut all = protocol.parameters();
    let custom = protocol.controller();
    all.extend(custom.iter().flat_map(|info| info.params).map(|param| (param, param.default.into())));
    let (mut given, mut good) = (Given::new(), true);
    let is_parameter =
        |key: &str| ![PROFILE.name, PROTOCOL.name, RULE.name].contains(&key) && !ignored.contains(&key);
    for entry in section.table.0.iter().filter(|entry| is_parameter(&entry.key)) {
        let Some((param, value)) = all.iter().find(|(param, _)| param.name == entry.key) else {
            good = false;
            unknown(section, entry, protocol.name(), &all);
            continue;
        };
        let valid = param.valid().map_or_else(String::new, |valid| format!("; valid: {valid}"));
        let is_custom = custom.is_some_and(|info| info.has(param.name));
        let source = if is_custom { "the controller" } else { source };
        match section.param(param, &format!("{valid}; {source} has {}", json!(value))) {
            Some(value) => drop(given.insert(entry.key.clone(), value)),
            None => good = false,
        }
    }
    protocol.set(&given);
    if let Err(error) = protocol.config().validate() {
        let entry = section.table.entry(error.name);
        let span = entry.map_or(section.span, |entry| entry.node.span);
        let message = format!("`transport.{}` is {}", error.name, error.found);
        section.problem(span, message, format!("expected {}", error.expected));
        good = false;
    }
    good.then_some(protocol)
}

/// Reports a key that is none of the parameters `all` of the protocol `name`.
fn unknown(section: &Section<'_>, entry: &Entry, name: &str, all: &[(&ParamInfo, ParamValue)]) {
    let key = entry.key.as_str();
    let problem = Problem::at(entry.span, format!("unknown key `{key}` in [transport]"));
    let names = || all.iter().map(|(param, _)| param.name);
    let has_it = |other: &Protocol| other.parameters().iter().any(|(param, _)| param.name == key);
    let nearest = key_synonym("transport", key)
        .or_else(|| nearest(key, names().chain([PROTOCOL.name, PROFILE.name, RULE.name])));
    let owners: Vec<String> = Protocol::all()
        .iter()
        .filter(|other| has_it(other))
        .map(|owner| format!("\"{}\"", owner.name()))
        .collect();
    section.problems.add(match (owners.as_slice(), nearest) {
        ([_, ..], _) => {
            let owners = alternatives(&owners);
            problem.label(format!("not a parameter of \"{name}\"; protocol = {owners} has it"))
        }
        ([], Some(nearest)) => problem.label(format!("did you mean `{nearest}`?")),
        ([], None) => problem
            .label(format!("not a parameter of \"{name}\""))
            .help(format!("expected one of {}", list(names()))),
    });
}
