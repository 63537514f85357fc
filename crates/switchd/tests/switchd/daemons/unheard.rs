//! Neighbours whose daemon hangs: their data plane keeps forwarding, and no frame is lost.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use weft_switchd::Mode;

use crate::daemons::hostile::frames::hello;
use crate::daemons::hostile::send;
use crate::daemons::leaf_spine::LeafSpine;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, Switch};
use crate::daemons::tap::Tap;
use crate::daemons::traffic::{Connection, Outcome, Stream, reaches};
use crate::net::{Netns, host};
use crate::wait::{Pace, wait_for, wait_for_more};

/// Three intervals of 100 ms, as in all these tests.
const HOLD: Duration = Duration::from_millis(300);

/// A leaf's daemon hangs and goes on: all frames of two streams arrive, and connections can be opened.
fn hang(mode: &str, ms: u64) {
    let (network, places) = (LeafSpine::new(), Places::new());
    // As many datagrams as in a hold time, one every 2 ms.
    let of_hold = 3 * ms / 2;
    let mut switches = network.start_at(&places, mode, &format!("{ms} ms"));
    let hosts = &network.hosts;
    if mode == "ecmp" {
        // Broadcasts work as in every mode.
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{mode}");
    }
    let mut old = Connection::open(&hosts[0], &hosts[1], "10.0.0.2:80");
    let streams = network.streams(2);
    streams[0].goes_on(of_hold);
    let before = switches.leaves[0].log().len();
    switches.leaves[0].pause();
    wait_for("a spine keeps using the leaf", || {
        switches.spines.iter().any(|spine| spine.role("l0") == "unheard")
    });
    old.send(100_000);
    assert!(reaches(&hosts[1], &hosts[0], "10.0.0.1:7"), "{mode}");
    Connection::open(&hosts[1], &hosts[0], "10.0.0.1:81").send(100_000);
    streams[0].goes_on(3 * of_hold);
    switches.leaves[0].resume();
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "fabric")]);
    }
    streams[0].goes_on(2 * of_hold);
    for Outcome { sent, received } in streams.map(Stream::end) {
        assert_eq!(received, sent, "{mode}: {}", switches.log());
    }
    let log = switches.leaves[0].log();
    // Lines about late turns may be left out for ten seconds after one before the pause.
    assert!(log.contains("did not run for a while") && !log[before..].contains("silent"), "{mode}: {log}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_leaf_whose_daemon_hangs_loses_nothing_and_nobody_is_lost_when_it_goes_on() {
    // Four times as long as elsewhere, to tolerate scheduling delays of the daemons that do not hang.
    let exploring = Mode::all().filter(|mode| mode.scheme().explores.is_some());
    exploring.for_each(|mode| hang(mode.word(), 400));
}

#[test]
#[ignore = "needs root and BPF"]
fn a_leaf_whose_daemon_hangs_loses_nothing_under_ecmp_and_nobody_is_lost_when_it_goes_on() {
    // A SYN-ACK over a spine that has received nothing else from the leaf for a hold time is lost. TCP sends another a
    // second later, which must be within the next hold time.
    hang("ecmp", 500);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_is_unheard_is_shown_counted_and_named_once_in_the_log() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start(&places, "arp-path");
    assert!(reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"));
    let streams = network.streams(10);
    let began = Instant::now();
    switches.leaves[0].pause();
    wait_for("a spine keeps using the leaf", || {
        switches.spines.iter().any(|spine| spine.role("l0") == "unheard")
    });
    // Three hold times, at one datagram every 10 ms.
    streams[0].goes_on(90);
    // It stays unheard as long as frames arrive; if a stream pauses for a hold time, the port is silent until it resumes.
    let mut kept = None;
    wait_for("the port stays unheard", || {
        kept = switches.spines.iter().find(|spine| spine.role("l0") == "unheard");
        kept.is_some()
    });
    let spine = kept.expect("a spine that keeps the port");
    let shown = String::from_utf8(spine.ctl("show ports").stdout).expect("text");
    assert!(shown.contains("unheard, still delivers frames"), "{shown}");
    let metrics = places.metrics(&spine.name);
    assert!(
        metrics.lines().any(|line| line.contains("role=\"unheard\"") && line.ends_with(" 1")),
        "{metrics}"
    );
    // Beside a load, the other leaf may have been unheard, too.
    let is_about_it = |line: &&str| line.contains("used as the last resort") && line.contains("interface=l0");
    let lines = spine.log().lines().filter(is_about_it).count();
    assert!((1..=1 + began.elapsed().as_secs() / 10).contains(&(lines as u64)), "{}", spine.log());
    switches.leaves[0].resume();
    let _ = streams.map(Stream::end);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_neighbour_that_is_dead_is_noticed_a_hold_after_its_last_hello_though_it_sent_until_it_died() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start(&places, "arp-path");
    assert!(reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"));
    let streams = network.streams(1);
    let taps = network.spines.each_ref().map(|spine| Tap::start(spine, "l0"));
    taps.iter().for_each(|tap| tap.wait_for_hellos(3));
    // Stops its frames and Hello messages at the same moment; carriers stay. Killing the daemon and detaching its programs
    // could take as long as a hold time, with the daemon gone and the data plane still forwarding.
    for port in ["s0", "s1"] {
        network.leaves[0].sh(&format!("tc qdisc replace dev {port} root blackhole"));
    }
    for (spine, tap) in switches.spines.iter().zip(taps) {
        spine.wait_roles(&[("l0", "silent")]);
        let hello = *tap.hellos().last().expect("Hello messages");
        // The line is logged once in ten seconds: if the leaf was silent before, it is an earlier one.
        if let Some(after) = spine.logged("the neighbour has fallen silent", hello) {
            println!("the death is detected {after:?} after the last Hello");
            assert!(after >= HOLD, "{after:?}");
        }
    }
    let _ = streams.map(Stream::end);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_silent_port_that_delivers_again_is_used_again_and_one_that_ends_is_silent_a_hold_later() {
    let (network, places) = (LeafSpine::new(), Places::new());
    // A host repeats ARP Requests once per second: within the hold time.
    let mut switches = network.start_at(&places, "arp-path", "500 ms");
    for host in &network.hosts {
        // No traffic except the test's own.
        host.sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1");
    }
    switches.leaves[0].pause();
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "silent")]);
    }
    assert!(
        reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"),
        "frames from the silent port must be accepted"
    );
    assert!(reaches(&network.hosts[1], &network.hosts[0], "10.0.0.1:7"));
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "silent")]);
    }
    switches.leaves[0].resume();
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "fabric")]);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_heals_is_no_neighbour_that_hangs() {
    const HUNG: &str = "has its weft-switchd hung?";
    let pair = Pair::new(&["a"]);
    for host in &pair.hosts {
        // No traffic except the test's own.
        host.sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1");
    }
    let [l, mut r] = pair.start("mode = \"arp-path\"\n[hello]\ninterval = \"100 ms\"\nhold = 20");
    pair.right.sh("tc qdisc replace dev a root blackhole");
    l.wait_roles(&[("a", "silent")]);
    // The first frame over the healed link is no Hello.
    r.pause();
    pair.right.sh("tc qdisc del dev a root");
    let (socket, mut frame) = (pair.right.packets("a", None), [0_u8; 60]);
    (frame[0], frame[6]) = (2, 2);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    send(&socket, &frame);
    l.wait_roles(&[("a", "unheard")]);
    r.resume();
    l.wait_roles(&[("a", "fabric")]);
    let log = l.log();
    assert!(log.contains("frames of the silent neighbour arrive again") && !log.contains(HUNG), "{log}");
    // A daemon that hangs on an idle link.
    r.pause();
    l.wait_roles(&[("a", "silent")]);
    let mut pace = Pace::new(Duration::from_millis(20));
    wait_for("a neighbour that delivers frames for a hold time without Hello messages hangs", || {
        pace.turn();
        send(&socket, &frame);
        l.log().contains(HUNG)
    });
    r.resume();
    l.wait_roles(&[("a", "fabric")]);
}

#[test]
#[ignore = "needs root and BPF"]
fn hellos_that_are_not_the_neighbours_end_the_last_resort() {
    let key = |byte: &str| {
        format!("mode = \"arp-path\"\nports = [\"a\", \"h\"]\nhello_key = \"{}\"", byte.repeat(16))
    };
    let pair = Pair::new(&["a"]);
    let [l, mut r] = pair.begin([&key("a1"), &key("a1")]);
    l.wait_roles(&[("a", "fabric"), ("h", "host")]);
    r.wait_roles(&[("a", "fabric"), ("h", "host")]);
    let every = Duration::from_millis(5);
    let stream = Stream::start(&pair.hosts[1], &pair.hosts[0], "10.0.0.1:9", every);
    r.pause();
    l.wait_roles(&[("a", "unheard")]);
    r.resume();
    r.kill();
    r.write(&key("b2"));
    r.begin();
    l.wait_roles(&[("a", "silent")]);
    // Frames do not restore the port as long as a Hello is refused in each hold time (`hold.rs`).
    let refused = || l.show("counters")["hello"]["refused"]["signature"].as_u64().unwrap_or(0);
    wait_for_more("Hellos are refused", 3, refused);
    l.wait_roles(&[("a", "silent")]);
    stream.end();
}

#[test]
#[ignore = "needs root and BPF"]
fn a_service_manager_is_notified_for_as_long_as_the_daemon_is_alive() {
    let (netns, places) = (Netns::new(), Places::new());
    let host = host(1, &netns, "host");
    let mut switch = Switch::start(&netns, &places, "s", "mode = \"arp-path\"\nports = [\"host\"]");
    switch.stop();
    let path = places.run.join("notify");
    let manager = UnixDatagram::bind(&path).expect("a socket");
    // The daemon notifies twice as often as it has to.
    let interval = Duration::from_millis(200);
    manager.set_read_timeout(Some(2 * interval)).expect("a time");
    let usec = (2 * interval).as_micros().to_string();
    let variables = [("NOTIFY_SOCKET", path.display().to_string()), ("WATCHDOG_USEC", usec)];
    switch.environment = variables.map(|(name, value)| (name.to_owned(), value)).into();
    switch.begin();
    let notification = || {
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).trim().to_owned())
    };
    for _ in 0..10 {
        wait_for("the service manager is notified", || match notification().as_deref() {
            Some("WATCHDOG=1" | "READY=1") => true,
            other => {
                assert_eq!(other, None);
                false
            }
        });
    }
    switch.pause();
    wait_for("notifications stop", || notification().is_none());
    switch.resume();
    wait_for("notifications resume", || notification().as_deref() == Some("WATCHDOG=1"));
    // Load from hosts does not cause extra notifications.
    let socket = host.packets("eth0", None);
    let began = Instant::now();
    manager.set_nonblocking(true).expect("a socket");
    while notification().is_some() {}
    let (mut sequence, mut said, mut pace) = (0, 0, Pace::new(Duration::from_micros(200)));
    wait_for("ten notifications", || {
        for _ in 0..10 {
            pace.turn();
            sequence += 1;
            send(&socket, &hello(7, 60_000, sequence));
        }
        said += u32::from(notification().is_some());
        said == 10
    });
    assert!(began.elapsed() >= 9 * interval, "ten notifications in {:?}", began.elapsed());
}
