//! [`Event`]: a change of links or nodes at a time of a run.

use std::fmt::Write as _;
use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{LinkId, NodeId, Rate, Time};

/// Cables, each by one of its links, and their name in results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cables {
    /// One link of each cable, in order.
    pub links: Arc<[LinkId]>,
    /// Such as `l0-s0`, `l0-s0, l1-s2` or `20 % of the uplinks`.
    pub label: Arc<str>,
    /// Whether the seed draws them.
    pub drawn: bool,
}

/// A new rate of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NewRate {
    /// This fraction, up to 1, of the link's rate as built.
    Fraction(f64),
    /// This rate, at most the link's rate as built.
    To(Rate),
}

impl NewRate {
    /// The new rate of a link that was built with the rate `built`.
    pub fn of(self, built: Rate) -> Rate {
        match self {
            Self::Fraction(fraction) => Rate::from_bps((built.bps() as f64 * fraction).round() as u64),
            Self::To(rate) => rate,
        }
    }
}

/// New properties of links, in both directions; missing ones stay unchanged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkChange {
    /// The rate.
    pub rate: Option<NewRate>,
    /// The share of packets that are lost at random; 0 for none.
    pub loss: Option<f64>,
    /// The share of flows of which all packets are lost; 0 for none.
    pub blackhole: Option<f64>,
}

/// The kind of an [`Event`].
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Cables fail, in both directions.
    FailCables(Cables),
    /// Cables recover.
    HealCables(Cables),
    /// A node fails with all its cables.
    FailNode(NodeId),
    /// A node recovers with its cables, except those that have failed themselves.
    HealNode(NodeId),
    /// Cables get new properties, in both directions.
    ChangeCables(Cables, LinkChange),
}

impl Change {
    /// Its key in `[[event]]`; the steps of a `flap` are `fail` and `heal`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::FailCables(_) => "fail",
            Self::HealCables(_) => "heal",
            Self::FailNode(_) => "fail_node",
            Self::HealNode(_) => "heal_node",
            Self::ChangeCables(..) => "change",
        }
    }

    /// Its target: a node, or cables such as `e0-a1`, with their new properties.
    pub fn target(&self, fabric: &Fabric) -> String {
        match self {
            Self::FailCables(cables) | Self::HealCables(cables) => cables.label.to_string(),
            Self::FailNode(node) | Self::HealNode(node) => fabric.node(*node).name.clone(),
            Self::ChangeCables(cables, change) => format!("{} ({})", cables.label, change.label()),
        }
    }

    /// Whether the seed draws its links.
    pub fn is_drawn(&self) -> bool {
        match self {
            Self::FailCables(cables) | Self::HealCables(cables) | Self::ChangeCables(cables, _) => {
                cables.drawn
            }
            Self::FailNode(_) | Self::HealNode(_) => false,
        }
    }

    /// Whether links go up (true) or down (false); `None` if they do neither.
    pub const fn goes_up(&self) -> Option<bool> {
        match self {
            Self::FailCables(_) | Self::FailNode(_) => Some(false),
            Self::HealCables(_) | Self::HealNode(_) => Some(true),
            Self::ChangeCables(..) => None,
        }
    }

    /// Whether computed routes have to follow: random loss and blackholes are invisible to the control plane.
    pub const fn is_visible(&self) -> bool {
        !matches!(self, Self::ChangeCables(_, LinkChange { rate: None, .. }))
    }
}

impl LinkChange {
    /// The new properties as text.
    fn label(&self) -> String {
        let mut label = String::new();
        let mut add = |name: &str, value: String| {
            let comma = if label.is_empty() { "" } else { ", " };
            let _ = write!(label, "{comma}{name} {value}");
        };
        match self.rate {
            Some(NewRate::Fraction(fraction)) => add("rate", format!("{fraction}")),
            Some(NewRate::To(rate)) => add("rate", rate.to_string()),
            None => {}
        }
        for (name, share) in [("loss", self.loss), ("blackhole", self.blackhole)] {
            if let Some(share) = share {
                add(name, format!("{share}"));
            }
        }
        label
    }
}

/// A change and its time.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// When; 0 s is before the first packet.
    pub at: Time,
    /// The change.
    pub change: Change,
}
