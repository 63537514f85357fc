//! [`TagForward`]: the scheme in the registry.

use weft_control::tag_forward::Provisioner;
use weft_fabric::Fabric;
use weft_fabric::gates::{GateError, GatePlan, Numbering, TagWidth};
use weft_units::{NodeId, params, words};
use weft_wire::TAG_LEN;

use super::choice::PathChoice;
use super::controller::Provisioning;
use super::flow_table::Limits;
use super::switch::TagForwardSwitch;
use crate::blueprint::{Blueprint, Central};
use crate::descriptor::{Descriptor, Need, Overlay};
use crate::ecmp::hash_id;
use crate::hash::mix64;
use crate::smoc::address;
use crate::spec::{Contradiction, SchemeError, SchemeSpec};
use crate::timing::Timing;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "tag_forward",
    summary: "Tag-and-Forward: on fat-trees, the source switch tags each packet with its path",
    decides: "the source's switch",
    observes: "nothing, or queues of its ports",
    source: "Ishimori et al.",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch, Need::Controller],
    tag_bytes: TAG_LEN as u32,
    overlay: Overlay::Tag,
    linux_mode: Some("tag-forward"),
    misfit: Some(misfit),
    ..Descriptor::PLAIN
};

words! {
    enum Choice {
        Ecmp = "ecmp",
        Spray = "spray",
        LeastLoaded = "least-loaded",
    }
}

words! {
    enum Width {
        Narrow = "narrow",
        Wide = "wide",
    }
}

words! {
    /// The packets that have a QID.
    enum Qid {
        None = "none",
        External = "external",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// path of a packet: by flow hash, random, or random behind the uplink with the shortest queue
        choice: Choice = Choice::Ecmp;
        /// tag format: the paper's, for fat-trees up to k = 24, or Weft's own for larger ones
        width: Width = Width::Narrow;
        /// packets with a QID, 1, which names the egress queue at every gate: none, or those from and to external hosts
        qid: Qid = Qid::None;
        ..timing: Timing;
    }
}

/// Builds the switches and the controller of a fat-tree.
pub struct TagForward<'a> {
    fabric: &'a Fabric,
    plan: GatePlan,
    limits: Limits,
    config: Config,
    seed: u64,
}

fn plan(spec: &SchemeSpec, fabric: &Fabric) -> Result<GatePlan, GateError> {
    let width = match Config::of(&spec.params).width {
        Width::Narrow => TagWidth::Narrow,
        Width::Wide => TagWidth::Wide,
    };
    GatePlan::of(fabric, &Numbering { width, ..Numbering::default() })
}

/// Why `fabric` is not supported.
fn misfit(spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    let error = plan(spec, fabric).err()?;
    let GateError::Bits { k, needs, width: TagWidth::Narrow } = error else {
        return Some(Contradiction::of_fabric(DESCRIPTOR.name, error.to_string(), "a fat-tree"));
    };
    let most = TagWidth::Narrow.max_down();
    let reason = format!("k = {k} needs DOWN numbers up to {needs}, but a narrow tag holds at most {most}");
    let wide = Contradiction::of_fabric(DESCRIPTOR.name, reason, "width = \"wide\"");
    Some(Contradiction { param: "width", ..wide })
}

impl<'a> TagForward<'a> {
    /// The scheme with the parameters of `spec`.
    ///
    /// # Errors
    /// [`SchemeError::Fabric`] if the fabric has no gates.
    pub fn new(fabric: &'a Fabric, seed: u64, spec: &SchemeSpec) -> Result<Self, SchemeError> {
        let plan = plan(spec, fabric)
            .map_err(|error| SchemeError::Fabric { name: DESCRIPTOR.name, reason: error.to_string() })?;
        let (half, most) = (plan.k() as usize / 2, Limits::default());
        // One rule per host and one group per location: no simulated switch's table is too small.
        let limits = Limits {
            rules: most.rules.max(fabric.host_count()),
            groups: most.groups.max(fabric.switch_count() + fabric.host_count()),
            ways: most.ways.max(half * half),
            ..most
        };
        Ok(Self { fabric, plan, limits, config: Config::of(&spec.params), seed })
    }

    fn choice(&self, node: NodeId) -> PathChoice {
        match self.config.choice {
            Choice::Ecmp => PathChoice::Ecmp { key: mix64(hash_id(self.seed, node)) },
            Choice::Spray => PathChoice::Spray,
            Choice::LeastLoaded => PathChoice::LeastLoaded,
        }
    }
}

impl Blueprint for TagForward<'_> {
    type Switch = TagForwardSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> TagForwardSwitch {
        let gates = self.plan.switch(node).expect("a plan has the gates of every switch of its fabric");
        let switch = TagForwardSwitch::new(gates, self.plan.width(), self.limits, self.choice(node));
        switch.expect("the gates of a plan are sound")
    }

    fn central(&self) -> Option<Central> {
        let provisioner = Provisioner::new(self.fabric, self.plan.clone(), |host| vec![address(host)]);
        let provisioner = provisioner.with_external_queue(u8::from(self.config.qid == Qid::External));
        let controller = Provisioning::new(self.fabric, provisioner);
        Some(Central { controller: Box::new(controller), timing: self.config.timing })
    }
}
