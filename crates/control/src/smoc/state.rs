//! [`Smoc`]: the state of the controller.

use super::progress::{Resumption, Spread};
use crate::budget::Budget;
use crate::clock::Duration;
use crate::connections::Connections;
use crate::cookie::{Cookie, FLOW_GENERATION_BITS, FlowCookie};
use crate::flows::Flows;
use crate::handshakes::Handshakes;
use crate::network::Network;
use crate::path_sets::PathSets;
use crate::paths::Paths;
use crate::routes::Routes;
use crate::settings::{Settings, SettingsError};
use crate::shares::Shares;
use crate::transactions::Transactions;

/// The controller that places each subflow on its own path.
#[derive(Clone, Debug)]
pub struct Smoc {
    pub(super) net: Network,
    pub(super) paths: Paths,
    pub(super) sets: PathSets,
    pub(super) flows: Flows,
    pub(super) connections: Connections,
    pub(super) handshakes: Handshakes,
    pub(super) routes: Routes,
    /// Counts of neighbour discovery routes by port.
    pub(super) shares: Shares,
    pub(super) transactions: Transactions,
    /// Unconfirmed rules.
    pub(super) budget: Budget,
    /// Progress of spreading subflows over recovered paths.
    pub(super) spread: Option<Spread>,
    pub(super) resumption: Resumption,
}

impl Smoc {
    /// A controller for a network that is still unknown.
    ///
    /// # Errors
    /// [`SettingsError`] if a value is out of range.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let key = settings.hash_key;
        Ok(Self {
            paths: Paths::new(key, settings.linger()),
            sets: PathSets::new(settings.order, settings.paths),
            flows: Flows::new(key, settings.epoch),
            connections: Connections::new(key),
            handshakes: Handshakes::new(Duration::from_secs_f64(settings.handshake_s)),
            routes: Routes::new(key, settings.epoch),
            shares: Shares::default(),
            transactions: Transactions::new(&settings),
            budget: Budget::new(settings.limits.unanswered_rules as u32),
            spread: None,
            resumption: Resumption::default(),
            net: Network::new(settings),
        })
    }

    /// The flow of a rule's cookie, unless it was removed, and the rule's direction.
    pub(super) fn flow_of(&self, cookie: u64) -> Option<(u32, usize)> {
        let Some(Cookie::Flow(FlowCookie { index, generation, direction, .. })) = Cookie::read(cookie) else {
            return None;
        };
        let is_known = self.flows.slab.has(index, generation, FLOW_GENERATION_BITS);
        is_known.then_some((index, direction))
    }
}
