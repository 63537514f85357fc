//! Routes to and from the kernel, in the modes that go by them.

use std::collections::HashMap as Known;

use aya::maps::{HashMap, MapData};

use crate::error::PlaneError;
use crate::layout::Route;
use crate::plane::{Plane, entries, forget};

type Map<'a> = HashMap<&'a mut MapData, u64, Route>;

impl Plane {
    /// Sends what goes to stations by these routes and no others, or leaves all routes as they were. What stays as it
    /// is is not written.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn set_routes(&mut self, routes: &[(u64, Route)]) -> Result<(), PlaneError> {
        let wanted: Known<u64, Route> = routes.iter().copied().collect();
        let mut map = Map::try_from(self.map_mut("routes")?)?;
        let before = entries(&map)?.into_iter().collect();
        exchange(&mut map, &before, &wanted).inspect_err(|_| {
            let now = entries(&map).map(|now| now.into_iter().collect());
            if let Err(error) = now.and_then(|now| exchange(&mut map, &now, &before)) {
                tracing::error!(%error, "routes of the data plane are not as they were");
            }
        })
    }

    /// The routes that the program goes by, in no promised order.
    ///
    /// # Errors
    /// [`PlaneError`]; a mode that explores has no routes.
    pub fn routes(&self) -> Result<Vec<(u64, Route)>, PlaneError> {
        entries(&HashMap::try_from(self.map("routes")?)?)
    }
}

/// Makes the map, which holds `from`, hold `to`: what is new before what is old goes, so that a station is never
/// without its route; where there is no room for both, the other way round.
fn exchange(map: &mut Map<'_>, from: &Known<u64, Route>, to: &Known<u64, Route>) -> Result<(), PlaneError> {
    let gone: Vec<u64> = from.keys().filter(|station| !to.contains_key(*station)).copied().collect();
    let other = |(station, route): &(&u64, &Route)| from.get(*station) != Some(*route);
    let put = |map: &mut Map<'_>| {
        to.iter().filter(other).try_for_each(|(station, route)| map.insert(station, route, 0))
    };
    let fits = put(map).is_ok();
    for station in &gone {
        forget(map, station)?;
    }
    if fits { Ok(()) } else { Ok(put(map)?) }
}
