//! Killing, stopping or replacing a daemon loses no frame, and the next daemon adopts its state.

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use aya::programs::links::{FdLink, PinnedLink};

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_CONFIRMED, Places, Switch, TwoHosts};
use crate::daemons::tap::Tap;
use crate::daemons::traffic::{Connection, Strays, Stream, reaches};
use crate::net::{Netns, host};
use crate::wait::{DEADLINE, wait_for};

#[test]
#[ignore = "needs root and BPF"]
fn no_frame_is_lost_while_daemons_are_killed_and_started_under_load() {
    for attach in ["tcx", "clsact"] {
        let two = TwoHosts::new();
        let mut switch = two.switch("tcp-path", &["--attach", attach]);
        let (places, hosts) = (&two.places, &two.hosts);
        let mut connection = Connection::open(&hosts[0], &hosts[1], "10.0.0.2:80");
        let stream = Stream::start(&hosts[0], &hosts[1], "10.0.0.2:9", Duration::from_micros(100));
        for round in 0..6 {
            stream.goes_on(500);
            if round % 2 == 0 {
                switch.kill()
            } else {
                switch.stop()
            }
            // The first time for longer than any hold time.
            stream.goes_on(if round == 0 { 6_000 } else { 500 });
            connection.send(1_000_000);
            switch.begin();
            assert_eq!(switch.show("status")["adopted"], true);
            assert_eq!(switch.role("h1"), "host", "roles are adopted");
        }
        let outcome = stream.end();
        assert_eq!(outcome.received, outcome.sent, "{attach}: frames lost");
        // Another holder of the link does not keep the program attached.
        let pin = places.pins.join("s/links/0:h1");
        let held = (attach == "tcx").then(|| FdLink::from(PinnedLink::from_pin(pin).expect("a link")));
        let output = switch.ctl("down");
        assert!(output.status.success(), "{output:?}");
        wait_for("the pins are removed", || !places.pins.join("s").exists());
        // The ports belong to the machine again: it answers the datagrams that are sent after those for the other host.
        two.netns.ip("addr add 10.0.0.9/24 dev h1");
        let strays = Strays::send(&hosts[0], &hosts[1], "10.0.0.2:7");
        assert!(reaches(&hosts[0], &two.netns, "10.0.0.9:7"), "{attach}: {}", switch.log());
        assert!(strays.are_lost(), "{attach}: still forwarding after down");
        assert!(!switch.log().contains("cannot be reattached"), "{attach}: {}", switch.log());
        drop(held);
    }
}

/// Starts the left daemon, but stops it for two hold times of its neighbour as soon as its program forwards.
fn start_slowly<'a>(pair: &'a Pair, start: impl FnOnce() -> Switch<'a>) -> Switch<'a> {
    let (program, lock) = (pair.places.pins.join("l/program"), pair.places.run.join("l.lock"));
    let pinned = move || std::fs::metadata(&program).map(|pin| pin.ino()).ok();
    let locked = move || std::fs::read_to_string(&lock).ok().and_then(|pid| pid.trim().parse::<i32>().ok());
    let (before, tap) = ((pinned(), locked()), Tap::start(&pair.left, "a"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            wait_for("the daemon has its lock", || locked().is_some() && locked() != before.1);
            let (pid, began) = (locked().expect("a number"), Instant::now());
            let signal = |signal| {
                // SAFETY: no pointers; the daemon runs until the end of the test.
                assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
            };
            // Without a pause: it decides on its ports a moment later.
            while pinned() == before.0 {
                assert!(began.elapsed() < DEADLINE, "the program does not forward");
            }
            signal(libc::SIGSTOP);
            tap.wait_for_hellos(7);
            signal(libc::SIGCONT);
            tap.end();
        });
        start()
    })
}

#[test]
#[ignore = "needs root and BPF"]
fn a_daemon_that_starts_slowly_reads_hellos_before_it_decides_on_ports() {
    let pair = Pair::new(&["a"]);
    // The right daemon has to send in each hold time, on a busy machine as well.
    let config = "mode = \"arp-path\"\nports = [\"h\", \"a\"]\n[hello]\ninterval = \"500 ms\"";
    let _right = Switch::start(&pair.right, &pair.places, "r", config);
    let mut left = start_slowly(&pair, || Switch::start(&pair.left, &pair.places, "l", config));
    left.wait_roles(&[("a", "fabric"), ("h", "host")]);
    let of = |port: &str, role: &str| {
        let is = |line: &&str| line.contains(&format!("interface={port}")) && line.contains(role);
        left.log().lines().filter(is).count()
    };
    assert_eq!((of("a", "role=Host"), of("h", "role=Host")), (0, 1), "{}", left.log());
    left.kill();
    let left = start_slowly(&pair, || {
        left.begin();
        left
    });
    let heard = || left.show("counters")["hello"]["heard"].as_u64();
    wait_for("a Hello is received", || heard() > Some(0));
    assert!(!left.log().contains("fallen silent"), "{}", left.log());
    assert_eq!(left.role("a"), "fabric");
}

#[test]
#[ignore = "needs root and BPF"]
fn stations_flows_and_neighbours_are_adopted_and_numbers_of_hellos_grow() {
    let pair = Pair::new(&["a"]);
    // A daemon takes seconds to start on a busy machine: the hold time is longer.
    let key = format!(
        "mode = \"tcp-path\"\nfabric_ports = [\"a\"]\nhello_key = \"{}\"\n\
         {LONG_CONFIRMED}[hello]\ninterval = \"600 ms\"\nhold = 100",
        "5a".repeat(32)
    );
    let [mut l, r] = pair.start(&key);
    let mut connection = Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80");
    connection.send(1000);
    l.kill();
    l.begin();
    assert_eq!(l.role("a"), "fabric");
    let stations = l.show("hosts").to_string();
    assert!(stations.contains("02:00:00:00:00:01") && stations.contains("02:00:00:00:00:02"), "{stations}");
    assert_eq!(l.show("paths")["total"], 2);
    // Hellos of the new daemon are accepted: their sequence numbers continue.
    let heard = || r.show("counters")["hello"]["heard"].as_u64();
    let before = heard();
    wait_for("two more Hellos are received", || heard() >= before.map(|count| count + 2));
    assert_eq!(r.role("a"), "fabric");
    assert_eq!(r.show("counters")["hello"]["refused"], serde_json::json!({}));
    assert!(!r.log().contains("silent"), "{}", r.log());
    connection.send(1000);
}

#[test]
#[ignore = "needs root and BPF"]
fn ports_that_are_left_out_or_change_their_number_are_let_go() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2"), host(3, &netns, "h3")];
        let start = |ports: &str| {
            let config = format!("mode = \"arp-path\"\nports = [{ports}]");
            Switch::start_with(&netns, &places, "s", &config, &["--attach", attach])
        };
        let mut switch = start("\"h1\", \"h2\", \"h3\"");
        switch.wait_roles(&[("h1", "host"), ("h2", "host"), ("h3", "host")]);
        assert!(reaches(&hosts[0], &hosts[2], "10.0.0.3:7"), "{attach}");
        switch.stop();
        // The first two ports have swapped numbers.
        for (ports, is_gone) in [("\"h2\", \"h1\", \"h3\"", false), ("\"h3\", \"h1\"", true)] {
            switch = start(ports);
            switch.wait_roles(&[("h1", "host"), ("h3", "host")]);
            if !is_gone {
                assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{attach}: under new numbers");
            }
            // The third host answers datagrams that are sent after those for the second.
            let strays = is_gone.then(|| Strays::send(&hosts[0], &hosts[1], "10.0.0.2:7"));
            assert!(reaches(&hosts[0], &hosts[2], "10.0.0.3:7"), "{attach}: under new numbers");
            assert!(strays.is_none_or(Strays::are_lost), "{attach}: h2 is no longer a port");
            switch.stop();
        }
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_keeps_its_pin_when_its_program_is_replaced_and_when_its_port_has_another_number() {
    use std::os::unix::fs::MetadataExt;
    let (netns, places) = (Netns::new(), Places::new());
    let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
    let config = |ports: &str| format!("mode = \"tcp-path\"\nports = [{ports}]");
    let pin = |path: &str| std::fs::metadata(places.pins.join("s/links").join(path)).expect("a pin").ino();
    let mut switch =
        Switch::start_with(&netns, &places, "s", &config("\"h1\", \"h2\""), &["--attach", "tcx"]);
    let first = [pin("0:h1"), pin("1:h2")];
    switch.kill();
    switch.begin();
    assert_eq!([pin("0:h1"), pin("1:h2")], first);
    switch.stop();
    drop(switch);
    let switch = Switch::start_with(&netns, &places, "s", &config("\"h2\", \"h1\""), &["--attach", "tcx"]);
    assert_eq!([pin("1:h1"), pin("0:h2")], first);
    assert_eq!(std::fs::read_dir(places.pins.join("s/links")).expect("pins").count(), 2);
    switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
    assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"));
}
