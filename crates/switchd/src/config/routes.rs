//! `[[route]]`: the next hops to a station, for modes that do not find paths themselves.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;

use weft_switching::Mac;
use weft_switching::leaf_routes::Leaf;
use weft_units::reason;

use super::diagnostic::{Problem, Problems, suggest};
use super::leaves;
use super::table::{Table, parse};

/// The ports on which frames to a station may leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The station.
    pub station: Mac,
    /// Port numbers, ascending.
    pub ports: Vec<u8>,
}

/// Reads all `[[route]]` of a table.
pub fn read(table: &Table<'_>, ports: &[String]) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    let mut stations = HashSet::new();
    for (route, place) in table.tables("route", "[[route]]") {
        let station = route.parsed("station", |text| text.parse::<Mac>().map_err(|error| error.to_string()));
        let names = route.texts("ports");
        if let (Some((station, span)), Some((names, _))) = (station, names) {
            let mut numbers = Vec::new();
            for (name, span) in names {
                match ports.iter().position(|port| *port == name) {
                    Some(number) => numbers.push(number as u8),
                    None => {
                        let label = suggest(&name, ports.iter().map(String::as_str));
                        route.problem(span, format!("{name:?} is not a port of this switch"), label);
                    }
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            if station.is_group() {
                route.problem(
                    span.clone(),
                    "`station` is a group address",
                    "expected the address of one host",
                );
            }
            if !stations.insert(station) {
                route.problem(span, "second route to this station", "list all of its ports in one route");
            }
            routes.push(Route { station, ports: numbers });
        } else if !route.has("station") || !route.has("ports") {
            route.problem(place, "route without `station` or `ports`", "both are required");
        }
        route.finish();
    }
    routes
}

/// Checks that the table has room for all routes, and that no station has two.
///
/// # Errors
/// A message for the user.
pub fn check(routes: &[Route], room: usize) -> Result<(), String> {
    if routes.len() > room {
        return Err(format!("{} routes, but the table has room for {room}", routes.len()));
    }
    let mut stations = HashSet::new();
    match routes.iter().find(|route| !stations.insert(route.station)) {
        Some(Route { station, .. }) => {
            Err(format!("second route to {}: list all of its ports in one route", station))
        }
        None => Ok(()),
    }
}

/// Reads a file that contains only routes and leaves.
///
/// # Errors
/// Why the file cannot be read, or all errors in it.
pub fn read_file(path: &Path, ports: &[String]) -> Result<(Vec<Route>, Vec<Leaf>), String> {
    let name = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("routes_file {name}: {}", reason(&error)))?;
    let failed = |problems| Problems::new(&name, &text, problems).to_string();
    let entries = parse(&text).map_err(|problem: Problem| failed(vec![problem]))?;
    let problems = RefCell::new(Vec::new());
    let table = Table::top(entries.get_ref(), &problems);
    let found = (read(&table, ports), leaves::read(&table));
    table.finish();
    let problems = problems.into_inner();
    if problems.is_empty() { Ok(found) } else { Err(failed(problems)) }
}
