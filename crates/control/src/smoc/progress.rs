//! Progress of work over several turns: spreading subflows, and taking over rules.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use rustc_hash::FxHashSet;

use super::table::Table;
use crate::clock::Time;
use crate::slab::Handle;
use crate::transactions::Resumed;

/// Progress of spreading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// When the next turn is due.
    pub(super) at: Time,
    /// The next connection.
    pub(super) next: u32,
    /// Remaining rounds.
    pub(super) rounds: u32,
    /// Whether a subflow waits for a path being installed.
    pub(super) waits: bool,
}

/// Rules remaining in switches, and the state of taking them over.
#[derive(Clone, Debug)]
pub(super) struct Resumption {
    pub(super) left: BTreeMap<u32, Table>,
    /// Labels used by these rules.
    pub(super) reserved: FxHashSet<u32>,
    /// Connections created from rules: by their stations, and by the number in the cookies.
    pub(super) connections: BTreeMap<([u32; 2], u32), Handle>,
    /// Flows and routes taken over whose old rules remain: their dependencies were not confirmed in time.
    pub(super) unreplaced: Vec<Resumed>,
    /// Switches that connected for the first time, with claim rules not read yet.
    pub(super) fresh: Vec<u32>,
    /// Addresses whose owners are known from rules.
    pub(super) claimed: BTreeSet<IpAddr>,
    /// When a switch last connected for the first time.
    pub(super) quiet_since: Time,
    pub(super) due: Time,
}

impl Default for Resumption {
    fn default() -> Self {
        Self {
            left: BTreeMap::new(),
            reserved: FxHashSet::default(),
            connections: BTreeMap::new(),
            unreplaced: Vec::new(),
            fresh: Vec::new(),
            claimed: BTreeSet::new(),
            quiet_since: Time::ZERO,
            due: Time::MAX,
        }
    }
}

impl Resumption {
    /// New links are known: schedules a pass now.
    pub(super) fn look_again(&mut self, now: Time) {
        if self.due != Time::MAX {
            self.due = now;
        }
    }
}
