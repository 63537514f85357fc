//! The control socket and metrics: answers and permissions.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_CONFIRMED, Places, Switch};
use crate::daemons::trace::Trace;
use crate::daemons::traffic::Connection;
use crate::net::{Netns, host};
use crate::wait::wait_for;

#[test]
#[ignore = "needs root and BPF"]
fn tables_are_shown_for_people_and_as_json() {
    let pair = Pair::new(&["a"]);
    let config = "mode = \"tcp-path\"\ncontrol = { mode = \"0640\" }\nmetrics = \"127.0.0.1:19465\"\n";
    let [switch, _other] = pair.start(&format!("{config}{LONG_CONFIRMED}"));
    let mut connection = Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80");
    connection.send(100_000);

    let mode = std::fs::metadata(pair.places.socket("l")).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    for what in ["status", "ports", "neighbours", "counters", "hosts", "paths"] {
        // Ages and counts differ from one answer to the next, and states may change between them.
        let still = |answer: Value| answer.to_string().replace(|c: char| c.is_ascii_digit(), "");
        wait_for(what, || still(switch.ask(&format!("show {what}"))) == still(switch.show(what)));
    }
    assert_eq!(switch.ask("show status")["mode"], "tcp-path");
    let hosts_known = switch.ask("show hosts");
    let rows = hosts_known["hosts"].as_array().expect("a list");
    let class =
        |station: &str| rows.iter().find(|row| row["station"] == station).map(|row| row["class"].clone());
    assert_eq!(class("02:00:00:00:00:01"), Some(json!("attached")), "{hosts_known}");
    assert_eq!(class("02:00:00:00:00:02"), Some(json!("learnt")), "{hosts_known}");
    wait_for("the path of a connection that sends is shown", || {
        connection.send(1000);
        switch.ask("show paths --limit 1")["paths"].as_array().map(Vec::len) == Some(1)
    });
    let text = String::from_utf8(switch.ctl("show ports").stdout).expect("text");
    assert!(text.starts_with("port  interface  role"), "{text}");
    assert!(text.contains("fabric"), "{text}");

    let metrics = pair.left.run(|| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect("127.0.0.1:19465").expect("the exporter");
        write!(stream, "GET /metrics HTTP/1.0\r\n\r\n").expect("a connection");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        text
    });
    for part in [
        "content-type: text/plain; version=0.0.4",
        "# TYPE process_start_time_seconds gauge",
        "weft_switchd_info{switch=\"l\",mode=\"tcp-path\",",
        "# HELP weft_switchd_frames_forwarded_total Frames forwarded; ",
        "# TYPE weft_switchd_frames_forwarded_total counter\nweft_switchd_frames_forwarded_total ",
        "weft_switchd_frames_dropped_total{reason=\"late_copy\"}",
        "weft_switchd_port_up{port=\"a\"} 1",
        "weft_switchd_port_role{port=\"a\",role=\"fabric\"} 1",
        "weft_switchd_port_role{port=\"h\",role=\"fabric\"} 0",
        "weft_switchd_hellos_refused_total{reason=\"replay\"} 0",
        "weft_switchd_table_max_entries{table=\"paths\"} 1310720",
        "weft_switchd_programs_reattached_total 0",
    ] {
        assert!(metrics.contains(part), "no `{part}` in\n{metrics}");
    }
    let flushed = switch.ask("flush paths");
    assert!(flushed["paths"].as_u64() > Some(0) && flushed["hosts"] == 0, "{flushed}");
    assert_eq!(switch.show("paths")["total"], 0);
    assert!(pair.reach(7));
    let output = switch.ctl("drain nowhere");
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("`nowhere` is not a port of this switch, which has h, a")
    );
}

#[test]
#[ignore = "needs root and BPF"]
fn a_trace_shows_how_a_connection_finds_its_path() {
    let pair = Pair::new(&["a"]);
    let [left, _right] = pair.start("mode = \"tcp-path\"");
    let trace = Trace::start(&left);
    // Repeated, since the trace may start after the first connections.
    wait_for("the path is confirmed", || {
        Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80").send(1000);
        trace.events().iter().any(|event| event["what"] == "confirmed")
    });
    let events = trace.events();
    let explored = events.iter().find(|event| event["what"] == "explored").expect("an exploration");
    assert_eq!(
        (&explored["src"], &explored["dport"]),
        (&json!("02:00:00:00:00:01"), &json!(80)),
        "{explored}"
    );
}

#[test]
#[ignore = "needs root and BPF"]
fn a_configuration_that_is_read_again_changes_what_it_may_and_says_what_it_may_not() {
    let pair = Pair::new(&["a"]);
    let key =
        |byte: &str| format!("mode = \"tcp-path\"\nports = [\"a\"]\nhello_key = \"{}\"", byte.repeat(16));
    let [switch, other] = pair.begin([&key("a1"), &key("b2")]);
    wait_for("Hellos are refused", || {
        switch.show("counters")["hello"]["refused"]["signature"].as_u64() > Some(0)
    });
    switch.write(&key("b2"));
    assert_eq!(switch.ask("reload"), json!({"changed": ["hello_keys"]}));
    switch.wait_roles(&[("a", "fabric")]);
    other.wait_roles(&[("a", "fabric")]);
    switch.write("mode = \"tcp-path\"\nports = [\"a\", \"b\"]");
    let output = switch.ctl("reload");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("ports: needs a restart"), "{text}");
    assert_eq!(switch.role("a"), "fabric");
}

#[test]
#[ignore = "needs root and BPF"]
fn the_daemon_keeps_the_privileges_that_it_needs_and_no_others() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h");
    let switch = Switch::start(&netns, &places, "s", "mode = \"tcp-path\"\nports = [\"h\"]");
    let status = std::fs::read_to_string(format!("/proc/{}/status", switch.pid())).expect("procfs");
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim();
    // CAP_NET_ADMIN 12, CAP_NET_RAW 13, CAP_PERFMON 38, CAP_BPF 39.
    let kept = format!("{:016x}", (1_u64 << 12) | (1 << 13) | (1 << 38) | (1 << 39));
    for set in ["CapPrm:", "CapEff:", "CapBnd:"] {
        assert_eq!(value(set), kept, "{set}");
    }
    assert_eq!((value("CapAmb:"), value("CapInh:")), ("0000000000000000", "0000000000000000"));
    assert_eq!(value("NoNewPrivs:"), "1");
}

#[test]
#[ignore = "needs root and BPF"]
fn down_has_happened_when_it_is_answered_whatever_comes_after() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h");
    let config = "mode = \"tcp-path\"\nports = [\"h\"]\nmetrics = \"127.0.0.1:19465\"";
    let mut switch = Switch::start(&netns, &places, "s", config);
    let promiscuous = || netns.output("ip -d link show dev h").contains("promiscuity 1");
    for _ in 0..5 {
        assert!(promiscuous() && places.pins.join("s").exists());
        assert_eq!(switch.ask("down")["down"], true);
        assert!(!promiscuous() && !places.pins.join("s").exists(), "{}", switch.log());
        assert!(!places.run.join("s.sock").exists());
        // Whether it has exited yet or not, it can be started again.
        switch.stop();
        switch.begin();
    }
    let output = switch.ctl("down");
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn malformed_requests_and_silent_daemons_are_reported() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h");
    let switch = Switch::start(&netns, &places, "s", "mode = \"tcp-path\"\nports = [\"h\"]");
    for request in ["GET /v1/hosts?limit=x", "GET /v1/paths?limit=-1", "POST /v1/flush?what=x"] {
        let (status, body) = places.http("s", request, "");
        assert_eq!(status, 400, "{request}: {body}");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert!(body["error"].is_string(), "{request}: {body}");
    }
    let stuck = std::os::unix::net::UnixListener::bind(places.socket("t")).expect("a socket");
    let began = std::time::Instant::now();
    let output = switch.ctl(&format!("--socket {} show ports", places.socket("t").display()));
    let _ = stuck;
    assert!(output.status.code() == Some(1), "{output:?}");
    assert!(began.elapsed().as_secs() >= 10, "{:?}", began.elapsed());
    assert!(String::from_utf8_lossy(&output.stderr).contains("has not answered for 10 s"), "{output:?}");
}
