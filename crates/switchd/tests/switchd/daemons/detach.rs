//! Detaching removes only pins that Weft created, and lists each of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::daemons::switch::{Places, Switch, refused};
use crate::daemons::traffic::reaches;
use crate::net::{Netns, host};

const SWITCHD: &str = env!("CARGO_BIN_EXE_weft-switchd");

/// Runs `weft-switchd --detach` with this name and pin directory.
fn detach(netns: &Netns, places: &Places, name: &str, pins: &Path) -> Output {
    let mut command = netns.command(SWITCHD);
    command.arg("--run-dir").arg(&places.run).arg("--pin-dir").arg(pins);
    command.args(["--detach", "--name", name]).output().expect("it runs")
}

/// Everything below a directory.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(all(&entry.path()));
        }
        found.push(entry.path());
    }
    found.sort();
    found
}

fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("error:"), "{output:?}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
#[ignore = "needs root and BPF"]
fn a_name_that_is_a_path_or_empty_is_refused_wherever_a_name_is_given() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let switch = Switch::start(&netns, &places, "s", "mode = \"tcp-path\"\nports = [\"h1\"]");
    let before = all(&places.pins);
    let run = places.run.display().to_string();
    let deeper = places.pins.join("s");
    for name in ["", ".", "..", "../s", "s/maps", "/", "s.x", "a b", &"n".repeat(33)] {
        for pins in [&places.pins, &deeper] {
            let text = error(&detach(&netns, &places, name, pins));
            assert!(text.contains("1 to 32 letters, digits"), "{name:?}: {text}");
        }
        let arguments = ["--run-dir", &run, "--name", name, "--mode", "tcp-path", "--port", "h1"];
        error(&netns.command(SWITCHD).args(arguments).output().expect("it runs"));
        let mut ctl = netns.command(env!("CARGO_BIN_EXE_weftctl"));
        let output = ctl.args(["--run-dir", &run, "--name", name, "down"]).output().expect("it runs");
        assert!(error(&output).contains("1 to 32 letters, digits"), "{name:?}");
        let quoted = format!("name = {name:?}\nmode = \"tcp-path\"\nports = [\"h1\"]");
        assert!(error(&refused(&netns, &places, &quoted, &["--check"])).contains("1 to 32 letters, digits"));
    }
    assert_eq!(all(&places.pins), before);
    switch.wait_roles(&[("h1", "host")]);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_directory_outside_a_bpf_file_system_is_left_alone_by_detach_and_by_a_start() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let home = places.run.join("home");
    fs::create_dir_all(home.join("me/maps")).expect("a directory");
    fs::write(home.join("me/maps/stations"), "a diary").expect("a file");
    let before = all(&home);
    let text = error(&detach(&netns, &places, "me", &home));
    assert!(text.contains(&home.join("me").display().to_string()), "{text}");
    assert!(text.contains("was not created by Weft: it is not in a BPF file system"), "{text}");
    let flags = ["--pin-dir", &home.display().to_string()];
    let output = refused_elsewhere(&netns, &places, &flags);
    assert!(error(&output).contains("pins must be in a BPF file system"), "{output:?}");
    assert_eq!(all(&home), before, "no file may be removed or created");
}

/// Starts a daemon with the pin directory given in `flags`.
fn refused_elsewhere(netns: &Netns, places: &Places, flags: &[&str]) -> Output {
    let mut command = netns.command(SWITCHD);
    command.arg("--run-dir").arg(&places.run).args(["--name", "me", "--mode", "tcp-path", "--port", "h1"]);
    command.args(flags).output().expect("it runs")
}

#[test]
#[ignore = "needs root and BPF"]
fn what_others_have_pinned_is_named_and_refused_before_anything_is_removed() {
    let (netns, places) = (Netns::new(), Places::new());
    let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
    let config = "mode = \"tcp-path\"\nports = [\"h1\", \"h2\"]";
    let mut switch = Switch::start(&netns, &places, "s", config);
    switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
    let pins = places.pins.join("s");
    let foreign = |what: &str, path: &Path, why: &str, switch: &Switch<'_>| {
        let before = all(&places.pins);
        let down = switch.ctl("down");
        assert!(error(&down).contains(why), "{what}: {down:?}");
        assert_eq!(all(&places.pins), before, "{what}");
        assert_eq!(switch.role("h1"), "host", "{what}: the daemon must keep running");
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{what}: frames must still be forwarded");
        let text = error(&switch.ctl("down"));
        assert!(text.contains(&path.display().to_string()), "{what}: {text}");
    };
    let cases: [(&str, PathBuf, &str); 4] = [
        ("a directory", pins.join("globals"), "creates no pin of this name"),
        ("a directory among maps", pins.join("maps/mine"), "has a map of this name"),
        ("a directory for a link", pins.join("links/0:h9"), "it should be a pinned link"),
        ("a strange name of a link", pins.join("links/h9"), "PORT:INTERFACE"),
    ];
    for (what, path, why) in &cases {
        fs::create_dir(path).expect("a directory");
        foreign(what, path, why, &switch);
        fs::remove_dir(path).expect("it is still there");
    }
    let second = pins.join("maps/not_ours");
    fs::hard_link(pins.join("maps/stations"), &second).expect("a pin");
    foreign("a map of another name", &second, "has a map of this name", &switch);
    fs::remove_file(&second).expect("a pin");
    let aside = places.pins.join("aside");
    fs::rename(pins.join("filters"), &aside).expect("a directory");
    symlink(&aside, pins.join("filters")).expect("a link");
    foreign("a symbolic link", &pins.join("filters"), "should be a directory", &switch);
    // The same without a daemon; the next daemon refuses to start.
    switch.kill();
    let stations = pins.join("maps/stations");
    fs::rename(&stations, places.pins.join("stations")).expect("a pin");
    fs::hard_link(pins.join("maps/ports"), &stations).expect("a pin");
    fs::remove_file(pins.join("filters")).expect("a link");
    fs::create_dir(pins.join("filters")).expect("a directory");
    let text = error(&detach(&netns, &places, "s", &places.pins));
    assert!(text.contains("another name in the kernel"), "{text}");
    fs::remove_dir(pins.join("filters")).expect("a directory");
    symlink(&aside, pins.join("filters")).expect("a link");
    fs::rename(places.pins.join("stations"), &stations).expect("a pin");
    let before = all(&places.pins);
    assert!(error(&detach(&netns, &places, "s", &places.pins)).contains("should be a directory"));
    let output = refused(&netns, &places, &format!("name = \"s\"\n{config}"), &[]);
    assert!(error(&output).contains("should be a directory"), "{output:?}");
    fs::create_dir(places.pins.join("empty")).expect("a directory");
    assert!(error(&detach(&netns, &places, "empty", &places.pins)).contains("it is empty"));
    fs::remove_dir(places.pins.join("empty")).expect("it is still there");
    assert_eq!(all(&places.pins), before);
    assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"));
    fs::remove_file(pins.join("filters")).expect("a link");
    fs::rename(&aside, pins.join("filters")).expect("a directory");
    assert!(detach(&netns, &places, "s", &places.pins).status.success());
}

#[test]
#[ignore = "needs root and BPF"]
fn everything_that_is_removed_is_printed_and_nothing_else_is_gone() {
    for (attach, by_daemon) in [("tcx", false), ("clsact", false), ("tcx", true)] {
        let (netns, places) = (Netns::new(), Places::new());
        let _hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
        let config = "mode = \"tcp-path\"\nports = [\"h1\"]";
        let mut switch = Switch::start_with(&netns, &places, "s", config, &["--attach", attach]);
        let beside = Switch::start(&netns, &places, "t", "mode = \"arp-path\"\nports = [\"h2\"]");
        let (ours, kept) = (all(&places.pins.join("s")), all(&places.pins.join("t")));
        assert!(ours.len() > 10);
        let output = if by_daemon {
            switch.ctl("down")
        } else {
            switch.kill();
            detach(&netns, &places, "s", &places.pins)
        };
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        for path in ours.iter().chain([&places.pins.join("s")]) {
            assert!(text.contains(&format!("removed {}", path.display())), "{} in {text}", path.display());
        }
        for line in
            ["h1 no longer forwards", "h1 is no longer promiscuous", "h1 has IPv6 again", "s.interfaces"]
        {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!places.pins.join("s").exists());
        assert_eq!(all(&places.pins), [vec![places.pins.join("t")], kept].concat());
        drop(beside);
        let again = detach(&netns, &places, "s", &places.pins);
        assert!(String::from_utf8_lossy(&again.stdout).contains("nothing to detach"), "{again:?}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_filter_of_somebody_else_stays_though_its_program_is_called_as_ours() {
    let (netns, places) = (Netns::new(), Places::new());
    let _hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
    let config = |port: &str| format!("mode = \"tcp-path\"\nports = [\"{port}\"]");
    let mut switch = Switch::start_with(&netns, &places, "s", &config("h1"), &["--attach", "clsact"]);
    let other = Switch::start_with(&netns, &places, "t", &config("h2"), &["--attach", "clsact"]);
    let program = places.pins.join("t/program").display().to_string();
    let add = "filter add dev h1 ingress prio 5 handle 7 bpf direct-action object-pinned";
    netns.sh(&format!("tc {add} {program}"));
    let filters = || {
        let text = netns.output("tc filter show dev h1 ingress");
        text.lines().filter(|line| line.contains("handle")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(filters().len(), 2, "{:?}", filters());
    switch.kill();
    assert!(detach(&netns, &places, "s", &places.pins).status.success());
    let left = filters();
    assert!(left.len() == 1 && left[0].contains("pref 5") && left[0].contains("handle 0x7"), "{left:?}");
    drop(other);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_file_or_the_socket_of_another_program_in_the_place_of_ours_is_left_alone() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let pins = places.pins.display().to_string();
    let start = || refused_elsewhere(&netns, &places, &["--pin-dir", &pins]);
    fs::write(places.run.join("me.sock"), "a diary").expect("a file");
    assert!(error(&start()).contains("me.sock: is not a socket, so weft-switchd did not create it"));
    assert_eq!(fs::read_to_string(places.run.join("me.sock")).expect("the file"), "a diary");
    fs::remove_file(places.run.join("me.sock")).expect("the file");
    let other = std::os::unix::net::UnixListener::bind(places.run.join("me.sock")).expect("a socket");
    assert!(error(&start()).contains("is the socket of another running program"));
    assert!(std::os::unix::net::UnixStream::connect(places.run.join("me.sock")).is_ok());
    drop(other);
    assert!(!places.pins.join("me").exists());
}
