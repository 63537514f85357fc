//! Failures, restorations and changes of links during a run.

use std::sync::Arc;

use weft_scenario::LinkChange;
use weft_units::{LinkId, Time};

/// The change to the links of a [`Fault`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    /// The links go down; packets on them are lost.
    Fail,
    /// The links come up again.
    Heal,
    /// The links get other properties.
    Change(LinkChange),
}

/// A change of the fabric at a given time.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// The time of the change.
    pub at: Time,
    /// The kind of fault.
    pub kind: FaultKind,
    /// The links, in both directions.
    pub links: Arc<[LinkId]>,
}

impl Fault {
    /// A fault of both directions of `link`.
    pub fn of_cable(at: Time, kind: FaultKind, link: LinkId) -> Self {
        Self { at, kind, links: [link, link.reverse()].into() }
    }
}
