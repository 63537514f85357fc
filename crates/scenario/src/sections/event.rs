//! `[[event]]`: failures and recoveries during a run.

use weft_fabric::{Fabric, FabricError};
use weft_units::{Duration, LinkId, NodeId, Time};

use super::Resolver;
use super::fabric::cable_problem;
use crate::diagnostic::{Problem, Problems};
use crate::nearest::list;
use crate::section::{At, Key, Kind, Section, key};

/// The keys of an `[[event]]`.
pub(crate) const KEYS: &[Key] = &[
    key("at", Kind::Duration, "", "time since the start of the run"),
    key("fail", Kind::Text, "", "link that fails, such as \"e0-a1\", with its parallel links"),
    key("heal", Kind::Text, "", "link that recovers"),
    key("fail_node", Kind::Text, "", "node that fails, with all its links"),
    key("heal_node", Kind::Text, "", "node that recovers"),
];

/// A failure or recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// All cables between two nodes fail, in both directions; identified by any of their links.
    FailCable(LinkId),
    /// All cables between two nodes recover.
    HealCable(LinkId),
    /// A node fails with all its cables.
    FailNode(NodeId),
    /// A node recovers with its cables, except those that have failed themselves.
    HealNode(NodeId),
}

impl Change {
    /// Whether it is a failure.
    pub const fn fails(self) -> bool {
        matches!(self, Self::FailCable(_) | Self::FailNode(_))
    }

    /// Its key in `[[event]]`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailCable(_) => "fail",
            Self::HealCable(_) => "heal",
            Self::FailNode(_) => "fail_node",
            Self::HealNode(_) => "heal_node",
        }
    }

    /// Its target: a node, or a cable such as `e0-a1`.
    pub fn target(self, fabric: &Fabric) -> String {
        let name = |node: NodeId| &fabric.node(node).name;
        match self {
            Self::FailCable(link) | Self::HealCable(link) => {
                let link = fabric.link(link);
                format!("{}-{}", name(link.from), name(link.to))
            }
            Self::FailNode(node) | Self::HealNode(node) => name(node).clone(),
        }
    }
}

/// Link states over a sequence of events: a cable is up unless it or a node at one of its ends has failed.
#[derive(Clone, Debug)]
pub struct LinkStates<'a> {
    fabric: &'a Fabric,
    cables: Vec<bool>,
    nodes: Vec<bool>,
}

impl<'a> LinkStates<'a> {
    /// Before any event.
    pub fn of(fabric: &'a Fabric) -> Self {
        let cables = fabric.links().iter().step_by(2).map(|link| link.up).collect();
        Self { fabric, cables, nodes: vec![true; fabric.nodes().len()] }
    }

    /// Applies a change; returns whether it had an effect.
    pub fn apply(&mut self, change: Change) -> bool {
        let up = !change.fails();
        match change {
            Change::FailCable(link) | Change::HealCable(link) => {
                let was = self.cables[link.index() / 2];
                self.fabric.parallel(link).for_each(|link| self.cables[link.index() / 2] = up);
                was != up
            }
            Change::FailNode(node) | Change::HealNode(node) => {
                std::mem::replace(&mut self.nodes[node.index()], up) != up
            }
        }
    }

    /// Applies a change and returns the affected cables, each by one of its links. A recovering cable stays
    /// down while a node at one of its ends is down.
    pub fn switch(&mut self, change: Change) -> Vec<LinkId> {
        let cables: Vec<LinkId> = match change {
            Change::FailCable(link) | Change::HealCable(link) => self.fabric.parallel(link).collect(),
            Change::FailNode(node) | Change::HealNode(node) => self.fabric.ports(node).to_vec(),
        };
        self.apply(change);
        cables.into_iter().filter(|&link| self.is_up(link) != change.fails()).collect()
    }

    /// Whether a link is up.
    pub fn is_up(&self, id: LinkId) -> bool {
        let link = self.fabric.link(id);
        self.cables[id.index() / 2] && self.nodes[link.from.index()] && self.nodes[link.to.index()]
    }
}

/// A change and its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    pub change: Change,
}

/// An `[[event]]` as written.
#[derive(Clone, Debug)]
pub(crate) struct EventSettings {
    at: At<Duration>,
    what: &'static str,
    target: At<String>,
}

impl EventSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        section.only(&[KEYS]);
        let at = section.need::<Duration>("at");
        let kinds = KEYS[1..].iter().map(|key| key.name);
        let given: Vec<&'static str> = kinds.clone().filter(|kind| section.node(kind).is_some()).collect();
        let &[what] = given.as_slice() else {
            let label = format!("expected one of {}", list(kinds));
            let message = match given.len() {
                0 => "the event has no action".to_owned(),
                _ => format!("the event has {} actions: {}", given.len(), list(given)),
            };
            section.problem(section.span, message, label);
            return None;
        };
        Some(Self { target: section.get(what)?, at: at?, what })
    }

    /// The event, with its cable or node resolved.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Event> {
        let fabric = resolver.fabric;
        let cable = || {
            let found = fabric.link_named(&self.target.value);
            let found = found.map_err(|error| resolver.problems.add(cable_problem(&self.target, &error)));
            found.ok().map(|link| LinkId(link.0 & !1))
        };
        let node = || {
            let found = fabric.find(&self.target.value);
            found
                .map_err(|error| resolver.problems.add(Problem::at(self.target.span, error.to_string())))
                .ok()
        };
        let change = match self.what {
            "fail" => Change::FailCable(cable()?),
            "heal" => Change::HealCable(cable()?),
            "fail_node" => Change::FailNode(node()?),
            _ => Change::HealNode(node()?),
        };
        Some(Event { at: Time::ZERO + self.at.value, change })
    }
}

/// Rejects events out of order.
pub(crate) fn check_order(events: &[EventSettings], problems: &Problems) {
    for pair in events.windows(2) {
        let [before, event] = [pair[0].at, pair[1].at];
        if event.value < before.value {
            let message = format!("the event at {} follows one at {}", event.value, before.value);
            let label = "expected events in order of time";
            problems.add(Problem::at(event.span, message).label(label));
        }
    }
}

/// Warns of the first event that disconnects some hosts.
pub(crate) fn cut_off(fabric: &Fabric, events: &[Event]) -> Option<String> {
    let mut state = LinkStates::of(fabric);
    for event in events {
        state.apply(event.change);
        let mut builder = fabric.edit();
        for (link, id) in fabric.links().iter().zip(0..).step_by(2) {
            if !state.is_up(LinkId(id)) {
                builder.fail(&fabric.node(link.from).name, &fabric.node(link.to).name).ok()?;
            }
        }
        if let Err(FabricError::Disconnected { a, b, .. }) = builder.build() {
            return Some(format!("from {} on there is no path between `{a}` and `{b}`", event.at));
        }
    }
    None
}
