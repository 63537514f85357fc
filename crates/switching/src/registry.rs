//! The available schemes: names, parameters, constructors. The command line, the scenario schema and the documentation
//! are derived from this list.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_fabric::Fabric;
use weft_units::{Bytes, Duration, NodeId};

use crate::arp_path::ArpPathSwitch;
use crate::exploration::Exploring;
use crate::tcp_path::TcpPathSwitch;
use crate::tfe::{Classifier, TfeSwitch};
use crate::{
    Forwarding, Switch, arp_path, ecmp, exploration, single_path, smoc, spanning_tree, spray, tag_forward,
    tcp_path, tfe,
};

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// One of several words.
    Choice(&'static [&'static str]),
    /// A duration with its unit.
    Duration,
    /// A size with its unit.
    Bytes,
    /// A positive integer.
    Count,
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ParamInfo {
    /// The key in the scenario's `[scheme]`.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// The default, as text.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

impl ParamInfo {
    /// A duration.
    pub(crate) const fn duration(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: ParamKind::Duration, default, doc }
    }

    /// A positive integer.
    pub(crate) const fn count(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: ParamKind::Count, default, doc }
    }

    /// One of these words.
    pub(crate) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, kind: ParamKind::Choice(words), default, doc }
    }
}

/// A scheme as users see it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SchemeInfo {
    /// The name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
}

/// A parameter's value, checked against its [`ParamKind`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// An integer.
    Count(u64),
    /// A duration.
    Duration(Duration),
    /// A size.
    Bytes(Bytes),
    /// One of several words.
    Text(String),
}

/// A scheme with the parameters given in a scenario; others have their defaults.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SchemeSpec {
    /// The name in the registry.
    pub name: String,
    /// The parameters given.
    pub params: BTreeMap<String, ParamValue>,
}

impl SchemeSpec {
    /// The integer given for `param`.
    pub fn count(&self, param: &str) -> Option<u64> {
        match self.params.get(param) {
            Some(ParamValue::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// The duration given for `param`.
    pub fn duration(&self, param: &str) -> Option<Duration> {
        match self.params.get(param) {
            Some(ParamValue::Duration(time)) => Some(*time),
            _ => None,
        }
    }

    /// The word given for `param`.
    pub fn word(&self, param: &str) -> Option<&str> {
        match self.params.get(param) {
            Some(ParamValue::Text(word)) => Some(word),
            _ => None,
        }
    }
}

/// Why a [`SchemeSpec`] is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SchemeError {
    /// The registry does not have the name.
    #[error("unknown scheme `{name}`; available: {}", known.join(", "))]
    UnknownScheme {
        /// The given name.
        name: String,
        /// The available names.
        known: Vec<&'static str>,
    },
    /// The scheme does not support this fabric.
    #[error("`{name}` does not run on this fabric: {reason}")]
    Fabric {
        /// The scheme.
        name: &'static str,
        /// Why.
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

/// Whether the scheme `name` finds paths by racing copies of a frame.
pub fn explores(name: &str) -> bool {
    matches!(name, "arp_path" | "tcp_path" | "tfe")
}

/// A scheme's central controller.
pub struct Central {
    /// Its decisions.
    pub controller: Box<dyn weft_control::Controller>,
    /// Its delays.
    pub timing: Timing,
}

/// The delays from a controller's decision until it takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// One-way delay between a switch and the controller.
    pub control_delay: Duration,
    /// Time from a decision of the controller until it is sent.
    pub install_delay: Duration,
    /// Time a switch needs to install a rule, one at a time.
    pub rule_latency: Duration,
}

/// Values of Open vSwitch with a controller on the same machine.
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
    pub(crate) const CONTROL_DELAY: ParamInfo =
        ParamInfo::duration("control_delay", "100 us", "one-way delay between a switch and the controller");
    /// The parameter of [`Timing::install_delay`].
    pub(crate) const INSTALL_DELAY: ParamInfo = ParamInfo::duration(
        "install_delay",
        "0 s",
        "time from a decision of the controller until it is sent",
    );
    /// The parameter of [`Timing::rule_latency`].
    pub(crate) const RULE_LATENCY: ParamInfo =
        ParamInfo::duration("rule_latency", "150 us", "time a switch needs to install a rule, one at a time");

    /// The delays given in `spec`.
    pub(crate) fn from_spec(spec: &SchemeSpec) -> Self {
        let given = |param: ParamInfo, otherwise| spec.duration(param.name).unwrap_or(otherwise);
        let by_default = Self::default();
        Self {
            control_delay: given(Self::CONTROL_DELAY, by_default.control_delay),
            install_delay: given(Self::INSTALL_DELAY, by_default.install_delay),
            rule_latency: given(Self::RULE_LATENCY, by_default.rule_latency),
        }
    }
}

/// A scheme ready to build its switches.
pub trait Blueprint {
    /// The state machine of one switch.
    type Switch: Switch;

    /// The switch at `node`.
    fn switch(&self, fabric: &Fabric, node: NodeId) -> Self::Switch;

    /// The central controller, if any.
    fn central(&self) -> Option<Central> {
        None
    }

    /// Lifetime of ARP entries, if hosts send ARP Requests.
    fn arp_cache(&self) -> Option<Duration> {
        None
    }
}

/// Parameters that contradict each other or are out of range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The parameter to change.
    pub param: &'static str,
    /// What is wrong.
    pub message: String,
    /// The expected value.
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

/// Why `fabric` does not support the scheme of `spec`. The parameter to change is `name` if no other helps.
pub fn misfit(spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    if needs_shape(&spec.name) { tag_forward::misfit(spec, fabric) } else { None }
}

/// Whether the scheme `name` requires a certain topology.
pub fn needs_shape(name: &str) -> bool {
    name == tag_forward::INFO.name
}

/// An operation on a scheme whose type is known only at run time. The visitor is compiled for each scheme, so that no
/// packet pays for dynamic dispatch.
pub trait SchemeVisitor {
    /// Its result.
    type Output;

    /// Called with the requested scheme.
    fn visit<B: Blueprint>(self, blueprint: B) -> Self::Output;
}

/// Builds the scheme of `spec` over `routes`, those of `fabric`, and passes it to `visitor`. `seed` is that of the run.
///
/// # Errors
/// [`SchemeError::UnknownScheme`] if the registry does not have the name, [`SchemeError::Fabric`] for a [`misfit`].
pub fn visit_scheme<V: SchemeVisitor>(
    spec: &SchemeSpec,
    fabric: &Fabric,
    routes: &Arc<Forwarding>,
    seed: u64,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    let routes = Arc::clone(routes);
    Ok(match spec.name.as_str() {
        "arp_path" => visitor.visit(Exploring::new(seed, spec, ArpPathSwitch::new)),
        "ecmp" => visitor.visit(ecmp::Ecmp::new(routes, seed, spec)),
        "single_path" => visitor.visit(single_path::SinglePath::new(routes)),
        "smoc" => visitor.visit(smoc::Smoc::new(spec)),
        "spanning_tree" => visitor.visit(spanning_tree::SpanningTreeScheme::new(routes, spec)),
        "spray" => visitor.visit(spray::Spray::new(routes)),
        "tag_forward" => visitor.visit(tag_forward::TagForward::new(fabric, seed, spec)?),
        "tcp_path" => visitor.visit(Exploring::new(seed, spec, TcpPathSwitch::new)),
        "tfe" => {
            let by = Classifier::from_spec(spec);
            let make = |config: &_, ways, secret| TfeSwitch::new(config, ways, by.clone(), secret);
            visitor.visit(Exploring::new(seed, spec, make))
        }
        name => {
            let known = SCHEMES.iter().map(|scheme| scheme.name).collect();
            return Err(SchemeError::UnknownScheme { name: name.to_owned(), known });
        }
    })
}
