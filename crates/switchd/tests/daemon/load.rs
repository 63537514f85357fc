//! Hello messages leave on time whatever the daemon has to load.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::net::{Netns, cable};
use crate::or_skip;
use crate::switch::{Places, Switch, within};
use crate::tags::{http, rule};
use crate::tap::Tap;

/// Rules, and routes: as many as a table of routes has room for.
const MANY: u32 = 65_000;
/// Of a Hello, as it is unless somebody sets it.
const INTERVAL: Duration = Duration::from_secs(1);

/// A switch with one neighbour that says nothing.
fn with_switch(places: &Places, config: &str, check: impl FnOnce(&Switch<'_>, &Netns)) {
    let (left, right) = (Netns::new(), Netns::new());
    cable((&left, "a"), (&right, "a"));
    let config = format!("{config}\nports = [\"a\"]\n[hello]\ninterval = \"1 s\"\n");
    let switch = Switch::start(&left, places, "s", &config);
    check(&switch, &right);
}

/// The longest time between two Hello messages that came.
fn longest(heard: Tap) -> Duration {
    // One more comes after what was loaded.
    std::thread::sleep(2 * INTERVAL);
    let times = heard.hellos();
    assert!(times.len() > 2, "{}", times.len());
    let longest = times.windows(2).map(|pair| pair[1].duration_since(pair[0]).unwrap_or_default());
    longest.max().expect("two at least")
}

#[test]
fn hellos_leave_on_time_while_65_000_rules_are_set_and_taken_back() {
    or_skip!();
    let places = Places::new();
    with_switch(&places, "mode = \"tag-forward\"", |_, right| {
        let address = |number: u32| std::net::Ipv4Addr::from_bits(0x0a01_0000 + number);
        let rules: Vec<_> =
            (0..MANY).map(|number| rule(&format!("{}/32", address(number)), 4, 100)).collect();
        let rules = json!({"priority": 1000, "rules": rules}).to_string();
        within(2 * INTERVAL, "a Hello comes after another", || {
            let heard = Tap::start(right, "a");
            for body in [rules.as_str(), rules.as_str(), "{\"priority\": 1000, \"rules\": []}"] {
                let began = Instant::now();
                let (status, answer) = http(&places.run, "s", "PUT", "/v1/flows", body);
                assert_eq!(status, 200, "{answer}");
                println!("rules are as wanted after {:?}", began.elapsed());
            }
            longest(heard)
        });
    });
}

#[test]
fn hellos_leave_on_time_while_65_000_routes_are_read_and_replaced() {
    or_skip!();
    let places = Places::new();
    let file = places.run.join("routes.toml");
    let write = |first: u32| {
        let route = |number: u32| {
            let [a, b, c, d] = number.to_be_bytes();
            format!("[[route]]\nstation = \"02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}\"\nports = [\"a\"]\n")
        };
        let text: String = (first..first + MANY).map(route).collect();
        std::fs::write(&file, text).expect("a file");
    };
    write(0);
    with_switch(&places, "mode = \"ecmp\"\nroutes_file = \"routes.toml\"", |switch, right| {
        within(2 * INTERVAL, "a Hello comes after another", || {
            let heard = Tap::start(right, "a");
            for first in [1, 100] {
                write(first);
                let began = Instant::now();
                let answer = switch.ctl("reload");
                assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
                println!("routes are read and set after {:?}", began.elapsed());
            }
            longest(heard)
        });
    });
}
