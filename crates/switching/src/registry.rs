//! The available schemes: their descriptors and constructors. The command line, the scenario schema and the
//! documentation are derived from this list.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_transport::ControllerInfo;

use crate::arp_path::ArpPathSwitch;
use crate::blueprint::Blueprint;
use crate::default_forwarding::Over;
use crate::descriptor::{Descriptor, Explores};
use crate::exploring::Exploring;
use crate::host::over::over;
use crate::host::selected::Selecting;
use crate::host::{clove, drb, flowbender, hermes, plb, presto};
use crate::spec::{SchemeError, SchemeSpec};
use crate::tcp_path::TcpPathSwitch;
use crate::tfe::{Classifier, TfeSwitch};
use crate::{
    Forwarding, adaptive, arp_path, conga, conweave, drill, ecmp, flowcut, hedera, hula, letflow,
    single_path, smoc, spanning_tree, spray, tag_forward, tcp_path, tfe, wcmp,
};

const SCHEMES: &[Descriptor] = &[
    adaptive::DESCRIPTOR,
    arp_path::DESCRIPTOR,
    clove::DESCRIPTOR,
    conga::DESCRIPTOR,
    conweave::DESCRIPTOR,
    drb::DESCRIPTOR,
    drill::DESCRIPTOR,
    ecmp::DESCRIPTOR,
    flowbender::DESCRIPTOR,
    flowcut::DESCRIPTOR,
    hedera::DESCRIPTOR,
    hermes::DESCRIPTOR,
    hula::DESCRIPTOR,
    letflow::DESCRIPTOR,
    plb::DESCRIPTOR,
    presto::DESCRIPTOR,
    single_path::DESCRIPTOR,
    smoc::DESCRIPTOR,
    spanning_tree::DESCRIPTOR,
    spray::DESCRIPTOR,
    tag_forward::DESCRIPTOR,
    tcp_path::DESCRIPTOR,
    tfe::DESCRIPTOR,
    wcmp::DESCRIPTOR,
];

/// Every scheme, by name.
pub fn registry() -> &'static [Descriptor] {
    SCHEMES
}

/// The scheme with this name.
pub fn descriptor(name: &str) -> Option<&'static Descriptor> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// The unit for which the scheme with this name explores, if it does.
pub fn explores(name: &str) -> Option<Explores> {
    descriptor(name)?.explores
}

/// The schemes that a scenario may name, of the registry and of modules, and the congestion controllers of modules.
#[derive(Clone, Debug, Default)]
pub struct Schemes {
    /// The schemes of modules.
    pub modules: Vec<&'static Descriptor>,
    /// The congestion controllers of modules.
    pub controllers: Vec<&'static ControllerInfo>,
}

impl Schemes {
    /// Every scheme, those of the registry first.
    pub fn iter(&self) -> impl Iterator<Item = &'static Descriptor> + Clone + '_ {
        SCHEMES.iter().chain(self.modules.iter().copied())
    }

    /// The scheme with this name.
    pub fn get(&self, name: &str) -> Option<&'static Descriptor> {
        self.iter().find(|scheme| scheme.name == name)
    }
}

/// An operation on a scheme whose type is known only at run time. The visitor is compiled for each scheme.
pub trait SchemeVisitor {
    /// Its result.
    type Output;

    /// Called with the requested scheme.
    fn visit<B: Blueprint>(self, blueprint: B) -> Self::Output;

    /// Called with the requested host scheme and the scheme of its switches. Only visitors with hosts look at the first.
    fn visit_hosts<B: Blueprint + Sync>(self, _hosts: Selecting, blueprint: B) -> Self::Output
    where
        Self: Sized,
    {
        self.visit(blueprint)
    }
}

/// Builds the scheme of `spec` over `routes`, those of `fabric`, and passes it to `visitor`. `seed` is that of the run.
///
/// # Errors
/// [`SchemeError::UnknownScheme`] if the registry does not have the name, [`SchemeError::Fabric`] for a fabric that it does
/// not support.
pub fn visit_scheme<V: SchemeVisitor>(
    spec: &SchemeSpec,
    fabric: &Fabric,
    routes: &Arc<Forwarding>,
    seed: u64,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    if let Some(hosts) = Selecting::new(spec, seed) {
        return visit_under(hosts, &over(spec), fabric, routes, seed, visitor);
    }
    let routes = Arc::clone(routes);
    Ok(match spec.name.as_str() {
        "adaptive" => visitor.visit(adaptive::Adaptive::new(routes, spec)),
        "arp_path" => {
            let make = |config: &_, ways, secret, _| ArpPathSwitch::new(config, ways, secret);
            visitor.visit(Exploring::new(seed, spec, make))
        }
        "conga" => visitor.visit(conga::Conga::new(fabric, routes, seed, spec)?),
        "conweave" => visitor.visit(conweave::ConWeave::new(fabric, routes, seed, spec)?),
        "drill" => visitor.visit(drill::Drill::new(routes, seed, spec)),
        "ecmp" => visitor.visit(ecmp::Ecmp::new(routes, seed, spec)),
        "flowcut" => visitor.visit(flowcut::Flowcut::new(routes, seed, spec)),
        "hedera" => visitor.visit(hedera::Hedera::new(fabric, routes, seed, spec)),
        "hula" => visitor.visit(hula::Hula::new(fabric, routes, seed, spec)?),
        "letflow" => visitor.visit(letflow::LetFlow::new(routes, spec)),
        "single_path" => visitor.visit(single_path::SinglePath::new(routes)),
        "smoc" => visitor.visit(smoc::Smoc::new(spec)),
        "spanning_tree" => visitor
            .visit(spanning_tree::SpanningTreeScheme::new(routes, spanning_tree::Config::of(&spec.params))),
        "spray" => visitor.visit(spray::Spray::new(routes)),
        "tag_forward" => visitor.visit(tag_forward::TagForward::new(fabric, seed, spec)?),
        "tcp_path" => {
            let over = Over::new(routes, seed, spec);
            let make = |config: &_, ways, secret, node| {
                TcpPathSwitch::new(config, ways, secret).over(over.at(fabric, node))
            };
            visitor.visit(Exploring::new(seed, spec, make))
        }
        "tfe" => {
            let (by, over) = (Classifier::from_spec(spec), Over::new(routes, seed, spec));
            let make = |config: &_, ways, secret, node| {
                TfeSwitch::new(config, ways, by.clone(), secret).over(over.at(fabric, node))
            };
            visitor.visit(Exploring::new(seed, spec, make))
        }
        "wcmp" => visitor.visit(wcmp::Wcmp::new(routes, seed, spec)),
        name => {
            let known = SCHEMES.iter().map(|scheme| scheme.name).collect();
            return Err(SchemeError::UnknownScheme { name: name.to_owned(), known });
        }
    })
}

/// Builds the scheme `spec` of the switches under `hosts`.
fn visit_under<V: SchemeVisitor>(
    hosts: Selecting,
    spec: &SchemeSpec,
    fabric: &Fabric,
    routes: &Arc<Forwarding>,
    seed: u64,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    let routes = Arc::clone(routes);
    Ok(match spec.name.as_str() {
        "adaptive" => visitor.visit_hosts(hosts, adaptive::Adaptive::new(routes, spec)),
        "drill" => visitor.visit_hosts(hosts, drill::Drill::new(routes, seed, spec)),
        "letflow" => visitor.visit_hosts(hosts, letflow::LetFlow::new(routes, spec)),
        "spray" => visitor.visit_hosts(hosts, spray::Spray::new(routes)),
        "tag_forward" => visitor.visit_hosts(hosts, tag_forward::TagForward::new(fabric, seed, spec)?),
        "wcmp" => visitor.visit_hosts(hosts, wcmp::Wcmp::new(routes, seed, spec)),
        _ => visitor.visit_hosts(hosts, ecmp::Ecmp::new(routes, seed, spec)),
    })
}
