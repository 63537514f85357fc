//! The schemes there are: names, parameters, constructors. The one list from which the command
//! line, the scenario's schema and the documentation are made.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_fabric::Fabric;
use weft_units::{Bytes, Duration, NodeId};

use crate::{
    Forwarding, Switch, arp_path, ecmp, exploration, single_path, smoc, spanning_tree, spray, tag_forward,
    tcp_path, tfe,
};

/// What may stand for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A span of time with its unit.
    Duration,
    /// A size with its unit.
    Bytes,
    /// A whole number, at least 1.
    Count,
    /// `true` or `false`.
    Switch,
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ParamInfo {
    /// The key in the scenario's `[scheme]`.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParamKind,
    /// The value where none is given, as text.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A scheme as users see it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SchemeInfo {
    /// The name in scenarios.
    pub name: &'static str,
    /// One line of what it does.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
}

/// A parameter's value, checked against its [`ParamKind`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Count(u64),
    /// A span of time.
    Duration(Duration),
    /// A size.
    Bytes(Bytes),
    /// One of a few words.
    Text(String),
}

/// A scheme with the parameters that a scenario gives it; what is not given has its default.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SchemeSpec {
    /// The name in the registry.
    pub name: String,
    /// The parameters given.
    pub params: BTreeMap<String, ParamValue>,
}

/// Why a [`SchemeSpec`] does not describe a scheme.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SchemeError {
    /// The name is in no registry.
    #[error("unknown scheme `{name}`; there are {}", known.join(", "))]
    UnknownScheme {
        /// What was given.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The scheme cannot be had on this fabric.
    #[error("`{name}` does not run on this fabric: {reason}")]
    Fabric {
        /// The scheme.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}

const SCHEMES: &[SchemeInfo] = &[
    arp_path::INFO,
    ecmp::INFO,
    single_path::INFO,
    smoc::INFO,
    spanning_tree::INFO,
    spray::INFO,
    tag_forward::INFO,
    tcp_path::INFO,
    tfe::INFO,
];

/// Every scheme, by name.
pub fn registry() -> &'static [SchemeInfo] {
    SCHEMES
}

/// Whether the scheme `name` looks for paths by racing copies of a frame.
pub fn explores(name: &str) -> bool {
    matches!(name, "arp_path" | "tcp_path" | "tfe")
}

/// The central controller of a scheme.
pub struct Central {
    /// What it decides.
    pub controller: Box<dyn weft_control::Controller>,
    /// How long its words take.
    pub timing: Timing,
}

/// How long it takes until what a central controller wants is so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Between a switch and the controller, one way.
    pub control_delay: Duration,
    /// What the controller takes before what it has decided leaves it.
    pub install_delay: Duration,
    /// What a switch takes for a rule; it does one at a time.
    pub rule_latency: Duration,
}

/// As with Open vSwitch and a controller on one machine.
impl Default for Timing {
    fn default() -> Self {
        Self {
            control_delay: Duration::from_us(100),
            install_delay: Duration::ZERO,
            rule_latency: Duration::from_us(150),
        }
    }
}

impl Timing {
    /// The parameter of [`Timing::control_delay`].
    pub(crate) const CONTROL_DELAY: ParamInfo = ParamInfo {
        name: "control_delay",
        kind: ParamKind::Duration,
        default: "100 us",
        doc: "one-way delay between a switch and the controller",
    };
    /// That of [`Timing::install_delay`].
    pub(crate) const INSTALL_DELAY: ParamInfo = ParamInfo {
        name: "install_delay",
        kind: ParamKind::Duration,
        default: "0 s",
        doc: "time from a decision of the controller until it is sent",
    };
    /// That of [`Timing::rule_latency`].
    pub(crate) const RULE_LATENCY: ParamInfo = ParamInfo {
        name: "rule_latency",
        kind: ParamKind::Duration,
        default: "150 us",
        doc: "time a switch needs to install a rule, one at a time",
    };

    /// As the parameters of `spec` say.
    pub(crate) fn from_spec(spec: &SchemeSpec) -> Self {
        let given = |param: ParamInfo, otherwise| match spec.params.get(param.name) {
            Some(ParamValue::Duration(time)) => *time,
            _ => otherwise,
        };
        let by_default = Self::default();
        Self {
            control_delay: given(Self::CONTROL_DELAY, by_default.control_delay),
            install_delay: given(Self::INSTALL_DELAY, by_default.install_delay),
            rule_latency: given(Self::RULE_LATENCY, by_default.rule_latency),
        }
    }
}

/// A scheme ready to make its switches.
pub trait Blueprint {
    /// The state machine of one switch.
    type Switch: Switch;

    /// The switch at `node`.
    fn switch(&self, fabric: &Fabric, node: NodeId) -> Self::Switch;

    /// The controller that tells the switches what to do, where there is one.
    fn central(&self) -> Option<Central> {
        None
    }

    /// Where hosts have to ask for addresses: how long they remember them.
    fn arp_cache(&self) -> Option<Duration> {
        None
    }
}

/// Parameters that are right one by one and wrong together, or beyond their range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The parameter to change.
    pub param: &'static str,
    /// What is wrong.
    pub message: String,
    /// What was expected.
    pub expected: String,
}

/// The first contradiction among the parameters of `spec`.
pub fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    if spec.name == "smoc" {
        return smoc::contradiction(spec);
    }
    if !explores(&spec.name) {
        return None;
    }
    let of_classifier = || (spec.name == "tfe").then(|| tfe::contradiction(spec))?;
    exploration::contradiction(spec).or_else(of_classifier)
}

/// Why the scheme of `spec` cannot be had on `fabric`; the parameter to change is `name` where none would help.
pub fn misfit(spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    if needs_shape(&spec.name) { tag_forward::misfit(spec, fabric) } else { None }
}

/// Whether the scheme `name` is for fabrics of one shape only.
pub fn needs_shape(name: &str) -> bool {
    name == tag_forward::INFO.name
}

/// Something to be done with a scheme whose type is known only at run time: the visitor is
/// compiled for each scheme, so that no packet pays for dynamic dispatch.
pub trait SchemeVisitor {
    /// What comes of it.
    type Output;

    /// Called with the scheme that was asked for.
    fn visit<B: Blueprint>(self, blueprint: B) -> Self::Output;
}

/// Builds the scheme that `spec` names over `routes`, those of `fabric`, and hands it to `visitor`. `seed` is the run's.
///
/// # Errors
/// [`SchemeError::UnknownScheme`] where the registry does not have the name, [`SchemeError::Fabric`] where
/// [`misfit`] says why.
pub fn visit_scheme<V: SchemeVisitor>(
    spec: &SchemeSpec,
    fabric: &Fabric,
    routes: &Arc<Forwarding>,
    seed: u64,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    let routes = Arc::clone(routes);
    Ok(match spec.name.as_str() {
        "arp_path" => visitor.visit(arp_path::ArpPath::new(seed, spec)),
        "ecmp" => visitor.visit(ecmp::Ecmp::new(routes, seed, spec)),
        "single_path" => visitor.visit(single_path::SinglePath::new(routes)),
        "smoc" => visitor.visit(smoc::Smoc::new(spec)),
        "spanning_tree" => visitor.visit(spanning_tree::SpanningTreeScheme::new(routes, spec)),
        "spray" => visitor.visit(spray::Spray::new(routes)),
        "tag_forward" => visitor.visit(tag_forward::TagForward::new(fabric, seed, spec)?),
        "tcp_path" => visitor.visit(tcp_path::TcpPath::new(seed, spec)),
        "tfe" => visitor.visit(tfe::Tfe::new(seed, spec)),
        name => {
            let known = SCHEMES.iter().map(|scheme| scheme.name).collect();
            return Err(SchemeError::UnknownScheme { name: name.to_owned(), known });
        }
    })
}
