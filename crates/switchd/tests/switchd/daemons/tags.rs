//! Gates and rules over the control socket and with `weftctl`, and the handling of frames without a rule.

use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemons::pair::Pair;
use crate::daemons::stalls::Watch;
use crate::daemons::switch::{LONG_HOLD, Places, Switch, one_of_three};
use crate::daemons::traffic::{Connection, Stream};
use crate::net::{Netns, host};
use crate::wait::{DEADLINE, wait_for};

/// Starts two switches in mode `tag-forward`. Hosts are on port 0, with gates 2 and 4; port 1, with gate 100, connects
/// the switches.
fn start(pair: &Pair) -> [Switch<'_>; 2] {
    pair.start("mode = \"tag-forward\"")
}

impl Pair {
    /// With room for tags on the link.
    pub fn for_tags() -> Self {
        let pair = Self::new(&["a"]);
        pair.left.ip("link set dev a mtu 1508");
        pair.right.ip("link set dev a mtu 1508");
        pair
    }

    /// Sets the gates of both.
    pub fn set_gates(&self) {
        for (name, gate) in [("l", 2), ("r", 4)] {
            let (status, answer) = self.http(name, "PUT /v1/gates", &gates(name, gate));
            assert_eq!((status, answer), (200, json!({"gates": 2})));
        }
    }

    /// Sets the rules for both hosts on both switches.
    pub fn set_rules(&self) {
        for (name, rules) in [("l", json!([local(1, 2), far(2, 4)])), ("r", json!([local(2, 4), far(1, 2)]))]
        {
            let (status, answer) =
                self.http(name, "PUT /v1/flows", &json!({"priority": 1000, "rules": rules, "groups": []}));
            assert_eq!((status, &answer["added"]), (200, &json!(2)), "{answer}");
        }
    }

    /// The number of frames that waited for a rule, with this outcome.
    fn waiting_frames(&self, name: &str, outcome: &str) -> u64 {
        let text = self.places.metrics(name);
        let head = format!("weft_switchd_waiting_frames_total{{outcome=\"{outcome}\"}} ");
        let count = text.lines().find_map(|line| line.strip_prefix(&head)?.parse().ok());
        count.unwrap_or_else(|| panic!("{text}"))
    }

    fn http(&self, name: &str, request: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        http(&self.places, name, request, &body)
    }
}

/// Sends a request to a daemon; returns status and body.
pub fn http(places: &Places, name: &str, request: &str, body: &str) -> (u16, Value) {
    let (status, text) = places.http(name, request, body);
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{request}: {text}")))
}

fn gates(name: &str, gate: u32) -> Value {
    json!({
        "switch": name, "layer": "edge", "down_divisor": 2, "up_divisor": 100, "width": "narrow",
        "gates": [
            {"port": 0, "gate": gate, "direction": "down", "flag": "G_SRV", "peer": format!("host{gate}")},
            {"port": 1, "gate": 100, "direction": "up", "peer": "other"},
        ],
    })
}

pub fn rule(destination: &str, down: u32, gate: u32) -> Value {
    let source = if destination.contains(':') { "::/0" } else { "0.0.0.0/0" };
    json!({
        "priority": 1000, "matches": {"source": source, "destination": destination},
        "action": {"queue": 0, "down": down, "to": {"way": {"gate": gate, "up": 0}}},
    })
}

/// A request with rules for `count` addresses. Its text is made rule by rule: as values, many rules take a gigabyte, and
/// every process that another test starts copies the page tables for it.
pub fn many_rules(count: u32) -> String {
    let address = |number| std::net::Ipv4Addr::from_bits(0x0a01_0000 + number);
    let rules: Vec<_> =
        (0..count).map(|at| rule(&format!("{}/32", address(at)), 4, 100).to_string()).collect();
    format!(r#"{{"priority": 1000, "groups": [], "rules": [{}]}}"#, rules.join(","))
}

/// The rule for a host on the same switch, and for one on the other.
fn local(host: u8, gate: u32) -> Value {
    rule(&format!("10.0.0.{host}/32"), gate, gate)
}

fn far(host: u8, gate: u32) -> Value {
    rule(&format!("10.0.0.{host}/32"), gate, 100)
}

/// The output lines of `weftctl`.
fn lines(switch: &Switch<'_>, arguments: &[&str]) -> Vec<String> {
    let output = switch.ctl_with(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

fn refusal(switch: &Switch<'_>, arguments: &[&str]) -> String {
    let output = switch.ctl_with(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
#[ignore = "needs root and BPF"]
fn hosts_talk_once_both_switches_are_provisioned_and_a_second_time_there_is_nothing_to_do() {
    let pair = Pair::for_tags();
    let [left, right] = start(&pair);
    assert!(pair.is_parted(&left, 7), "no rules are set yet");
    pair.set_gates();
    pair.set_rules();
    assert!(pair.reach(7));
    let (_, gates) = pair.http("l", "GET /v1/gates", &Value::Null);
    let expected = json!({
        "switch": "l", "layer": "edge", "width": "narrow", "ethertype": "0xff1f", "down_divisor": 2, "up_divisor": 100,
        "gates": [
            {"port": 0, "interface": "h", "gate": 2, "direction": "down", "flag": "srv", "peer": "host2"},
            {"port": 1, "interface": "a", "gate": 100, "direction": "up", "flag": null, "peer": "other"},
        ],
    });
    assert_eq!(gates, expected);
    let (_, flows) = pair.http("l", "GET /v1/flows?limit=1", &Value::Null);
    assert_eq!((&flows["total"], flows["rules"].as_array().map(Vec::len)), (&json!(2), Some(1)));
    // ARP and at least one datagram in each direction.
    let rules = left.ask("show flows")["rules"].clone();
    let packets = |host: u8| {
        let of = rules
            .as_array()
            .expect("a list")
            .iter()
            .find(|rule| rule["matches"]["destination"] == format!("10.0.0.{host}/32"));
        of.expect("the rule")["packets"].as_u64().expect("a count")
    };
    assert!(packets(2) >= 2 && packets(1) == 0, "{rules}");
    let again = json!({"priority": 1000, "rules": [far(2, 4), local(1, 2)], "groups": []});
    let (_, answer) = pair.http("l", "PUT /v1/flows", &again);
    assert_eq!(answer, json!({"added": 0, "replaced": 0, "removed": 0, "kept": 2}));
    // Another action, one rule less, and a group.
    let group = json!({"id": 7, "ways": [{"gate": 100, "up": 0}]});
    let to_group = json!({
        "priority": 1000, "matches": {"source": "0.0.0.0/0", "destination": "10.0.0.2/32"},
        "action": {"queue": 1, "down": 4, "to": {"group": 7}},
    });
    let wanted = json!({"priority": 1000, "rules": [to_group], "groups": [group]});
    let (_, answer) = pair.http("l", "PUT /v1/flows", &wanted);
    assert_eq!(answer, json!({"added": 0, "replaced": 1, "removed": 1, "kept": 0}));
    assert!(pair.reach(8));
    assert_eq!(left.ask("dump-groups"), json!([group]));
    let counted = &left.ask("dump-flows")["rules"][0];
    assert!(
        counted["packets"].as_u64() > Some(packets(2)),
        "the counters of a rule must continue: {counted}"
    );
    let counters = right.show("counters");
    assert!(counters["tags"]["popped"].as_u64() > Some(0) && counters["tags"]["pushed"].as_u64() > Some(0));
    let (_, status) = pair.http("l", "GET /v1/status", &Value::Null);
    assert_eq!(
        (&status["entries"]["rules"], &status["entries"]["groups"], &status["entries"]["gates"]),
        (&json!(1), &json!(1), &json!(2))
    );
}

#[test]
#[ignore = "needs root and BPF"]
fn weftctl_sets_gates_and_rules_one_at_a_time_and_what_it_dumps_it_reads() {
    let pair = Pair::for_tags();
    let [left, right] = start(&pair);
    for (switch, gate) in [(&left, "2"), (&right, "4")] {
        assert_eq!(lines(switch, &["set-divisors", "--down", "2", "--up", "100"]), ["divisors set"]);
        assert_eq!(
            lines(switch, &["set-gate", "h", gate, "--flag", "srv"]),
            [format!("h has gate {gate}, down")]
        );
        lines(switch, &["set-gate", "1", "100", "--up"]);
    }
    assert_eq!(
        lines(&left, &["dump-gates"]),
        [
            "width=narrow,ethertype=0xff1f,down_divisor=2,up_divisor=100",
            "port=0(h),gate=2,direction=down,flag=srv",
            "port=1(a),gate=100,direction=up",
        ]
    );
    let flow = "priority=1000,ip,nw_dst=10.0.0.2,actions=down:4,gate:100";
    let shown = "add priority=1000,ip,ip_dst=10.0.0.2 actions=queue:0,down:4,gate:100,up:0";
    assert_eq!(lines(&left, &["add-flow", flow]), [shown]);
    lines(&right, &["add-group", "group_id=3,bucket=gate:100"]);
    lines(&right, &["add-flow", "ip_src=10.0.0.2/32 ip_dst=10.0.0.0/24 actions=down:2,group:3"]);
    assert!(pair.reach(7));

    let text = refusal(&left, &["add-flow", flow]);
    assert!(
        text.starts_with("error: priority 1000, 0.0.0.0/0 -> 10.0.0.2/32: this rule already exists"),
        "{text}"
    );
    let text = refusal(&left, &["add-flow", "priority=1000,ip_dst=10.0.0.0/24,actions=down:4,gate:100"]);
    assert!(text.contains("conflicts with 0.0.0.0/0 -> 10.0.0.2/32 of the same priority"), "{text}");
    let text = refusal(&left, &["add-flow", "ip_dst=10.0.0.3,actions=down:9000,gate:100"]);
    assert!(text.contains("does not fit a narrow tag: DOWN"), "{text}");
    let text = refusal(&right, &["del-group", "3"]);
    assert!(text.contains("group 3 is used by 1 rules"), "{text}");
    let text = refusal(&left, &["set-gate", "h", "100"]);
    assert!(text.contains("gate 100 is assigned to ports 0 and 1"), "{text}");
    assert!(
        refusal(&left, &["set-gate", "eth9", "8"])
            .contains("`eth9` is not a port of this switch, which has h, a")
    );

    // All lines of a file, or none.
    let file = pair.places.run.join("flows");
    let path = file.to_str().expect("a path");
    let good = "# some more\ngroup_id=9,bucket=gate:100,up:0\n\npriority=5,ip_dst=10.9.0.0/16 actions=down:4,group:9\n";
    std::fs::write(&file, format!("{good}delete ip_dst=10.0.0.77\n")).expect("a file");
    let text = refusal(&left, &["add-flows", path]);
    assert!(text.starts_with(&format!("error: {path}:5: priority 32768, ")), "{text}");
    assert_eq!(lines(&left, &["dump-groups"]), [""; 0]);
    std::fs::write(&file, format!("{good}modify {}", flow.replace("down:4", "queue:2,down:4")))
        .expect("a file");
    assert_eq!(lines(&left, &["add-flows", path]), ["3 changes"]);
    let groups = lines(&left, &["dump-groups"]);
    assert_eq!(groups, ["group_id=9,type=select,bucket=gate:100,up:0"]);
    let flows = lines(&left, &["dump-flows"]);
    assert!(
        flows[0].ends_with("priority=1000,ip,ip_dst=10.0.0.2 actions=queue:2,down:4,gate:100,up:0"),
        "{flows:?}"
    );
    assert!(
        !flows[0].starts_with("n_packets=0,") && flows[1].starts_with("n_packets=0, n_bytes=0, "),
        "{flows:?}"
    );
    assert_eq!(lines(&left, &["dump-flows", "ip_dst=10.9.0.0/16"]), flows[1..]);

    // Removes all, and restores it from the dump.
    lines(&left, &["del-flow", "priority=1000,ip_dst=10.0.0.2"]);
    assert_eq!(lines(&left, &["del-flow", "--all", "ip_dst=10.0.0.0/8"]), ["removed 1 rules"]);
    lines(&left, &["del-group", "9"]);
    assert!(pair.is_parted(&left, 8));
    std::fs::write(&file, [groups, flows].concat().join("\n")).expect("a file");
    assert_eq!(lines(&left, &["add-flows", path]), ["3 changes"]);
    assert!(pair.reach(7));
    assert_eq!(lines(&left, &["del-gate", "a"]), ["removed the gate of a"]);
    assert!(refusal(&left, &["del-gate", "a"]).contains("port 1 has no gate"));
    // To another port: of the datagrams above, some may have waited for the rules.
    assert!(pair.is_parted(&left, 9));
}

#[test]
#[ignore = "needs root and BPF"]
fn what_cannot_be_read_or_taken_is_said_and_changes_nothing() {
    let pair = Pair::for_tags();
    let [left, _right] = start(&pair);
    pair.set_gates();
    pair.set_rules();
    let before = (left.ask("dump-gates"), left.ask("dump-flows")["rules"].clone());
    let bad_gate = json!({
        "switch": "l", "layer": "edge", "down_divisor": 2, "up_divisor": 100,
        "gates": [{"port": 7, "gate": 2, "direction": "down"}],
    });
    let change = |change: Value| json!({"changes": [{"add": far(9, 4)}, change]}).to_string();
    let spoilt = |from, to| gates("l", 2).to_string().replace(from, to);
    let twice = json!({"priority": 1000, "rules": [far(2, 4), rule("10.0.0.0/24", 4, 100)]}).to_string();
    let other = json!({"priority": 5, "rules": [far(2, 4)]}).to_string();
    let taken = change(json!({"add": far(2, 6)}));
    let cases = [
        ("PUT /v1/gates", "{".to_owned(), 400, "cannot parse the request body: EOF"),
        ("PUT /v1/gates", bad_gate.to_string(), 409, "gate 2 is set for port 7, but this switch has 2 ports"),
        ("PUT /v1/gates", spoilt("narrow", "wide"), 409, "these gates are for wide tags"),
        ("PUT /v1/gates", spoilt("switch", "swich"), 400, "unknown field `swich`"),
        ("PUT /v1/gates", gates("l", 100).to_string(), 409, "gate 100 is assigned to ports 0 and 1"),
        ("PATCH /v1/gates", r#"{"port":"h"}"#.into(), 400, "a gate needs `port`, `gate` and `direction`"),
        ("PATCH /v1/gates", r#"{"up_divisor":0}"#.into(), 409, "the up divisor cannot be 0"),
        ("DELETE /v1/gates/x", String::new(), 404, "`x` is not a port of this switch"),
        ("POST /v1/flows", change(json!({"ad": far(8, 4)})), 400, "unknown variant `ad`"),
        ("POST /v1/flows", taken, 409, "change 1: priority 1000, 0.0.0.0/0 -> 10.0.0.2/32: conf"),
        ("POST /v1/flows", change(json!({"remove_group": 3})), 409, "change 1: there is no group 3"),
        ("PUT /v1/flows", other, 409, "rule 0: priority 1000, but this"),
        ("PUT /v1/flows", twice, 409, "rule 1: priority 1000, 0.0.0.0/0 -> 10.0.0.0/24: conflicts"),
        ("GET /v1/flows?limit=x", String::new(), 400, "Failed to deserialize query string"),
    ];
    for (request, body, status, message) in cases {
        let (answered, answer) = http(&pair.places, "l", request, &body);
        let text = answer["error"].as_str().unwrap_or_default();
        assert!(answered == status && text.contains(message), "{request} {body}: {answered} {answer}");
        let numbered = text.starts_with("change ") || text.starts_with("rule ");
        assert_eq!(answer["at"].is_u64(), numbered, "{answer}");
    }
    assert_eq!((left.ask("dump-gates"), left.ask("dump-flows")["rules"].clone()), before);
    let long = " ".repeat((64 << 20) + 1);
    let (status, answer) = http(&pair.places, "l", "POST /v1/flows", &long);
    assert_eq!((status, answer["error"].as_str().map(|text| text.contains("64 MiB"))), (413, Some(true)));
    let other = Netns::new();
    let _host = host(3, &other, "h");
    let _switch = Switch::start(&other, &pair.places, "t", "mode = \"arp-path\"\nports = [\"h\"]");
    for path in ["/v1/gates", "/v1/flows", "/v1/notices"] {
        let (status, answer) = http(&pair.places, "t", &format!("GET {path}"), "");
        assert_eq!(status, 409);
        assert!(answer["error"].as_str().is_some_and(|text| text.contains("mode `arp-path`")), "{answer}");
    }
}

/// A stream of notices.
struct Listener(BufReader<UnixStream>);

impl Listener {
    fn open(places: &Places, name: &str) -> Self {
        let mut stream = UnixStream::connect(places.socket(name)).expect("the socket");
        write!(stream, "GET /v1/notices HTTP/1.0\r\n\r\n").expect("a connection");
        stream.set_read_timeout(Some(DEADLINE)).expect("a time");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).expect("a head");
        }
        Self(reader)
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a notice in time");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    /// The next notice for which `is` returns true.
    fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        std::iter::repeat_with(|| self.next()).find(is).expect("an endless iterator")
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn ports_are_reported_as_they_are_and_as_they_change() {
    let pair = Pair::for_tags();
    let [left, right] = start(&pair);
    let id = right.show("status")["switch_id"].clone();
    let mut listener = Listener::open(&pair.places, "l");
    let port = |port: u16, interface: &str, role: &str, up: bool, neighbour: Value| {
        json!({
            "what": "port", "port": port, "interface": interface, "role": role, "up": up, "neighbour": neighbour,
        })
    };
    assert_eq!(listener.next(), port(0, "h", "host", true, Value::Null));
    let connected = port(1, "a", "fabric", true, json!({"switch": id, "port": 1}));
    // Silent in between, if the other daemon does not run for a while.
    assert_eq!(listener.until(|notice| notice["role"] != "silent"), connected);
    pair.right.ip("link set dev a down");
    let down = listener.until(|notice| notice["up"] == false);
    assert_eq!(down, port(1, "a", "down", false, Value::Null));
    pair.right.ip("link set dev a up");
    listener.until(|notice| *notice == connected);
    drop((left, right));
}

#[test]
#[ignore = "needs root and BPF"]
fn the_first_packet_waits_for_its_rule_and_is_delivered() {
    let pair = Pair::for_tags();
    // The datagrams are the only traffic.
    pair.hosts[0].sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1");
    for host in [2, 8, 9] {
        pair.hosts[0].ip(&format!("neigh add 10.0.0.{host} lladdr 02:00:00:00:00:{host:02x} dev eth0"));
    }
    let [left, _right] = start(&pair);
    pair.set_gates();
    let (_, answer) =
        pair.http("r", "PUT /v1/flows", &json!({"priority": 1000, "rules": [local(2, 4), far(1, 2)]}));
    assert_eq!(answer["added"], 2, "{answer}");
    let echo = pair.hosts[1].run(|| UdpSocket::bind("10.0.0.2:7").expect("a port"));
    echo.set_read_timeout(Some(DEADLINE)).expect("a time");
    let socket = pair.hosts[0].run(|| UdpSocket::bind("10.0.0.1:7000").expect("a socket"));
    let mut buffer = [0; 8];
    let mut receive = || {
        let (length, from) = echo.recv_from(&mut buffer).expect("a datagram");
        assert_eq!((length, from.to_string().as_str()), (1, "10.0.0.1:7000"));
        buffer[0]
    };
    let misses = || left.show("counters")["tags"]["misses"].as_u64().expect("a count");
    let fates = || ["sent", "expired", "refused"].map(|fate| pair.waiting_frames("l", fate));
    // A frame waits for a second. If the rule comes later, on a busy machine, the datagrams are sent once more.
    wait_for("three datagrams wait for their rule and are sent", || {
        let (missed, before) = (misses(), fates());
        for number in 0..3_u8 {
            socket.send_to(&[number], "10.0.0.2:7").expect("it is sent");
        }
        wait_for("the datagrams have no rule", || misses() >= missed + 3);
        let (status, answer) = pair.http("l", "POST /v1/flows", &json!({"changes": [{"add": far(2, 4)}]}));
        assert_eq!((status, answer), (200, json!({"changes": 1, "warnings": []})));
        wait_for("no datagram waits", || fates().iter().sum::<u64>() >= before.iter().sum::<u64>() + 3);
        let received: Vec<u8> = (before[0]..fates()[0]).map(|_| receive()).collect();
        let all_waited = received.len() == 3;
        if all_waited {
            assert_eq!(received, [0, 1, 2]);
        } else {
            let (_, answer) = pair.http("l", "PUT /v1/flows", &json!({"priority": 1000, "rules": []}));
            assert_eq!(answer["removed"], 1, "{answer}");
        }
        all_waited
    });
    // Forwarded by the daemon, not the program.
    let text = pair.places.metrics("l");
    for part in [
        "weft_switchd_table_entries{table=\"rules\"} 1",
        "weft_switchd_flow_table_misses_total ",
        "weft_switchd_flow_table_lookups_total ",
        "weft_switchd_tags_pushed_total ",
        "weft_switchd_tags_popped_total ",
        "weft_switchd_tagged_frames_from_hosts_total 0",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }

    // A frame waits no longer, and others do not wait for it.
    let mut listener = Listener::open(&pair.places, "l");
    let [sent, expired, _] = fates();
    let began = Instant::now();
    for _ in 0..20 {
        socket.send_to(b"x", "10.0.0.9:7").expect("it is sent");
    }
    socket.send_to(b"y", "10.0.0.2:7").expect("it is sent");
    assert_eq!(receive(), b'y', "it has a rule");
    wait_for("all have expired", || fates()[1] >= expired + 20);
    let took = began.elapsed();
    let late = rule("10.0.0.9/32", 4, 100);
    let (status, _) = pair.http("l", "POST /v1/flows", &json!({"changes": [{"add": late}]}));
    assert_eq!((status, fates()[0]), (200, sent));

    // A pair is reported once per second. All 20 datagrams came to the daemon a second before the last expired.
    socket.send_to(b"z", "10.0.0.8:7").expect("it is sent");
    let miss = |to: &str| json!({"what": "miss", "port": 0, "source": "10.0.0.1", "destination": to});
    let notices = std::iter::repeat_with(|| listener.next()).take_while(|notice| *notice != miss("10.0.0.8"));
    let of_nine = notices.filter(|notice| *notice == miss("10.0.0.9")).count() as u64;
    assert!((1..=took.as_secs()).contains(&of_nine), "{of_nine} notices in {took:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_connection_opens_at_once_though_its_rule_is_made_for_its_first_segment() {
    let pair = Pair::for_tags();
    let [_left, _right] = start(&pair);
    pair.set_gates();
    let both = json!({"priority": 1000, "rules": [local(2, 4), far(1, 2)]});
    let (_, answer) = pair.http("r", "PUT /v1/flows", &both);
    assert_eq!(answer["added"], 2, "{answer}");
    pair.hosts[0].ip("neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0");
    let mut listener = Listener::open(&pair.places, "l");
    let mut connections = Vec::new();
    // A segment waits for a second: on a busy machine, the rule may come between two segments.
    wait_for("a first segment waits and is delivered", || {
        pair.http("l", "PUT /v1/flows", &json!({"priority": 1000, "rules": [local(1, 2)]}));
        let sent = pair.waiting_frames("l", "sent");
        std::thread::scope(|scope| {
            let controller = scope.spawn(|| {
                listener.until(|notice| notice["destination"] == "10.0.0.2");
                pair.http("l", "POST /v1/flows", &json!({"changes": [{"add": far(2, 4)}]}))
            });
            // The waiting segment's checksum was left to the interface; it is complete on arrival.
            let port = 80 + connections.len();
            connections.push(Connection::open(&pair.hosts[0], &pair.hosts[1], &format!("10.0.0.2:{port}")));
            assert_eq!(controller.join().expect("the controller").0, 200);
        });
        pair.waiting_frames("l", "sent") > sent
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn in_mode_flow_table_every_switch_goes_by_its_rules_and_there_are_no_tags() {
    let pair = Pair::for_tags();
    let [left, right] = pair.start("mode = \"flow-table\"\n[tags]\nwidth = \"wide\"\nchoice = \"spray\"");
    for (name, gate) in [("l", 2), ("r", 4)] {
        let mut gates = gates(name, gate);
        let (status, answer) = pair.http(name, "PUT /v1/gates", &gates);
        assert_eq!((status, answer["error"].as_str().map(|text| text.contains("wide"))), (409, Some(true)));
        gates["width"] = json!("wide");
        assert_eq!(pair.http(name, "PUT /v1/gates", &gates).0, 200);
    }
    pair.set_rules();
    assert!(pair.reach(7));
    for switch in [&left, &right] {
        let tags = switch.show("counters")["tags"].clone();
        assert_eq!((&tags["pushed"], &tags["popped"], &tags["forwarded"]), (&json!(0), &json!(0), &json!(0)));
        assert!(tags["lookups"].as_u64() >= Some(4), "{tags}");
    }
    assert!(lines(&left, &["dump-gates"])[0].starts_with("width=wide,ethertype=0xff2f,"));
    // Commands about exploration find nothing; the others work as in other modes.
    assert_eq!(left.ask("flush"), json!({"hosts": 0, "paths": 0}));
    assert_eq!((&left.show("hosts")["total"], &left.show("paths")["total"]), (&json!(0), &json!(0)));
    assert_eq!(left.ask("reload"), json!({"changed": []}));
    left.ask("drain a");
    let way = |gate: u32| json!({"id": 1, "ways": [{"gate": gate, "up": 0}]});
    let through_group = json!({"changes": [
        {"set_group": way(100)},
        {"replace": {
            "priority": 1000, "matches": {"source": "0.0.0.0/0", "destination": "10.0.0.2/32"},
            "action": {"queue": 0, "down": 4, "to": {"group": 1}},
        }},
    ]});
    assert_eq!(pair.http("l", "POST /v1/flows", &through_group).0, 200);
    assert!(pair.is_parted(&left, 8), "a draining port must not be used by a group");
    left.ask("drain a --undo");
    assert!(pair.reach(7));
}

#[test]
#[ignore = "needs root and BPF"]
fn gates_and_rules_outlive_the_daemon_and_frames_go_on() {
    let pair = Pair::for_tags();
    // The hold time, a minute, is longer than both daemons take to start on a busy machine.
    let config = "mode = \"tag-forward\"\nfabric_ports = [\"a\"]\n[hello]\ninterval = \"600 ms\"\nhold = 100";
    let [mut left, mut right] = pair.start(config);
    pair.set_gates();
    pair.set_rules();
    lines(&left, &["add-group", "group_id=3,bucket=gate:100,up:48"]);
    lines(
        &left,
        &["add-flow", "priority=7,ipv6,ipv6_src=fd00::/64,ipv6_dst=fd00::7,actions=queue:5,down:4,group:3"],
    );
    assert!(pair.reach(7));
    let known = |switch: &Switch<'_>| {
        let mut flows = switch.ask("dump-flows");
        for rule in flows["rules"].as_array_mut().expect("a list") {
            rule.as_object_mut()
                .expect("a rule")
                .retain(|key, _| !["packets", "bytes"].contains(&key.as_str()));
        }
        (switch.ask("dump-gates"), flows)
    };
    let packets =
        |switch: &Switch<'_>| switch.ask("dump-flows ip_dst=10.0.0.2")["rules"][0]["packets"].as_u64();
    let (before, counted) = (known(&left), packets(&left));
    let stream = Stream::start(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:9000", Duration::from_millis(1));
    for _ in 0..2 {
        stream.goes_on(100);
        left.kill();
        right.kill();
        left.begin();
        right.begin();
    }
    stream.goes_on(100);
    let outcome = stream.end();
    assert_eq!(outcome.sent, outcome.received);
    assert_eq!(known(&left), before);
    assert!(packets(&left) > counted, "{:?} after {counted:?}", packets(&left));
    left.wait_roles(&[("h", "host"), ("a", "fabric")]);
    let (_, answer) = pair.http("l", "POST /v1/flows", &json!({"changes": [{"add": far(2, 4)}]}));
    assert!(answer["error"].as_str().is_some_and(|text| text.contains("already exists")), "{answer}");
    assert_eq!(left.ask("down")["down"], true);
    assert!(!pair.places.run.join("l.gates").exists());
}

#[test]
#[ignore = "needs root and BPF"]
fn groups_by_hand_outlive_the_provisioners_lists_and_unknown_gates_are_said() {
    let pair = Pair::for_tags();
    let [left, _right] = start(&pair);
    pair.set_gates();
    let said = |arguments: &[&str]| {
        let output = left.ctl_with(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(said(&["add-group", "group_id=1000077,bucket=gate:100"]), "");
    said(&["add-flow", "priority=2000,ip_dst=10.7.0.1,actions=down:4,group:1000077"]);
    for kept in [0, 1] {
        let group = json!({"id": 0, "ways": [{"gate": 100, "up": 0}]});
        let wanted = json!({"priority": 1000, "rules": [far(2, 4)], "groups": [group]});
        let (status, answer) = pair.http("l", "PUT /v1/flows", &wanted);
        assert_eq!((status, &answer["kept"]), (200, &json!(kept)), "{answer}");
        assert_eq!(left.ask("dump-groups").as_array().map(Vec::len), Some(2));
    }
    let text = said(&["add-flow", "ip_dst=10.7.0.2,actions=down:4,gate:47"]);
    assert!(text.starts_with("warning: no port of this switch has gate 47"), "{text}");
    let text = said(&["add-group", "group_id=1000078,bucket=gate:100,bucket=gate:49"]);
    assert!(text.starts_with("warning: no port of this switch has gate 49"), "{text}");
    let text = refusal(&left, &["set-gate", "a", "57", "--up"]);
    assert!(text.contains("up gates of this switch are multiples of 100, and the next is 100 "), "{text}");

    // A switch accepts the gates that it shows.
    let (_, shown) = pair.http("l", "GET /v1/gates", &Value::Null);
    assert_eq!(shown["gates"][0]["flag"], "srv");
    assert_eq!(pair.http("l", "PUT /v1/gates", &shown), (200, json!({"gates": 2})));
    assert_eq!(pair.http("l", "GET /v1/gates", &Value::Null).1, shown);
    let patch = json!({"port": "h", "gate": 2, "direction": "down", "flag": "G_SRV"});
    assert_eq!(pair.http("l", "PATCH /v1/gates", &patch).0, 200);
    assert_eq!(pair.http("l", "GET /v1/gates", &Value::Null).1, shown);
    let mut strange = gates("r", 4);
    strange["gates"][0]["interface"] = json!("a");
    strange.as_object_mut().expect("an object").remove("width");
    let (status, answer) = pair.http("r", "PUT /v1/gates", &strange);
    assert_eq!(status, 409);
    assert!(
        answer["error"].as_str().is_some_and(|text| text.contains("`a`, but port 0 of this")),
        "{answer}"
    );
}

#[test]
#[ignore = "needs root and BPF"]
fn a_daemon_with_other_ports_says_whose_gates_are_anothers_and_drops_those_of_none() {
    let pair = Pair::for_tags();
    let [mut left, _right] = start(&pair);
    pair.set_gates();
    left.stop();
    drop(left);
    let config = "ports = [\"a\"]\nmode = \"tag-forward\"";
    let left = Switch::start(&pair.left, &pair.places, "l", config);
    let (_, gates) = pair.http("l", "GET /v1/gates", &Value::Null);
    assert_eq!(gates["gates"].as_array().map(Vec::len), Some(1), "{gates}");
    assert_eq!((&gates["gates"][0]["interface"], &gates["gates"][0]["gate"]), (&json!("a"), &json!(2)));
    let log = left.log();
    assert!(log.contains("gate 2 was set for `h`, but its port 0 is now `a`"), "{log}");
    assert!(log.contains("gate 100 was removed with its port 1 (`a`)"), "{log}");
}

#[test]
#[ignore = "needs root and BPF"]
fn many_rules_are_taken_in_seconds_and_hold_nothing_else_up() {
    let bodies = [40_000, 200_000].map(|count| (count, many_rules(count)));
    one_of_three("many rules", || {
        let pair = Pair::for_tags();
        let [left, right] = pair.start(&format!("mode = \"tag-forward\"\n{LONG_HOLD}"));
        pair.set_gates();
        let (mut known, mut own) = (0, Duration::ZERO);
        for (count, body) in &bodies {
            let watch = Watch::start(&left, &pair.right, "a");
            let is_over = AtomicBool::new(false);
            // The number of other requests that are answered in the meantime.
            let asks = || {
                let ask = || {
                    pair.places.http("l", "GET /v1/status", "");
                    !is_over.load(Ordering::Relaxed)
                };
                std::iter::repeat_with(ask).take_while(|was_in_time| *was_in_time).count()
            };
            let answered = std::thread::scope(|scope| {
                let answered = scope.spawn(asks);
                for (expected, new) in [("added", count - known), ("kept", *count)] {
                    let began = Instant::now();
                    let (status, answer) = http(&pair.places, "l", "PUT /v1/flows", body);
                    assert_eq!((status, &answer[expected]), (200, &json!(new)), "{answer}");
                    println!("{count} rules {expected}: {:?}", began.elapsed());
                }
                is_over.store(true, Ordering::Relaxed);
                answered.join().expect("the status requests")
            });
            watch.wait_for_hellos(2);
            let watched = watch.end();
            let (longest, its_own) = (watched.longest(), watched.longest_of_its_own());
            println!(
                "{count} rules: {answered} other requests are answered, longest Hello gap {longest:?}, {its_own:?} of it due to the \
                 daemon"
            );
            assert!(answered > 3, "{answered} requests answered while rules are set");
            (known, own) = (*count, own.max(its_own));
        }
        let one_more = json!({"changes": [{"add": rule("10.99.0.1/32", 4, 100)}]});
        let (status, answer) = pair.http("l", "POST /v1/flows", &one_more);
        assert_eq!(status, 409);
        assert!(answer["error"].as_str().is_some_and(|text| text.contains("table is full")), "{answer}");
        let text = lines(&left, &["dump-flows"]);
        assert_eq!(text.len(), 200_000);
        assert_eq!(right.role("a"), "fabric", "{}", right.log());
        assert!(!right.log().contains("silent"), "{}", right.log());
        let (_, answer) = pair.http("l", "PUT /v1/flows", &json!({"priority": 1000, "rules": []}));
        assert_eq!(answer["removed"], 200_000);
        (own < Duration::from_millis(300)).then_some(()).ok_or_else(|| format!("a Hello waits {own:?}"))
    });
}
