//! [`Scheme`]: the entry point of a module's code.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_switching::{Blueprint, Descriptor, Forwarding, SchemeSpec};

/// The circumstances of a run for which switches are built.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// Its equal-cost paths.
    pub routes: &'a Arc<Forwarding>,
    /// The seed of the run, from which the scheme derives its keys.
    pub seed: u64,
    /// The parameters given in the scenario; those that are missing have their defaults.
    pub parameters: &'a SchemeSpec,
}

/// A path-selection scheme, which builds its switches.
pub trait Scheme: Blueprint + Sized {
    /// Name, description, parameters and checks.
    const DESCRIPTOR: Descriptor;

    /// The scheme of one run.
    fn new(setting: &Setting<'_>) -> Self;
}
