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
    let stations: usize = leaves.iter().map(|leaf| leaf.stations.len()).sum();
    let count = other_routes + stations;
    // Without leaves, the routes are too many by themselves.
    if stations > 0 && count > room {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::{Config, Flags};

    const LEAF: &str = "[[leaf]]\naddress = \"10.0.0.3\"\nstations = [\"02:00:00:00:00:03\"]\n";

    /// The errors in a configuration of mode `ecmp` with these lines and leaves.
    fn errors(lines: &str, leaves: &str) -> String {
        let text = format!("mode = \"ecmp\"\nports = [\"a\", \"b\"]\n{lines}\n{leaves}");
        let read = Config::read("a.toml", &text, Path::new(""), &Flags::default());
        read.err().map(|problems| problems.to_string()).unwrap_or_default()
    }

    #[test]
    fn leaves_are_read_with_the_settings_that_they_need() {
        let kernel = "routes = \"kernel\"\nfabric_ports = [\"b\"]";
        assert_eq!(errors(kernel, LEAF), "");
        assert!(errors("routes = \"kernel\"", LEAF).contains("list the ports that lead to switches"));
        assert!(errors("", LEAF).contains("set routes = \"kernel\", or remove all [[leaf]]"));
        assert!(errors(kernel, "").contains("list the stations of each leaf"));
        assert!(errors("routes = \"bgp\"", "").contains("expected one of `configured`, `kernel`"));
        assert!(errors(&format!("{kernel}\nmode = \"arp-path\""), LEAF).contains("invalid TOML"));
        let wrong_mode = format!(
            "mode = \"arp-path\"\nports = [\"a\"]\nfabric_ports = [\"a\"]\nroutes = \"kernel\"\n{LEAF}"
        );
        let read = Config::read("a.toml", &wrong_mode, Path::new(""), &Flags::default());
        assert!(read.unwrap_err().to_string().contains("routes do not apply to mode `arp-path`"));
    }

    #[test]
    fn a_leaf_that_cannot_be_is_refused_with_the_fix() {
        let with = |from: &str, to: &str| {
            errors("routes = \"kernel\"\nfabric_ports = [\"b\"]", &LEAF.replace(from, to))
        };
        assert!(with("10.0.0.3", "leaf3").contains("expected the loopback address that the leaf announces"));
        for address in ["127.0.0.1", "0.0.0.0", "224.0.0.1", "fe80::3", "169.254.0.3", "::1"] {
            assert!(with("10.0.0.3", address).contains("no routing protocol announces it"), "{address}");
        }
        assert!(with("02:00", "03:00").contains("expected the address of one host"));
        assert!(with("02:00", "xx:00").contains("station \"xx:00"));
        assert!(with("stations", "station").contains("leaf without `address` or `stations`"));
        let twice = format!("{LEAF}{}", LEAF.replace("00:03", "00:04"));
        assert!(with(LEAF, &twice).contains("second leaf of this address"));
        let shared = format!("{LEAF}{}", LEAF.replace("10.0.0.3", "fd00::4"));
        assert!(with(LEAF, &shared).contains("02:00:00:00:00:03 is listed twice"));
    }
}
