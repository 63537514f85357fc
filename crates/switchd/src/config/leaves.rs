//! `[[leaf]]`: the stations attached to each leaf, for routes that a routing protocol finds.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use weft_switching::Mac;
use weft_switching::leaf_routes::Leaf;

use super::table::Table;

/// An address that a leaf can announce.
fn address(text: &str) -> Result<IpAddr, String> {
    let expected =
        "expected the loopback address that the leaf announces, such as \"10.0.0.3\" or \"fd00::3\"";
    let address: IpAddr = text.parse().map_err(|_| expected.to_owned())?;
    let is_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let fits = !address.is_unspecified() && !address.is_loopback() && !address.is_multicast() && !is_local;
    if fits { Ok(address) } else { Err(format!("no routing protocol announces it: {expected}")) }
}

/// Reads all `[[leaf]]` of a table.
pub fn read(table: &Table<'_>) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut stations = HashSet::new();
    for (entry, place) in table.tables("leaf", "[[leaf]]") {
        let address = entry.parsed("address", address);
        let names = entry.texts("stations");
        if let (Some((address, span)), Some((names, _))) = (&address, &names) {
            if leaves.iter().any(|leaf| leaf.address == *address) {
                entry.problem(
                    span.clone(),
                    "second leaf of this address",
                    "list all of its stations in one [[leaf]]",
                );
            }
            let mut own = Vec::new();
            for (name, span) in names {
                match name.parse::<Mac>() {
                    Err(error) => entry.problem(span.clone(), format!("station {name:?}"), error.to_string()),
                    Ok(mac) if mac.is_group() => {
                        entry.problem(
                            span.clone(),
                            format!("{name} is a group address"),
                            "expected the address of one host",
                        );
                    }
                    Ok(mac) if !stations.insert(mac) => {
                        let label = "list each station once, at the leaf that it is attached to";
                        entry.problem(span.clone(), format!("{name} is listed twice"), label);
                    }
                    Ok(mac) => own.push(mac),
                }
            }
            leaves.push(Leaf { address: *address, stations: own });
        } else if !entry.has("address") || !entry.has("stations") {
            entry.problem(place, "leaf without `address` or `stations`", "both are required");
        }
        entry.finish();
    }
    leaves
}

/// Checks the leaves of a configuration and of its `routes_file` together.
///
/// # Errors
/// A message for the user.
pub fn check(leaves: &[Leaf], other_routes: usize, room: usize) -> Result<(), String> {
    let count = other_routes + leaves.iter().map(|leaf| leaf.stations.len()).sum::<usize>();
    if count > room {
        return Err(format!("{count} routes and stations of leaves, but the table has room for {room}"));
    }
    let (mut addresses, mut leaf_of) = (HashSet::new(), HashMap::new());
    for leaf in leaves {
        if !addresses.insert(leaf.address) {
            return Err(format!(
                "second leaf of the address {}: list all of its stations in one [[leaf]]",
                leaf.address
            ));
        }
        for station in &leaf.stations {
            if let Some(other) = leaf_of.insert(station, leaf.address) {
                return Err(format!(
                    "{station} is listed at the leaves {other} and {}: keep one",
                    leaf.address
                ));
            }
        }
    }
    Ok(())
}
