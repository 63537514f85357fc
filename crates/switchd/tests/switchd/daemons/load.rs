//! Hello messages are sent on time while the daemon loads rules or routes.

use std::time::{Duration, Instant};

use crate::daemons::stalls::Watch;
use crate::daemons::switch::{Places, Switch, within};
use crate::daemons::tags::{http, many_rules};
use crate::net::{Netns, cable};

/// The number of rules or routes: the capacity of the routing table.
const MANY: u32 = 65_000;
/// The hold time: three intervals.
const HOLD: Duration = Duration::from_millis(300);

/// A switch with one silent neighbour.
fn with_switch(config: &str, check: impl FnOnce(&Places, &Switch<'_>, &Netns) -> Duration) -> Duration {
    let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&left, "a"), (&right, "a"));
    // No routes initially.
    std::fs::write(places.run.join("routes.toml"), "").expect("a file");
    let config = format!("{config}\nports = [\"a\"]\n[hello]\ninterval = \"100 ms\"\n");
    let switch = Switch::start(&left, &places, "s", &config);
    check(&places, &switch, &right)
}

/// The longest gap between received Hello messages, excluding stalls of the machine.
fn longest(heard: Watch) -> Duration {
    // One may have been sent before loading ended.
    heard.wait_for_hellos(2);
    let watched = heard.end();
    let own = watched.longest_of_its_own();
    println!("longest gap between Hellos {:?}, {own:?} of it due to the daemon", watched.longest());
    own
}

#[test]
#[ignore = "needs root and BPF"]
fn hellos_leave_on_time_while_65_000_rules_are_set_and_taken_back() {
    let rules = many_rules(MANY);
    within(HOLD, "gap between Hellos", || {
        with_switch("mode = \"tag-forward\"", |places, switch, right| {
            let heard = Watch::start(switch, right, "a");
            for body in [rules.as_str(), rules.as_str(), "{\"priority\": 1000, \"rules\": []}"] {
                let began = Instant::now();
                let (status, answer) = http(places, "s", "PUT /v1/flows", body);
                assert_eq!(status, 200, "{answer}");
                println!("rules are set after {:?}", began.elapsed());
            }
            longest(heard)
        })
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn hellos_leave_on_time_while_65_000_routes_are_read_and_replaced() {
    let write = |places: &Places, first: u32| {
        let route = |number: u32| {
            let [a, b, c, d] = number.to_be_bytes();
            format!("[[route]]\nstation = \"02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}\"\nports = [\"a\"]\n")
        };
        let text: String = (first..first + MANY).map(route).collect();
        std::fs::write(places.run.join("routes.toml"), text).expect("a file");
    };
    // Replacing all routes delays the next Hello by more than an interval.
    within(2 * HOLD, "gap between Hellos", || {
        with_switch("mode = \"ecmp\"\nroutes_file = \"routes.toml\"", |places, switch, right| {
            let heard = Watch::start(switch, right, "a");
            for first in [0, 1, 100] {
                write(places, first);
                let began = Instant::now();
                // weftctl would not wait for as long as a busy machine takes.
                let (status, answer) = http(places, "s", "POST /v1/reload", "");
                assert_eq!(status, 200, "{answer}");
                println!("routes are loaded after {:?}", began.elapsed());
            }
            longest(heard)
        })
    });
}
