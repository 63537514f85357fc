//! Routes that are withdrawn where a neighbour does not reach the station, in modes with routes
//! (crates/switching/src/reachability.rs).

use std::collections::HashMap;

use weft_switching::Unreached;
use weft_switching::leaf_routes::LeafRoutes;
use weft_switching::reachability::{PortBits, PortStates, Reachability};
use weft_units::PortId;

use super::ports::{Port, Role};
use super::route_entries::{self, bits};
use super::switch::Switch;
use crate::config::Config;
use crate::error::PlaneError;
use crate::layout::NEVER;

/// The routes of a switch.
pub struct Routes {
    /// Those in use.
    pub reach: Reachability,
    /// Those of leaves, which some of them come from.
    pub leaves: LeafRoutes,
}

impl Switch {
    /// Takes over the configured routes, less the next hops that an earlier daemon has withdrawn.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn take_routes(&mut self, has_same_ports: bool) -> Result<(), PlaneError> {
        if !self.config.mode.routes() {
            return Ok(());
        }
        let left = if has_same_ports { self.plane.routes()? } else { Vec::new() };
        let left: HashMap<u64, PortBits> =
            left.into_iter().map(|(station, route)| (station, bits(route.ports().iter().copied()))).collect();
        self.reach.set_routes(route_entries::routes(&self.config, &self.leaves), |station| {
            left.get(&station.bits()).copied()
        });
        Ok(())
    }

    /// Writes all routes to the kernel, in modes with routes.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn set_routes(&mut self) -> Result<(), PlaneError> {
        match self.config.mode.routes() {
            true => self.plane.set_routes(&route_entries::entries(
                &self.config,
                &self.leaves,
                self.reach.routes(),
            )),
            false => Ok(()),
        }
    }

    /// Replaces the routes by those of a configuration and its leaves, here and in the kernel.
    ///
    /// # Errors
    /// [`PlaneError`]; nothing is changed then. Otherwise the former ones.
    pub fn exchange_routes(&mut self, config: &Config, new: LeafRoutes) -> Result<Routes, PlaneError> {
        let mut reach = self.reach.clone();
        reach.set_routes(route_entries::routes(config, &new), |_| None);
        reach.settle();
        self.plane.set_routes(&route_entries::entries(config, &new, reach.routes()))?;
        Ok(Routes {
            reach: std::mem::replace(&mut self.reach, reach),
            leaves: std::mem::replace(&mut self.leaves, new),
        })
    }

    /// Tells the routes which ports lead where.
    pub(super) fn see_ports(&mut self) {
        self.see_interfaces();
        let of = |is: fn(&Port) -> bool| {
            bits((0..).zip(&self.ports).filter(|(_, port)| is(port)).map(|(number, _)| number))
        };
        let states = PortStates {
            up: of(|port| port.role != Role::Down),
            fabric: of(Port::carries_routes),
            hosts: of(|port| port.role == Role::Host && !port.is_left),
        };
        self.reach.set_ports(states);
    }

    /// What the neighbour of a fabric port reaches, from an accepted Hello.
    pub(super) fn hear_reach(&mut self, number: u16, said: Option<Unreached>) {
        let said = said.filter(|_| self.config.announces_reach);
        let port = &self.ports[usize::from(number)];
        match said {
            Some(part) if port.role == Role::Fabric => self.reach.hear(PortId(number), part),
            // Its mode has no routes, or it is an older version. One that does not hear this switch says nothing yet.
            None if port.role == Role::Fabric && port.is_answered => self.reach.trust(PortId(number)),
            _ => {}
        }
    }

    /// Applies to the routes what has changed, and tells the neighbours at once; returns when to try again, or [`NEVER`].
    pub fn withdraw(&mut self, now: u64) -> u64 {
        if !self.config.mode.routes() {
            return NEVER;
        }
        self.see_ports();
        if !self.reach.is_unsettled() {
            return NEVER;
        }
        if let Err(next) = self.throttle.take(now, self.config.hello_interval.ps() / 1000) {
            return next;
        }
        let settled = self.reach.settle();
        let changed = match settled.routes.is_empty() {
            true => Vec::new(),
            false => route_entries::entries(&self.config, &self.leaves, settled.routes),
        };
        if !changed.is_empty() {
            if let Err(error) = self.plane.change_routes(&changed) {
                tracing::error!(%error, "changing the next hops of stations in the data plane failed");
            }
            if let Some(left_out) = self.log_limit.admit(0, "routes", now) {
                tracing::info!(
                    stations = changed.len(),
                    left_out,
                    "other next hops reach stations than before"
                );
            }
        }
        if settled.says_other {
            for number in 0..self.ports.len() as u16 {
                if self.ports[usize::from(number)].role.has_neighbour() {
                    self.greet_on(number, now);
                }
            }
        }
        NEVER
    }
}

impl Port {
    /// Whether frames sent there arrive at a switch that accepts them.
    fn carries_routes(&self) -> bool {
        let is_adopted = self.neighbour.is_none() && self.adopted.is_some();
        match self.role {
            Role::Unheard => true,
            Role::Fabric => self.is_answered || is_adopted,
            _ => false,
        }
    }
}
