//! [`Descriptor`]: a scheme as all code outside of it sees it. Each scheme's file declares its own, so that no other
//! code compares names of schemes.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use weft_fabric::Fabric;
use weft_units::ParamInfo;

use crate::over;
use crate::spec::{Contradiction, SchemeSpec};
use crate::split::Split;

/// A requirement beyond Ethernet switches with routes and hosts with TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Switches made for the scheme.
    NewSwitch,
    /// Hosts with Multipath TCP.
    MultipathHost,
    /// Hosts made for the scheme.
    NewHost,
    /// A central controller.
    Controller,
}

/// The unit for which switches find a path by racing copies of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explores {
    /// Each station.
    Stations,
    /// Each TCP connection.
    Connections,
    /// Each connection that its classifier selects.
    Elephants,
}

/// The computed next hops that a switch uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hops {
    /// For each host, the port to the neighbour with the lowest ID.
    Lowest,
    /// For each host, all ports on shortest paths.
    EqualCost,
}

/// The form of [`crate::Header::overlay`] in the frames between switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlay {
    /// None: it stands for a header whose format the scheme leaves open.
    Open,
    /// A tag of Tag-and-Forward ([`crate::Header::tag`]).
    Tag,
    /// Another destination address ([`crate::Header::label`]).
    Label,
}

/// The checks of a scheme that is compiled into a module of its own: only the module can apply them.
pub trait Checks: Sync + Debug {
    /// SHA-256 of the module's file, in hexadecimal.
    fn sha256(&self) -> &str;

    /// [`Descriptor::contradiction`] in the module.
    fn contradiction(&self, spec: &SchemeSpec) -> Option<Contradiction>;

    /// Whether the scheme has a [`Descriptor::misfit`].
    fn is_choosy(&self) -> bool;

    /// [`Descriptor::misfit`] in the module.
    fn misfit(&self, spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction>;
}

/// A scheme as users and other code see it.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Where it chooses paths.
    pub decides: &'static str,
    /// The measurements on which the choice depends, besides the destination and hashes.
    pub observes: &'static str,
    /// The paper, standard or program that it follows.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its requirements.
    pub needs: &'static [Need],
    /// Whether hosts choose paths, over another scheme's switches.
    pub is_at_hosts: bool,
    /// The unit of exploration, if it explores.
    pub explores: Option<Explores>,
    /// Whether it sends frames of its own, apart from Hello messages and those of an exploration.
    pub has_own_frames: bool,
    /// The computed next hops in use, if any.
    pub next_hops: Option<Hops>,
    /// How it divides traffic among paths, if routes and link rates alone decide.
    pub split: fn(&SchemeSpec) -> Option<Split>,
    /// Bytes by which a tag lengthens packets between switches.
    pub tag_bytes: u32,
    /// Whether its switches have routes to each interface of a host with several.
    pub knows_interfaces: fn(&SchemeSpec) -> bool,
    /// The form of the frames' overlay.
    pub overlay: Overlay,
    /// The mode of the Linux switch that runs it, if any.
    pub linux_mode: Option<&'static str>,
    /// Finds the first contradiction among its parameters, each of which is in its range.
    pub contradiction: fn(&SchemeSpec) -> Option<Contradiction>,
    /// Finds the reason why it does not run on a fabric; `None` if it runs on all. The parameter to change is `name` if
    /// no other helps.
    pub misfit: Option<fn(&SchemeSpec, &Fabric) -> Option<Contradiction>>,
    /// The module that holds it, unless it is compiled into the program. Its checks then replace the two above.
    pub module: Option<&'static dyn Checks>,
}

impl Descriptor {
    /// A scheme without parameters or requirements, for all fabrics, in the simulator only. Each scheme replaces the
    /// name and the fields in which it differs.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        decides: "",
        observes: "",
        source: "",
        params: &[],
        needs: &[],
        is_at_hosts: false,
        explores: None,
        has_own_frames: false,
        next_hops: None,
        split: |_| None,
        tag_bytes: 0,
        knows_interfaces: |_| false,
        overlay: Overlay::Open,
        linux_mode: None,
        contradiction: |_| None,
        misfit: None,
        module: None,
    };

    /// A plain scheme of hosts over switches with equal-cost routes.
    pub const AT_HOSTS: Self = Self { is_at_hosts: true, next_hops: Some(Hops::EqualCost), ..Self::PLAIN };

    /// The first contradiction among the parameters of `spec`.
    pub fn contradiction_of(&self, spec: &SchemeSpec) -> Option<Contradiction> {
        match self.module {
            Some(module) => module.contradiction(spec),
            None => self.out_of_range(spec).or_else(|| (self.contradiction)(spec)),
        }
    }

    /// The first parameter of `spec` that is out of its range.
    fn out_of_range(&self, spec: &SchemeSpec) -> Option<Contradiction> {
        self.params.iter().find_map(|param| {
            let value = spec.params.get(param.name)?;
            Some(Contradiction::of(param.name, value, format!("expected {}", param.refusal(value)?)))
        })
    }

    /// Whether there may be fabrics that it does not run on.
    pub fn is_choosy(&self) -> bool {
        self.module.map_or(self.misfit.is_some(), Checks::is_choosy)
    }

    /// Why it does not run on `fabric`.
    pub fn misfit_of(&self, spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
        if fabric.has_scale_up() && (self.next_hops.is_none() || self.needs.contains(&Need::Controller)) {
            let reason = "hosts of a scale-up domain reach each other by routes".to_owned();
            let expected = "a scheme that follows computed routes, such as `ecmp`, `spray` or `adaptive`";
            return Some(Contradiction::of_fabric(self.name, reason, expected));
        }
        match self.module {
            Some(module) => module.misfit(spec, fabric),
            None => self.misfit?(spec, fabric),
        }
    }

    /// Whether its switches follow computed routes under `spec`, so that a change of a link has effect after the control
    /// plane's reaction time. Exploring schemes, unless their default forwarding is computed, and schemes that leave all
    /// paths to a central controller find out themselves.
    pub fn is_routed(&self, spec: &SchemeSpec) -> bool {
        let is_placed = self.needs.contains(&Need::Controller) && self.next_hops.is_none();
        (self.explores.is_none() || over::is_computed(spec)) && !is_placed
    }
}
