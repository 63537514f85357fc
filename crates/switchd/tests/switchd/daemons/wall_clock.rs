//! The wall clock is set back and forth, as by a time server or an administrator.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_HOLD, Places, Switch};
use crate::daemons::traffic::Stream;
use crate::wait::wait_for_more;

const SHIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/wall_clock.c");
const HOUR: i64 = 3600;
const KEY: &str = "hello_key = \"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\"";

/// The wall clock of some programs.
struct WallClock {
    library: PathBuf,
    shift: PathBuf,
}

impl WallClock {
    fn new(places: &Places) -> Self {
        let file = |name: &str| places.run.join(name);
        let (library, shift) = (file("shim.so"), file("shift"));
        let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(SHIM).status();
        assert!(compiled.expect("a C compiler").success());
        let clock = Self { library, shift };
        clock.set(0);
        clock
    }

    /// Sets it to the real time and so many seconds.
    fn set(&self, seconds: i64) {
        let new = self.shift.with_extension("new");
        fs::write(&new, seconds.to_string()).expect("a file");
        fs::rename(&new, &self.shift).expect("a file");
    }

    /// Restarts a daemon, which has this clock from then on.
    fn give(&self, switch: &mut Switch<'_>) {
        let text = |path: &PathBuf| path.display().to_string();
        switch.environment =
            vec![("LD_PRELOAD".into(), text(&self.library)), ("WEFT_SHIFT".into(), text(&self.shift))];
        switch.stop();
        switch.begin();
    }
}

fn accepted(switch: &Switch<'_>) -> u64 {
    switch.show("counters")["hello"]["heard"].as_u64().expect("a count")
}

/// The hour of the latest log line.
fn logged_hour(switch: &Switch<'_>) -> i64 {
    switch.log().lines().next_back().expect("a line")[11..13].parse().expect("an hour")
}

#[test]
#[ignore = "needs root and BPF"]
fn a_wall_clock_that_is_set_by_an_hour_disturbs_neither_links_nor_traffic() {
    let pair = Pair::new(&["a"]);
    let clock = WallClock::new(&pair.places);
    let mut switches = pair.start(&format!("mode = \"tcp-path\"\n{KEY}\n{LONG_HOLD}"));
    switches.iter_mut().for_each(|switch| clock.give(switch));
    let [left, right] = &mut switches;
    let fabric = [("a", "fabric")];
    left.wait_roles(&fabric);
    right.wait_roles(&fabric);
    assert!(pair.reach(7), "{}", left.log());
    let hour = logged_hour(left);
    let stream = Stream::start(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:9", Duration::from_millis(2));
    stream.goes_on(50);
    for shift in [HOUR, 0, -HOUR, 0] {
        clock.set(shift);
        for switch in [&*left, &*right] {
            wait_for_more("Hellos are accepted", 10, || accepted(switch));
            switch.wait_roles(&fabric);
        }
        stream.goes_on(50);
    }
    // After a restart, sequence numbers go on where they were.
    for shift in [HOUR, 0, -HOUR] {
        clock.set(shift);
        left.kill();
        left.begin();
        let moved = (logged_hour(left) - hour).rem_euclid(24);
        assert!(
            (moved - shift / HOUR).rem_euclid(24) <= 1,
            "the clock was not set: {moved} hours, {shift} s"
        );
        for switch in [&*left, &*right] {
            wait_for_more("Hellos are accepted", 10, || accepted(switch));
        }
        left.wait_roles(&fabric);
        stream.goes_on(50);
    }
    let outcome = stream.end();
    assert_eq!(outcome.received, outcome.sent, "{}{}", left.log(), right.log());
    for switch in [&*left, &*right] {
        let refused = &switch.show("counters")["hello"]["refused"];
        let replayed = refused["replay"].as_u64().unwrap_or(0);
        assert_eq!(replayed, 0, "Hellos count as replayed: {refused}");
    }
}
