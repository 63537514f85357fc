//! Links and nodes that fail and heal while a run goes on.

use weft_units::{LinkId, Time};

/// What happens to the links of a [`Fault`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// They go down; what is on them is lost.
    Fail,
    /// They come up again.
    Heal,
}

/// A change of the fabric at a given time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What.
    pub kind: FaultKind,
    /// The links, both directions of each cable.
    pub links: Vec<LinkId>,
}

impl Fault {
    /// Both directions of the cable that `link` belongs to.
    pub fn of_cable(at: Time, kind: FaultKind, link: LinkId) -> Self {
        Self { at, kind, links: vec![link, link.reverse()] }
    }
}
