//! [`Group`]: a description of flows of one kind.

use weft_units::Duration;

use crate::arrivals::Arrivals;
use crate::collective::Collective;
use crate::lane::Lane;
use crate::listed::ListedFlow;
use crate::load_of::LoadOf;
use crate::pairs::Pairs;
use crate::placement::Ranks;
use crate::program::Program;
use crate::sizes::Sizes;
use crate::stragglers::Stragglers;
use crate::tuner::Tuner;
use crate::workload::{Inference, Training};

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The class that its flows are reported in; by size if `None`.
    pub class: Option<String>,
    /// The DSCP of its flows' packets, 0 to [`MAX_DSCP`](crate::MAX_DSCP).
    pub dscp: u8,
    /// The first and the last source port of flows above the elephant threshold; `None` to treat them like
    /// all flows.
    pub elephant_ports: Option<(u16, u16)>,
    /// The interfaces of its flows.
    pub lane: Lane,
    /// Those of its ranks that compute slowly.
    pub stragglers: Stragglers,
    /// The flows.
    pub flows: Flows,
}

/// The source of a group's flows.
#[derive(Clone, PartialEq, Debug)]
pub enum Flows {
    /// Drawn from distributions.
    Drawn(Drawn),
    /// Given individually.
    Listed(Vec<ListedFlow>),
    /// Given individually with the order between them, at hosts or, if `Some`, at ranks.
    Ordered(Program, Option<Ranks>),
    /// A collective operation of these ranks, whose algorithm a table chooses if there is one.
    Collective(Collective, Ranks, Option<Tuner>),
    /// Steps of training among these ranks.
    Training(Training, Ranks),
    /// Requests to a model among these ranks.
    Inference(Inference, Ranks),
}

/// How flows are drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// Their sizes.
    pub sizes: Sizes,
    /// Their start times.
    pub arrivals: Arrivals,
    /// Their arrival rate; `None` if only their number is given.
    pub intensity: Option<Intensity>,
    /// Their number: a maximum if an intensity is given too, otherwise exact.
    pub count: Option<u64>,
    /// Their sources and destinations.
    pub pairs: Pairs,
    /// The earliest start.
    pub start: Duration,
    /// Each start is delayed by a random time below this.
    pub jitter: Duration,
}

/// The arrival rate of flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Intensity {
    /// The rate at which flows offer a load of `share` on the links of `of`.
    Load {
        /// Fraction of the capacity, payload only.
        share: f64,
        /// The links concerned.
        of: LoadOf,
    },
    /// Flows per second.
    FlowsPerSecond(f64),
}

impl Flows {
    /// The hosts of their ranks, if they have ranks.
    pub(crate) const fn ranks(&self) -> Option<&Ranks> {
        match self {
            Self::Ordered(_, ranks) => ranks.as_ref(),
            Self::Collective(_, ranks, _) | Self::Training(_, ranks) | Self::Inference(_, ranks) => {
                Some(ranks)
            }
            Self::Drawn(_) | Self::Listed(_) => None,
        }
    }

    /// Why no rank of theirs computes, and how one would.
    pub(crate) fn without_computation(&self) -> String {
        match self {
            Self::Collective(collective, ..) if collective.compute > Duration::ZERO => format!(
                "in one round of `{}`, no rank sends data after it has received some, so none computes before it \
                 sends: set `repeats` to 2 or more",
                collective.algorithm
            ),
            Self::Collective(..) => {
                "the ranks compute nothing, so none can be slow: set `compute`".to_owned()
            }
            _ => "the ranks compute nothing, so none can be slow: remove `stragglers`".to_owned(),
        }
    }
}

impl Group {
    /// Whether some of its flows are classified by size.
    pub(crate) fn names_by_size(&self) -> bool {
        let listed_without = |list: &[ListedFlow]| list.iter().any(|flow| flow.class.is_none());
        let list = match &self.flows {
            Flows::Listed(list) => Some(list),
            Flows::Ordered(program, _) => Some(&program.flows),
            Flows::Drawn(_) | Flows::Collective(..) => None,
            Flows::Training(..) | Flows::Inference(..) => return false,
        };
        self.class.is_none() && list.is_none_or(|list| listed_without(list))
    }

    /// The group's name in notes, as in a scenario.
    pub(crate) fn name(&self, index: usize) -> String {
        self.class.as_ref().map_or_else(|| format!("traffic.{index}"), |class| format!("traffic.{class}"))
    }
}

impl Intensity {
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Load { .. } => "load",
            Self::FlowsPerSecond(_) => "number of flows per second",
        }
    }

    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Load { share, .. } => share,
            Self::FlowsPerSecond(flows) => flows,
        }
    }
}
