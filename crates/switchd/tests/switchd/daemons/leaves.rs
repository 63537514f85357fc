//! Leaves whose routes in the kernel are missing.

use std::time::{Duration, SystemTime};

use crate::daemons::switch::{Places, Switch};
use crate::net::{Netns, cable};
use crate::wait::wait_for;

const LOST: &str = "the kernel has no route to these leaves";

#[test]
#[ignore = "needs root and BPF"]
fn each_leaf_that_loses_its_route_is_named_and_those_that_wait_for_their_first_only_if_they_stay_without() {
    let (netns, spine, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&netns, "s0"), (&spine, "l0"));
    let leaf = |number: u8| {
        format!("[[leaf]]\naddress = \"10.1.0.{number}\"\nstations = [\"02:00:00:00:00:0{number}\"]\n")
    };
    let leaves: String = (1..=4).map(leaf).collect();
    let config = format!(
        "mode = \"ecmp\"\nroutes = \"kernel\"\nports = [\"s0\"]\nfabric_ports = [\"s0\"]\n{leaves}\
         [hello]\ninterval = \"100 ms\""
    );
    let started = SystemTime::now();
    let switch = Switch::start(&netns, &places, "s", &config);
    let is_named = |number: u8| {
        let address = format!("10.1.0.{number}");
        let log = switch.log();
        let mut words =
            log.lines().filter(|line| line.contains(LOST)).flat_map(|line| line.split([' ', ',', '"']));
        words.any(|word| word == address)
    };
    let change = |what: &str, number: u8| netns.ip(&format!("route {what} 10.1.0.{number}/32 dev s0"));
    (1..=3).for_each(|number| change("add", number));
    let has_routes = |routes: [bool; 4]| {
        let rows = switch.show("leaves");
        routes.iter().enumerate().all(|(at, has)| (rows[at]["ports"][0] == "s0") == *has)
    };
    wait_for("three leaves have routes", || has_routes([true, true, true, false]));
    // No leaf is named until the routing daemon has had the time to converge, then the one that has stayed without a route.
    wait_for("the fourth is named", || is_named(4));
    let after = switch.logged(LOST, started).expect("it is named");
    assert!(after >= Duration::from_secs(15), "{after:?}: {}", switch.log());
    assert!((1..=3).all(|number| !is_named(number)), "{}", switch.log());
    // Within the pause of the log, two leaves lose their routes one after the other.
    change("del", 1);
    wait_for("the first is without", || has_routes([false, true, true, false]));
    change("del", 2);
    wait_for("both are named", || is_named(1) && is_named(2));
    assert!(!is_named(3), "{}", switch.log());
    change("add", 1);
    change("add", 2);
    wait_for("their routes are back", || switch.log().contains("has a route to these leaves again"));
}
