//! [`Selected`]: the host scheme that a scenario names, one type for all of them, so that an engine is compiled once.

use std::sync::Arc;

use weft_transport::Segment;
use weft_units::Time;

use super::clove::{self, Clove};
use super::drb::Drb;
use super::flowbender::{self, FlowBender};
use super::hermes::{self, Hermes};
use super::path_selector::{Host, Opening, PathSelector};
use super::path_states::PathStates;
use super::path_weights::PathWeights;
use super::plb::{self, Plb};
use super::presto::{self, Presto};
use crate::spec::SchemeSpec;
use crate::{Header, stream};
use rand_core::RngCore;

/// The parameters of the scheme that was named.
enum Named {
    Clove(clove::Scheme),
    Drb,
    FlowBender(flowbender::Scheme),
    Hermes(hermes::Scheme),
    Plb(plb::Scheme),
    Presto(presto::Scheme),
}

/// A host scheme with its parameters.
pub struct Selecting {
    named: Named,
    secret: u64,
}

impl Selecting {
    /// The host scheme of `spec` in the run with `seed`; `None` if `spec` names none.
    pub fn new(spec: &SchemeSpec, seed: u64) -> Option<Self> {
        let named = match spec.name.as_str() {
            "clove" => Named::Clove(clove::Scheme::of(&spec.params)),
            "drb" => Named::Drb,
            "flowbender" => Named::FlowBender(flowbender::Scheme::of(&spec.params)),
            "hermes" => Named::Hermes(hermes::Scheme::new(spec)),
            "plb" => Named::Plb(plb::Scheme::of(&spec.params)),
            "presto" => Named::Presto(presto::Scheme::of(&spec.params)),
            _ => return None,
        };
        Some(Self { named, secret: stream(seed, "hosts", 0).next_u64() })
    }
}

/// The selected scheme's state at one end of a connection.
pub enum Selected {
    /// See [`Clove`].
    Clove(Clove),
    /// See [`Drb`].
    Drb(Drb),
    /// See [`FlowBender`].
    FlowBender(FlowBender),
    /// See [`Hermes`].
    Hermes(Box<Hermes>),
    /// See [`Plb`].
    Plb(Plb),
    /// See [`Presto`].
    Presto(Presto),
}

/// The state that ends at one host share.
#[derive(Default)]
pub struct Shared {
    weights: PathWeights,
    states: PathStates,
}

/// Calls `$call` with the selector as `$end` and its surroundings as `$at`.
macro_rules! dispatch {
    ($self:ident, $host:ident, $end:ident, $at:ident => $call:expr) => {{
        let now = $host.now;
        match ($self, &$host.scheme.named) {
            (Selected::Clove($end), Named::Clove(scheme)) => {
                let $at = &mut Host { scheme, shared: &mut $host.shared.weights, now };
                $call
            }
            (Selected::Drb($end), _) => {
                let $at = &mut Host { scheme: &(), shared: &mut (), now };
                $call
            }
            (Selected::FlowBender($end), Named::FlowBender(scheme)) => {
                let $at = &mut Host { scheme, shared: &mut (), now };
                $call
            }
            (Selected::Hermes($end), Named::Hermes(scheme)) => {
                let $at = &mut Host { scheme, shared: &mut $host.shared.states, now };
                $call
            }
            (Selected::Plb($end), Named::Plb(scheme)) => {
                let $at = &mut Host { scheme, shared: &mut (), now };
                $call
            }
            (Selected::Presto($end), Named::Presto(scheme)) => {
                let $at = &mut Host { scheme, shared: &mut (), now };
                $call
            }
            _ => Default::default(),
        }
    }};
}

impl PathSelector for Selected {
    type Scheme = Selecting;
    type Shared = Shared;

    fn needs_paths(scheme: &Selecting) -> bool {
        match &scheme.named {
            Named::Clove(scheme) => Clove::needs_paths(scheme),
            Named::Drb => Drb::needs_paths(&()),
            Named::FlowBender(scheme) => FlowBender::needs_paths(scheme),
            Named::Hermes(scheme) => Hermes::needs_paths(scheme),
            Named::Plb(scheme) => Plb::needs_paths(scheme),
            Named::Presto(scheme) => Presto::needs_paths(scheme),
        }
    }

    fn shares(scheme: &Selecting) -> bool {
        matches!(scheme.named, Named::Clove(_) | Named::Hermes(_))
    }

    fn open(scheme: &Selecting, opening: Opening) -> Self {
        let opening = Opening { random: crate::mix64(opening.random ^ scheme.secret), ..opening };
        match &scheme.named {
            Named::Clove(scheme) => Self::Clove(Clove::open(scheme, opening)),
            Named::Drb => Self::Drb(Drb::open(&(), opening)),
            Named::FlowBender(scheme) => Self::FlowBender(FlowBender::open(scheme, opening)),
            Named::Hermes(scheme) => Self::Hermes(Box::new(Hermes::open(scheme, opening))),
            Named::Plb(scheme) => Self::Plb(Plb::open(scheme, opening)),
            Named::Presto(scheme) => Self::Presto(Presto::open(scheme, opening)),
        }
    }

    fn renew(&mut self, paths: Arc<[u32]>) {
        match self {
            Self::Clove(end) => end.renew(paths),
            Self::Drb(end) => end.renew(paths),
            Self::FlowBender(end) => end.renew(paths),
            Self::Hermes(end) => end.renew(paths),
            Self::Plb(end) => end.renew(paths),
            Self::Presto(end) => end.renew(paths),
        }
    }

    #[inline]
    fn stamp(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        dispatch!(self, host, end, at => end.stamp(at, template, segment));
    }

    #[inline]
    fn receive(&mut self, host: &mut Host<'_, Self>, header: &Header, segment: &Segment) -> bool {
        dispatch!(self, host, end, at => end.receive(at, header, segment))
    }

    fn timed_out(&mut self, host: &mut Host<'_, Self>) {
        dispatch!(self, host, end, at => end.timed_out(at));
    }

    #[inline]
    fn release(&mut self, now: Time, segment: &mut Segment) -> bool {
        match self {
            Self::Presto(end) => end.release(now, segment),
            _ => false,
        }
    }

    #[inline]
    fn wakes_at(&self) -> Time {
        match self {
            Self::Presto(end) => end.wakes_at(),
            _ => Time::MAX,
        }
    }

    #[inline]
    fn own(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &mut Segment) -> bool {
        match (self, &host.scheme.named) {
            (Self::Hermes(end), Named::Hermes(scheme)) => {
                let mut at = Host { scheme, shared: &mut host.shared.states, now: host.now };
                end.own(&mut at, template, segment)
            }
            _ => false,
        }
    }
}
