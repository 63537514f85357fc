//! Hello messages leave on time whatever the daemon has to load.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::daemons::net::{Netns, cable};
use crate::daemons::stalls::Watch;
use crate::daemons::switch::{Places, Switch, within};
use crate::daemons::tags::{http, rule};

/// Rules, and routes: as many as a table of routes has room for.
const MANY: u32 = 65_000;
/// Of a Hello, and what it holds.
const INTERVAL: Duration = Duration::from_millis(100);
const HOLD: Duration = Duration::from_millis(300);

/// A switch with one neighbour that says nothing.
fn with_switch(config: &str, check: impl FnOnce(&Places, &Switch<'_>, &Netns) -> Duration) -> Duration {
    let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&left, "a"), (&right, "a"));
    // No routes, until the test has some.
    std::fs::write(places.run.join("routes.toml"), "").expect("a file");
    let config = format!("{config}\nports = [\"a\"]\n[hello]\ninterval = \"100 ms\"\n");
    let switch = Switch::start(&left, &places, "s", &config);
    check(&places, &switch, &right)
}

/// The longest time between two Hello messages that came, without that in which the machine stood still.
fn longest(heard: Watch) -> Duration {
    // One more comes after what was loaded.
    std::thread::sleep(2 * INTERVAL);
    let watched = heard.end();
    let own = watched.longest_of_its_own();
    println!("the longest between two is {:?}, {own:?} of it the daemon's", watched.longest());
    own
}

#[test]
#[ignore = "needs root and BPF"]
fn hellos_leave_on_time_while_65_000_rules_are_set_and_taken_back() {
    let address = |number: u32| std::net::Ipv4Addr::from_bits(0x0a01_0000 + number);
    let rules: Vec<_> = (0..MANY).map(|number| rule(&format!("{}/32", address(number)), 4, 100)).collect();
    let rules = json!({"priority": 1000, "rules": rules}).to_string();
    within(HOLD, "a Hello comes after another", || {
        with_switch("mode = \"tag-forward\"", |places, switch, right| {
            let heard = Watch::start(switch, right, "a");
            for body in [rules.as_str(), rules.as_str(), "{\"priority\": 1000, \"rules\": []}"] {
                let began = Instant::now();
                let (status, answer) = http(&places.run, "s", "PUT", "/v1/flows", body);
                assert_eq!(status, 200, "{answer}");
                println!("rules are as wanted after {:?}", began.elapsed());
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
    // Replacing all of them holds the next Hello up by more than an interval.
    within(2 * HOLD, "a Hello comes after another", || {
        with_switch("mode = \"ecmp\"\nroutes_file = \"routes.toml\"", |places, switch, right| {
            let heard = Watch::start(switch, right, "a");
            for first in [0, 1, 100] {
                write(places, first);
                let began = Instant::now();
                let answer = switch.ctl("reload");
                assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
                println!("routes are read and set after {:?}", began.elapsed());
            }
            longest(heard)
        })
    });
}
