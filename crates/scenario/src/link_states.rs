//! [`LinkStates`]: which links are up over a sequence of events, and [`Uptimes`], over a run.

use std::collections::BTreeSet;

use weft_fabric::{Fabric, FabricError};
use weft_units::{LinkId, Time};

use crate::change::{Change, Event};

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

    /// Applies a change; returns whether a cable or node changed its state, or got new properties.
    pub fn apply(&mut self, change: &Change) -> bool {
        match (change, change.goes_up()) {
            (Change::FailCables(cables) | Change::HealCables(cables), Some(up)) => {
                let mut differs = false;
                for link in &*cables.links {
                    differs |= std::mem::replace(&mut self.cables[link.index() / 2], up) != up;
                }
                differs
            }
            (Change::FailNode(node) | Change::HealNode(node), Some(up)) => {
                std::mem::replace(&mut self.nodes[node.index()], up) != up
            }
            _ => true,
        }
    }

    /// Applies a change and returns the affected cables, each by one of its links. A recovering cable stays
    /// down while a node at one of its ends is down.
    pub fn switch(&mut self, change: &Change) -> Vec<LinkId> {
        let cables: Vec<LinkId> = match change {
            Change::FailCables(cables) | Change::HealCables(cables) | Change::ChangeCables(cables, _) => {
                cables.links.to_vec()
            }
            Change::FailNode(node) | Change::HealNode(node) => self.fabric.ports(*node).to_vec(),
        };
        self.apply(change);
        let follows = |link: &LinkId| change.goes_up().is_none_or(|up| self.is_up(*link) == up);
        cables.into_iter().filter(follows).collect()
    }

    /// Whether a link is up.
    pub fn is_up(&self, id: LinkId) -> bool {
        let link = self.fabric.link(id);
        self.cables[id.index() / 2] && self.nodes[link.from.index()] && self.nodes[link.to.index()]
    }
}

/// Which links are up over a run.
pub(crate) struct Uptimes {
    /// After the events at its start.
    at_start: Vec<bool>,
    /// The cables that change later.
    changing: BTreeSet<usize>,
    /// Whether there are later events.
    pub(crate) has_later_events: bool,
}

impl Uptimes {
    pub(crate) fn of(fabric: &Fabric, events: &[Event]) -> Self {
        let mut state = LinkStates::of(fabric);
        let (first, later) = events.split_at(events.partition_point(|event| event.at == Time::ZERO));
        first.iter().for_each(|event| _ = state.apply(&event.change));
        let at_start = (0..fabric.links().len() as u32).map(|id| state.is_up(LinkId(id))).collect();
        let of_states = later.iter().filter(|event| event.change.goes_up().is_some());
        let changing =
            of_states.flat_map(|event| state.switch(&event.change)).map(|id| id.index() / 2).collect();
        Self { at_start, changing, has_later_events: !later.is_empty() }
    }

    /// Whether a link is up all the time; `None` if that changes.
    pub(crate) fn is_up(&self, id: LinkId) -> Option<bool> {
        (!self.changing.contains(&(id.index() / 2))).then(|| self.at_start[id.index()])
    }
}

/// Warns of the first event that disconnects some hosts.
pub(crate) fn cut_off(fabric: &Fabric, events: &[Event]) -> Option<String> {
    let mut state = LinkStates::of(fabric);
    for event in events {
        if !state.apply(&event.change) || event.change.goes_up() != Some(false) {
            continue;
        }
        let mut builder = fabric.edit();
        for (link, id) in fabric.links().iter().zip(0..).step_by(2) {
            let (a, b) = (&fabric.node(link.from).name, &fabric.node(link.to).name);
            match (link.up, state.is_up(LinkId(id))) {
                (true, false) => builder.fail(a, b).ok()?,
                (false, true) => builder.heal(a, b).ok()?,
                _ => {}
            }
        }
        if let Err(FabricError::Disconnected { a, b, .. }) = builder.build() {
            return Some(format!("from {} on there is no path between `{a}` and `{b}`", event.at));
        }
    }
    None
}
