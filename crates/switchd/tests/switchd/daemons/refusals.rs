//! The daemon's error messages: the problem and the fix.

use std::process::Output;

use crate::daemons::net::{Netns, cable, host};
use crate::daemons::switch::{Places, Switch, refused};

fn says(output: &Output, what: &str, expected: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{what}: {text}");
    let error = &text[text.find("error:").unwrap_or_else(|| panic!("{what}: {text}"))..];
    for part in expected {
        assert!(error.contains(part), "{what}: no `{part}` in\n{text}");
    }
    assert!(!text.contains("panicked"), "{what}: {text}");
}

/// Invalid configurations: name, text, expected parts of the error.
const TEXTS: &[(&str, &str, &[&str])] = &[
    ("no TOML", "mode = \n", &["invalid TOML", "refused.toml:1:"]),
    ("unknown key", "mode = \"tcp-path\"\nprots = [\"a\"]\n", &[":2:1", "did you mean `ports`?"]),
    (
        "unknown key of a table",
        "[hello]\nintervall = \"1 s\"\n",
        &[":2:1", "in [hello]", "did you mean `interval`?"],
    ),
    ("unknown mode", "mode = \"tcp-pat\"\nports = [\"a\"]", &[":1:8", "did you mean `tcp-path`?"]),
    ("no mode", "ports = [\"a\"]", &["no `mode`", "mode = \"tcp-path\""]),
    ("no ports", "mode = \"tcp-path\"", &["no `ports`", "--port eth1"]),
    ("ports of another kind", "mode = \"tcp-path\"\nports = \"a\"", &[":2:9", "expected a list of strings"]),
    ("a port twice", "mode = \"tcp-path\"\nports = [\"a\", \"a\"]", &["\"a\" twice"]),
    ("a path as a name", "name = \"../x\"\nmode = \"tfe\"\nports = [\"a\"]", &["1 to 32 letters"]),
    (
        "short key",
        "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key = \"0011\"",
        &[":3:13", "only 2 bytes", "at least 16 bytes", "openssl rand -hex 32"],
    ),
    (
        "odd key",
        "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key = \"0g\"",
        &["not whole bytes in hexadecimal"],
    ),
    (
        "key file missing",
        "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key_file = \"no.key\"",
        &["cannot read", "no.key"],
    ),
    (
        "interval too short",
        "mode = \"tcp-path\"\nports = [\"a\"]\n[hello]\ninterval = \"10 ms\"",
        &[":4:12", "expected 50 ms to 60 s"],
    ),
    ("no unit", "mode = \"tcp-path\"\nports = [\"a\"]\n[hello]\ninterval = \"1\"", &["the unit is missing"]),
    (
        "unknown parameter",
        "mode = \"tcp-path\"\nports = [\"a\"]\n[exploration]\nflow_tabel = 3",
        &["did you mean `flow_table`?"],
    ),
    (
        "parameter out of range",
        "mode = \"tcp-path\"\nports = [\"a\"]\n[exploration]\nhops = 0",
        &[":4:8", "1 to 255"],
    ),
    (
        "contradictory parameters",
        "mode = \"tcp-path\"\nports = [\"a\"]\n[exploration]\nlock = \"20 s\"",
        &[":4:8", "longer than"],
    ),
    (
        "valley-free without a tier",
        "mode = \"tcp-path\"\nports = [\"a\"]\n[exploration]\nexploration = \"valley-free\"",
        &["`tier` is not set", "tier = 1"],
    ),
    (
        "broadcasts that are not remembered",
        "mode = \"tcp-path\"\nports = [\"eth1\"]\n[exploration]\nbroadcast_lock = \"0 s\"",
        &[":4:18", "`broadcast_lock` is 0", "above 0"],
    ),
    (
        "repairs without a pause",
        "mode = \"tcp-path\"\nports = [\"eth1\"]\n[exploration]\nrepair = \"0 s\"",
        &[":4:10", "`repair` is 0", "above 0"],
    ),
    (
        "unknown fabric port",
        "mode = \"tcp-path\"\nports = [\"eth1\"]\nfabric_ports = [\"eth2\"]",
        &["\"eth2\" is not a port", "did you mean `eth1`?"],
    ),
    (
        "route to an unknown port",
        "mode = \"ecmp\"\nports = [\"eth1\"]\n[[route]]\nstation = \"02:00:00:00:00:01\"\nports = [\"eth3\"]",
        &["\"eth3\" is not a port"],
    ),
    (
        "routes in a mode without routes",
        "mode = \"arp-path\"\nports = [\"eth1\"]\n[[route]]\nstation = \"02:00:00:00:00:01\"\nports = [\"eth1\"]",
        &["`arp-path`: it finds paths itself"],
    ),
    (
        "invalid station",
        "mode = \"ecmp\"\nports = [\"eth1\"]\n[[route]]\nstation = \"2:0:0:0:0:1\"\nports = [\"eth1\"]",
        &["02:00:00:00:00:01"],
    ),
    (
        "permissions",
        "mode = \"tcp-path\"\nports = [\"a\"]\ncontrol = { mode = \"999\" }",
        &["permissions in octal"],
    ),
    (
        "unsupported choice",
        "mode = \"tag-forward\"\nports = [\"a\"]\n[tags]\nchoice = \"least-loaded\"",
        &[":4:10", "the kernel program cannot see the queue lengths of ports"],
    ),
    (
        "an EtherType in use",
        "mode = \"flow-table\"\nports = [\"a\"]\n[tags]\nethertype = \"0x0800\"",
        &[":4:13", "used by other frames"],
    ),
    (
        "invalid EtherType",
        "mode = \"tag-forward\"\nports = [\"a\"]\n[tags]\nethertype = \"0x05ff\"",
        &[":4:13", "0x0600 to 0xffff"],
    ),
    (
        "tags in a mode without tags",
        "mode = \"ecmp\"\nports = [\"a\"]\n[tags]\nwidth = \"wide\"",
        &["`[tags]` does not apply to mode `ecmp`", "tag-forward, flow-table"],
    ),
    (
        "routes in a mode with gates",
        "mode = \"tag-forward\"\nports = [\"a\"]\nroutes_file = \"r\"",
        &["`tag-forward`: it uses gates and rules"],
    ),
    ("address", "mode = \"tcp-path\"\nports = [\"a\"]\nmetrics = \"9465\"", &["127.0.0.1:9465"]),
];

#[test]
fn a_configuration_that_is_wrong_is_refused_with_its_line_and_what_was_expected() {
    let (places, netns) = (Places::new(), Netns::here());
    for (what, text, expected) in TEXTS {
        says(&refused(&netns, &places, text, &["--check"]), what, expected);
    }
    let many: Vec<String> = (0..65).map(|number| format!("\"e{number}\"")).collect();
    let text = format!("mode = \"tcp-path\"\nports = [{}]", many.join(", "));
    says(&refused(&netns, &places, &text, &["--check"]), "too many", &["65 interfaces", "at most 64"]);
    let secret = "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key = \"5ec2e7\"";
    let output = refused(&netns, &places, secret, &["--check"]);
    says(&output, "a short key", &["3 | hello_key = \"******\"", "only 3 bytes"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("5ec2e7"), "{output:?}");
    let number = "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key = 527";
    let output = refused(&netns, &places, number, &["--check"]);
    says(
        &output,
        "a key without quotes",
        &["`hello_key` is of the wrong type", "expected a string in quotes"],
    );
    assert!(!String::from_utf8_lossy(&output.stderr).contains("527"), "{output:?}");
    let two = "mode = \"x\"\nports = []\nwhat = 1\n";
    says(&refused(&netns, &places, two, &["--check"]), "all at once", &[":1:8", ":2:9", ":3:1"]);
}

#[test]
#[ignore = "needs root and BPF"]
fn interfaces_that_cannot_be_ports_are_refused_with_what_to_do() {
    let (netns, other, places) = (Netns::new(), Netns::new(), Places::new());
    for name in ["eth1", "eth2", "small"] {
        cable((&netns, name), (&other, name));
    }
    netns.ip("link set dev small mtu 1400");
    netns.ip("link add name br0 type bridge");
    netns.ip("link set dev eth2 master br0");
    let config = |port: &str| format!("mode = \"tcp-path\"\nports = [\"{port}\"]");
    let cases: &[(&str, &[&str])] = &[
        ("eth11", &["no interface `eth11`", "did you mean `eth1`?", "ip link"]),
        ("wlan0", &["no interface `wlan0`"]),
        ("lo", &["`lo` is not an Ethernet interface"]),
        ("eth2", &["`eth2` is part of `br0`", "ip link set dev eth2 nomaster"]),
        ("br0", &["`br0` is a bridge"]),
        ("small", &["MTU of 1400", "1500 bytes", "ip link set dev small mtu 1520", "mtu = 1400"]),
    ];
    for (port, expected) in cases {
        says(&refused(&netns, &places, &config(port), &[]), port, expected);
    }
    // Nothing is left behind, and with a smaller MTU of hosts the interface is accepted.
    assert!(!places.pins.join("weft").exists());
    let output =
        refused(&netns, &places, "mtu = 1400\nmode = \"tcp-path\"\nports = [\"small\"]", &["--check"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_start_that_is_refused_leaves_nothing_behind() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let config = "mode = \"tcp-path\"\nports = [\"h1\"]\n";
    let _taken = netns.run(|| std::net::TcpListener::bind("127.0.0.1:9465").expect("an address"));
    let interface = || {
        let output = netns.command("ip").args(["-d", "link", "show", "dev", "h1"]).output();
        String::from_utf8(output.expect("iproute2").stdout).expect("text")
    };
    let before = interface();
    for (more, expected) in [
        ("control = { group = \"no-such-group\" }", "no group `no-such-group`"),
        ("metrics = \"127.0.0.1:9465\"", "listening on the address of `metrics`"),
    ] {
        says(&refused(&netns, &places, &format!("{config}{more}"), &[]), more, &[expected]);
        assert_eq!(interface(), before, "{more}");
        assert!(!places.pins.join("weft").exists(), "{more}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_second_daemon_of_a_name_or_on_an_interface_is_refused() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
        let config = "mode = \"tcp-path\"\nports = [\"h1\", \"h2\"]";
        let mut switch = Switch::start_with(&netns, &places, "first", config, &["--attach", attach]);
        let pid = switch.pid().to_string();
        let same = format!("name = \"first\"\n{config}");
        let flags = ["--attach", attach];
        says(
            &refused(&netns, &places, &same, &flags),
            "name",
            &["`first` is already running", &pid, "--name"],
        );
        let second = "name = \"second\"\nmode = \"arp-path\"\nports = [\"h2\"]";
        let expected = ["`h2` is already a port of the switch `first`", "weftctl --name first down"];
        for other in ["tcx", "clsact"] {
            let flags = ["--attach", other];
            says(&refused(&netns, &places, second, &flags), &format!("{attach}, {other}"), &expected);
        }
        // A killed switch keeps its ports until it is detached.
        switch.kill();
        says(&refused(&netns, &places, second, &flags), "left behind", &expected);
        let run = places.run.display().to_string();
        let pins = places.pins.display().to_string();
        let detach = ["--name", "first", "--detach", "--run-dir", &run, "--pin-dir", &pins];
        let output =
            netns.command(env!("CARGO_BIN_EXE_weft-switchd")).args(detach).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let free = Switch::start(&netns, &places, "second", "mode = \"arp-path\"\nports = [\"h2\"]");
        free.wait_roles(&[("h2", "host")]);
        drop(hosts);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn without_privileges_it_names_those_that_are_missing() {
    use std::os::unix::process::CommandExt;
    let (netns, places) = (Netns::new(), Places::new());
    let mut command = netns.command(env!("CARGO_BIN_EXE_weft-switchd"));
    command.args(["--mode", "tcp-path", "--port", "lo", "--run-dir"]).arg(&places.run);
    // SAFETY: no pointers, and these may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let drop = |cap: libc::c_ulong| libc::prctl(libc::PR_CAPBSET_DROP, cap, 0, 0, 0);
            // CAP_NET_RAW and CAP_BPF.
            if drop(13) == 0 && drop(39) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    let output = command.output().expect("it runs");
    says(&output, "capabilities", &["CAP_BPF, CAP_NET_RAW are missing", "AmbientCapabilities"]);
}

#[test]
fn weftctl_without_a_daemon_says_how_to_start_one() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_weftctl"))
        .args(["--name", "nobody", "--run-dir", "/nonexistent", "show", "ports"])
        .output()
        .expect("it runs");
    says(&output, "no daemon", &["/nonexistent/nobody.sock", "weft-switchd --config"]);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_switch_may_have_any_name_and_who_holds_the_common_lock_for_long_is_not_waited_for() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let config = "mode = \"tcp-path\"\nports = [\"h1\"]";
    let switch = Switch::start(&netns, &places, "attach", config);
    switch.wait_roles(&[("h1", "host")]);
    drop(switch);
    let lock = std::fs::File::create(places.run.join(".attach.lock")).expect("a file");
    lock.lock().expect("a lock");
    let output = refused(&netns, &places, config, &[]);
    says(&output, "the lock", &[".attach.lock", "another weft-switchd holds it"]);
}
