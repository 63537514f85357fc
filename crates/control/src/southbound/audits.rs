//! [`Audits`]: requests to switches for slices of their lasting rules.

use std::collections::{BTreeMap, VecDeque};

use crate::clock::Time;
use crate::cookie::{CookieSlice, LASTING_SLICES, lasting_slice};
use crate::ids::SwitchId;
use crate::rule::Rule;

/// An audit request to a switch, and the reply so far.
#[derive(Debug, Default)]
pub(super) struct Audit {
    /// The number of answered requests.
    pub(super) turn: u32,
    /// The transaction id of the open request, 0 for none.
    pub(super) xid: u32,
    /// The rules in the reply.
    pub(super) reported: Vec<Rule>,
    pub(super) answers: usize,
}

/// The audits of all switches.
#[derive(Debug, Default)]
pub struct Audits {
    pub(super) by_switch: BTreeMap<SwitchId, Audit>,
    /// All have the same interval, so the first is due first. Some may have ended.
    pub(super) due: VecDeque<(Time, SwitchId)>,
}

impl Audits {
    /// Schedules a switch's first audit.
    pub fn begin(&mut self, first: Time, switch: SwitchId) {
        self.end(switch);
        self.by_switch.insert(switch, Audit::default());
        self.due.push_back((first, switch));
    }

    /// Ends a switch's audits.
    pub fn end(&mut self, switch: SwitchId) {
        self.by_switch.remove(&switch);
        self.due.retain(|(_, other)| *other != switch);
    }

    /// A switch refused the request with this transaction id.
    pub fn refused(&mut self, switch: SwitchId, xid: u32) {
        if let Some(audit) = self.by_switch.get_mut(&switch).filter(|audit| audit.xid == xid) {
            audit.forget();
        }
    }

    /// When the next audit is due; [`Time::MAX`] if there is none.
    pub fn next_deadline(&self) -> Time {
        self.due.front().map_or(Time::MAX, |(due, _)| *due)
    }
}

impl Audit {
    /// The next slice: the few base rules, including LLDP's, alternate with the other slices, one after another.
    pub(super) fn slice(&self) -> CookieSlice {
        let turn = self.turn / 2 % (LASTING_SLICES - 1);
        lasting_slice(if self.turn.is_multiple_of(2) { 0 } else { 1 + turn })
    }

    pub(super) fn forget(&mut self) {
        (self.xid, self.answers) = (0, 0);
        self.reported.clear();
    }
}
