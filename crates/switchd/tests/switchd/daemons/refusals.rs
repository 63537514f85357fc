//! The daemon's error messages: the problem and the fix.

use std::process::Output;

use crate::daemons::switch::{Places, Switch, refused};
use crate::net::{Netns, host};

fn says(output: &Output, what: &str, expected: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {text}");
    let error = &text[text.find("error:").unwrap_or_else(|| panic!("{what}: {text}"))..];
    for part in expected {
        assert!(error.contains(part), "{what}: no `{part}` in\n{text}");
    }
    assert!(!text.contains("panicked"), "{what}: {text}");
}

/// Invalid configurations, and expected parts of the error.
const TEXTS: &[(&str, &[&str])] = &[
    ("mode = \n", &["invalid TOML", "refused.toml:1:"]),
    ("mode = \"tcp-path\"\nprots = [\"a\"]\n", &[":2:1", "did you mean `ports`?"]),
    ("[hello]\nintervall = \"1 s\"\n", &[":2:1", "in [hello]", "did you mean `interval`?"]),
    ("mode = \"tcp-pat\"\nports = [\"a\"]", &[":1:8", "did you mean `tcp-path`?"]),
    ("ports = [\"a\"]", &["no `mode`", "mode = \"tcp-path\""]),
    ("mode = \"tcp-path\"", &["no `ports`", "--port eth1"]),
    ("mode = \"tcp-path\"\nports = \"a\"", &[":2:9", "expected a list of strings"]),
    ("mode = \"tcp-path\"\nports = [\"a\", \"a\"]", &["\"a\" twice"]),
    ("name = \"../x\"\nmode = \"tfe\"\nports = [\"a\"]", &["1 to 32 letters"]),
];

/// The same for the lines after `mode` and `ports`: mode, lines, expected parts of the error.
const LINES: &[(&str, &str, &[&str])] = &[
    (
        "tcp-path",
        r#"hello_key = "0011""#,
        &[":3:13", "only 2 bytes", "at least 16 bytes", "openssl rand -hex 32"],
    ),
    ("tcp-path", r#"hello_key = "0g""#, &["not whole bytes in hexadecimal"]),
    ("tcp-path", r#"hello_key_file = "no.key""#, &["cannot read", "no.key"]),
    ("tcp-path", "[hello]\ninterval = \"10 ms\"", &[":4:12", "expected 50 ms to 60 s"]),
    ("tcp-path", "[hello]\ninterval = \"1\"", &["the unit is missing"]),
    ("tcp-path", "[exploration]\nflow_tabel = 3", &["did you mean `flow_table`?"]),
    ("tcp-path", "[exploration]\nhops = 0", &[":4:8", "1 to 255"]),
    ("tcp-path", "[exploration]\nlock = \"20 s\"", &[":4:8", "longer than"]),
    ("tcp-path", "[exploration]\nexploration = \"valley-free\"", &["`tier` is not set", "tier = 1"]),
    (
        "tfe",
        "[exploration]\nover = \"spanning_tree\"",
        &[":4:8", "`over` is \"spanning_tree\"", "expected \"arp_path\"", "`weft run`"],
    ),
    ("tcp-path", "[exploration]\nover = \"ecmp\"", &["`over` is \"ecmp\""]),
    ("tcp-path", "[exploration]\nbroadcast_lock = \"0 s\"", &[":4:18", "`broadcast_lock` is 0", "1 ps"]),
    ("tcp-path", "[exploration]\nrepair = \"0 s\"", &[":4:10", "`repair` is 0", "1 ps"]),
    ("tcp-path", r#"fabric_ports = ["eth2"]"#, &["\"eth2\" is not a port", "did you mean `eth1`?"]),
    ("ecmp", "[[route]]\nstation = \"02:00:00:00:00:01\"\nports = [\"eth3\"]", &["\"eth3\" is not a port"]),
    (
        "arp-path",
        "[[route]]\nstation = \"02:00:00:00:00:01\"\nports = [\"eth1\"]",
        &["`arp-path`: it finds paths itself"],
    ),
    ("ecmp", "[[route]]\nstation = \"2:0:0:0:0:1\"\nports = [\"eth1\"]", &["02:00:00:00:00:01"]),
    ("tcp-path", r#"control = { mode = "999" }"#, &["permissions in octal"]),
    (
        "tag-forward",
        "[tags]\nchoice = \"least-loaded\"",
        &[":4:10", "the kernel program cannot see the queue lengths of ports"],
    ),
    ("tag-forward", "[exploration]\nwidth = \"wide\"", &[":4:1", "unknown key `width` in [exploration]"]),
    ("flow-table", "[tags]\nethertype = \"0x0800\"", &[":4:13", "used by other frames"]),
    ("tag-forward", "[tags]\nethertype = \"0x05ff\"", &[":4:13", "0x0600 to 0xffff"]),
    (
        "ecmp",
        "[tags]\nwidth = \"wide\"",
        &["`[tags]` does not apply to mode `ecmp`", "tag-forward, flow-table"],
    ),
    ("tag-forward", r#"routes_file = "r""#, &["`tag-forward`: it uses gates and rules"]),
    ("tcp-path", r#"metrics = "19465""#, &["127.0.0.1:19465"]),
];

#[test]
fn a_configuration_that_is_wrong_is_refused_with_its_line_and_what_was_expected() {
    let (places, netns) = (Places::new(), Netns::here());
    let check = |text: &str| refused(&netns, &places, text, &["--check"]);
    for (text, expected) in TEXTS {
        says(&check(text), text, expected);
    }
    let after = |mode: &str, lines: &str| check(&format!("mode = \"{mode}\"\nports = [\"eth1\"]\n{lines}"));
    for (mode, lines, expected) in LINES {
        says(&after(mode, lines), lines, expected);
    }
    let many: Vec<String> = (0..65).map(|number| format!("\"e{number}\"")).collect();
    let text = format!("mode = \"tcp-path\"\nports = [{}]", many.join(", "));
    says(&check(&text), "too many", &["65 interfaces", "at most 64"]);
    for (secret, line, expected) in [
        ("5ec2e7", "hello_key = \"5ec2e7\"", ["3 | hello_key = \"******\"", "only 3 bytes"]),
        ("527", "hello_key = 527", ["`hello_key` is of the wrong type", "expected a string in quotes"]),
    ] {
        let output = after("tcp-path", line);
        says(&output, line, &expected);
        assert!(!String::from_utf8_lossy(&output.stderr).contains(secret), "{output:?}");
    }
    says(&check("mode = \"x\"\nports = []\nwhat = 1\n"), "all at once", &[":1:8", ":2:9", ":3:1"]);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_start_that_is_refused_leaves_nothing_behind() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let config = "mode = \"tcp-path\"\nports = [\"h1\"]\n";
    let _taken = netns.run(|| std::net::TcpListener::bind("127.0.0.1:19465").expect("an address"));
    let interface = || netns.output("ip -d link show dev h1");
    let before = interface();
    for (more, expected) in [
        ("control = { group = \"no-such-group\" }", "no group `no-such-group`"),
        ("metrics = \"127.0.0.1:19465\"", "listening on the address of `metrics`"),
    ] {
        says(&refused(&netns, &places, &format!("{config}{more}"), &[]), more, &[expected]);
        assert_eq!(interface(), before, "{more}");
        assert!(!places.pins.join("weft").exists(), "{more}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_second_daemon_of_a_name_is_refused_and_one_on_an_interface_waits_for_it() {
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
        let second = "mode = \"arp-path\"\nports = [\"h2\"]";
        let expected = ["is already a port of the switch `first`", "weftctl --name first down"];
        for other in ["tcx", "clsact"] {
            let waits = Switch::start_with(&netns, &places, "second", second, &["--attach", other]);
            let why = waits.show("ports")[0]["unfit"].as_str().unwrap_or_default().to_owned();
            assert!(expected.iter().all(|part| why.contains(part)), "{attach}, {other}: {why}");
            assert!(waits.ctl("down").status.success());
        }
        switch.wait_roles(&[("h2", "host")]);
        // A killed switch keeps its ports until it is detached.
        switch.kill();
        let waits = Switch::start_with(&netns, &places, "second", second, &flags);
        assert_eq!(waits.role("h2"), "down");
        let run = places.run.display().to_string();
        let pins = places.pins.display().to_string();
        let detach = ["--name", "first", "--detach", "--run-dir", &run, "--pin-dir", &pins];
        let output =
            netns.command(env!("CARGO_BIN_EXE_weft-switchd")).args(detach).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        waits.wait_roles(&[("h2", "host")]);
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
