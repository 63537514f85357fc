//! [`PortLimits`]: limits the effects of frames from one port, with token buckets.

use weft_units::{PortId, Time};

use crate::exploration::Exploration;
use crate::rate_limit::RateLimit;

/// The limits of all ports of a switch.
pub(crate) struct PortLimits {
    ports: Vec<[RateLimit; 2]>,
}

impl PortLimits {
    /// Full buckets for `count` ports.
    pub(crate) fn new(config: &Exploration, count: usize) -> Self {
        let floods = RateLimit::new(config.flood_rate, config.flood_burst);
        let stations = RateLimit::new(config.station_rate, config.station_burst);
        Self { ports: vec![[floods, stations]; count] }
    }

    /// Takes a token of the floods that frames from `port` may start, if any is left.
    pub(crate) fn admit_flood(&mut self, port: PortId, now: Time) -> bool {
        self.ports.get_mut(port.index()).is_some_and(|[floods, _]| floods.take(now))
    }

    /// Takes a token of the stations that may appear on or move to `port`, if any is left.
    pub(crate) fn admit_station(&mut self, port: PortId, now: Time) -> bool {
        self.ports.get_mut(port.index()).is_some_and(|[_, stations]| stations.take(now))
    }
}
