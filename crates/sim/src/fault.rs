//! Failures, restorations and changes of links during a run.

use std::sync::Arc;

use weft_scenario::LinkChange;
use weft_units::{LinkId, Time};

/// What happens to the links of a [`Fault`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    /// They go down; packets on them are lost.
    Fail,
    /// They come up again.
    Heal,
    /// They get other properties.
    Change(LinkChange),
}

/// A change of the fabric at a given time.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What.
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
