//! Routes to and from the kernel, in the modes that use them.

use std::collections::HashMap;
use std::io;

use crate::error::PlaneError;
use crate::layout::Route;
use crate::plane::Plane;
use crate::walk::Walk;

type Known = HashMap<u64, Route>;

impl Plane {
    /// Replaces all routes, or leaves them unchanged on an error. Unchanged routes are not rewritten.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn set_routes(&mut self, routes: &[(u64, Route)]) -> Result<(), PlaneError> {
        let map = self.walk("routes")?;
        let read = || Ok::<Known, io::Error>(map.entries()?.into_iter().collect());
        let (before, wanted) = (read()?, routes.iter().copied().collect());
        exchange(&map, &before, &wanted).inspect_err(|_| {
            if let Err(error) = read().and_then(|now| exchange(&map, &now, &before)) {
                tracing::error!(%error, "restoring the routes of the data plane failed");
            }
        })?;
        Ok(())
    }

    /// Changes the next hops of some stations.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn change_routes(&self, routes: &[(u64, Route)]) -> Result<(), PlaneError> {
        let map = self.walk("routes")?;
        Ok(routes.iter().try_for_each(|(station, route)| map.insert(station, route))?)
    }

    /// The routes of the program, in no particular order.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn routes(&self) -> Result<Vec<(u64, Route)>, PlaneError> {
        Ok(self.walk("routes")?.entries()?)
    }
}

/// Changes the map from `from` to `to`: adds new routes before removing old ones, so that a station is never without
/// its route; if there is no room for both, removes first.
fn exchange(map: &Walk<u64, Route>, from: &Known, to: &Known) -> io::Result<()> {
    let gone: Vec<u64> = from.keys().filter(|station| !to.contains_key(*station)).copied().collect();
    let mut new = to.iter().filter(|(station, route)| from.get(*station) != Some(*route));
    let fits = new.clone().try_for_each(|(station, route)| map.insert(station, route)).is_ok();
    map.remove(&gone)?;
    if fits { Ok(()) } else { new.try_for_each(|(station, route)| map.insert(station, route)) }
}
