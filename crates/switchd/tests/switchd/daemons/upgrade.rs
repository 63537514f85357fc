//! An upgrade replaces the running program completely or not at all, and adopts only tables with an identical layout.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::daemons::switch::{Places, Switch, TwoHosts};
use crate::daemons::traffic::{Stream, reaches};
use crate::net::{Netns, host};
use crate::wait::wait_for;

/// All pins: path, inode, and target of symbolic links.
fn pinned(folder: &Path) -> Vec<(PathBuf, u64, Option<PathBuf>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("an entry");
        if kind.is_dir() {
            found.extend(pinned(&entry.path()));
        }
        let inode = fs::symlink_metadata(entry.path()).expect("an entry").ino();
        found.push((entry.path(), inode, fs::read_link(entry.path()).ok()));
    }
    found.sort();
    found
}

/// The IDs of programs attached to interfaces.
fn programs(netns: &Netns, hook: &str, interfaces: &[&str]) -> Vec<String> {
    let one = |interface: &&str| {
        if hook == "tcx" {
            let name = (*interface).to_owned();
            let query = move || {
                use aya::programs::{SchedClassifier, TcAttachType};
                let found = SchedClassifier::query_tcx(&name, TcAttachType::Ingress).expect("needs root");
                format!("{:?}", found.1.iter().map(|program| program.id()).collect::<Vec<_>>())
            };
            return netns.run(query);
        }
        let text = netns.output(&format!("tc filter show dev {interface} ingress"));
        text.split_whitespace().skip_while(|word| *word != "id").nth(1).unwrap_or_default().to_owned()
    };
    interfaces.iter().map(one).collect()
}

/// Starts a daemon with a limit of open files; returns whether it started, and its output.
fn start(netns: &Netns, places: &Places, config: &Path, attach: &str, files: u64) -> (bool, String) {
    let log = places.run.join("limited.log");
    let mut command = netns.command(env!("CARGO_BIN_EXE_weft-switchd"));
    command.arg("--config").arg(config).args(["--attach", attach]).arg("--run-dir").arg(&places.run);
    command.arg("--pin-dir").arg(&places.pins).stderr(fs::File::create(&log).expect("a file"));
    // SAFETY: close_range(2) and setrlimit(2) may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: files, rlim_max: files };
            // Files that the test inherited would count.
            match libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) {
                0 if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let mut child = command.spawn().expect("the daemon");
    let (socket, mut runs) = (places.run.join("s.sock"), false);
    wait_for(&format!("the daemon starts or exits with {files} files"), || {
        runs = UnixStream::connect(&socket).is_ok();
        runs || child.try_wait().expect("a child").is_some()
    });
    let _ = child.kill();
    child.wait().expect("a child");
    (runs, fs::read_to_string(&log).unwrap_or_default())
}

#[test]
#[ignore = "needs root and BPF"]
fn an_upgrade_that_fails_at_any_point_leaves_the_old_data_plane_forwarding_and_pinned_as_it_was() {
    for (attach, first) in [("tcx", 8), ("clsact", 9)] {
        let (netns, places) = (Netns::new(), Places::new());
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2"), host(3, &netns, "h3")];
        let config = |ports: &str, entries: u32| {
            format!("mode = \"tcp-path\"\nports = [{ports}]\n[exploration]\nflow_table = {entries}\n")
        };
        let mut switch =
            Switch::start_with(&netns, &places, "s", &config("\"h1\", \"h2\"", 4096), &["--attach", attach]);
        switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"));
        switch.stop();
        let stream = Stream::start(&hosts[0], &hosts[1], "10.0.0.2:9", Duration::from_millis(1));
        let interfaces = ["h1", "h2", "h3"];
        let before = (pinned(&places.pins), programs(&netns, attach, &interfaces));
        // One more port and tables of another size; and another order of ports, whose pins have other names.
        let other = |ports: &str, file: &str| {
            let file = places.run.join(file);
            let text = config(ports, 8192);
            fs::write(&file, format!("name = \"s\"\n{text}[hello]\ninterval = \"100 ms\"\n"))
                .expect("a file");
            file
        };
        let more = other("\"h1\", \"h2\", \"h3\"", "more.toml");
        let renumbered = other("\"h2\", \"h1\", \"h3\"", "renumbered.toml");
        let mut failures = Vec::new();
        let mut files = first;
        let said = loop {
            let (runs, said) = start(&netns, &places, &more, attach, files);
            if runs {
                break said;
            }
            for said in [said, start(&netns, &places, &renumbered, attach, files).1] {
                let now = (pinned(&places.pins), programs(&netns, attach, &interfaces));
                assert_eq!(now, before, "{attach}, {files} files: {said}");
                let error = said.find("error:").unwrap_or_else(|| panic!("{attach}, {files} files: {said}"));
                failures.push(said[error..].lines().next().unwrap_or_default().to_owned());
            }
            files += 3;
            assert!(files < 200, "{attach}: the daemon never starts: {failures:?}");
        };
        failures.dedup();
        println!("{attach}: {failures:#?}");
        assert!(failures.len() > 3, "{attach}: {failures:?}");
        let after = (pinned(&places.pins), programs(&netns, attach, &interfaces));
        assert!(after.1.iter().all(|program| !before.1.contains(program)), "{attach}: {before:?} {after:?}");
        assert!(!places.pins.join("s/next").exists(), "{attach}: {after:?}");
        // Only the tables whose size changed.
        for (map, begins_empty) in [("paths", true), ("locked", true), ("stations", false), ("ports", false)]
        {
            let line = said.lines().find(|line| line.contains("starts empty") && line.contains(map));
            assert_eq!(line.is_some(), begins_empty, "{attach}, {map}: {said}");
        }
        let outcome = stream.end();
        assert_eq!(outcome.received, outcome.sent, "{attach}: frames lost");
        drop(hosts);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_first_start_that_fails_leaves_no_pins() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let _host = host(1, &netns, "h1");
        let config = places.run.join("s.toml");
        fs::write(&config, "name = \"s\"\nmode = \"arp-path\"\nports = [\"h1\"]\n").expect("a file");
        let mut files = 8;
        // One more file at a time: each step of a start fails once.
        while let (false, said) = start(&netns, &places, &config, attach, files) {
            assert!(!places.pins.join("s").exists(), "{attach}, {files} files: {said}");
            files += 1;
            assert!(files < 200, "{attach}: the daemon never starts: {said}");
        }
        assert!(places.pins.join("s/program").exists(), "{attach}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_table_whose_fields_mean_something_else_begins_empty_and_is_named() {
    let two = TwoHosts::new();
    let mut switch = two.switch("tcp-path", &[]);
    let layout = two.places.pins.join("s/layouts/stations");
    let own = fs::read_link(&layout).expect("a layout");
    let hosts_known = |switch: &Switch<'_>| switch.show("hosts")["total"].as_u64();
    assert_eq!(hosts_known(&switch), Some(2));
    // Like another version's table: same sizes, different fields.
    for (other, why) in
        [(Some("0f".repeat(16)), "fields with another meaning"), (None, "fields with unknown meaning")]
    {
        switch.stop();
        two.hosts.iter().for_each(|host| host.ip("link set dev eth0 down"));
        fs::remove_file(&layout).expect("a layout");
        if let Some(other) = other {
            symlink(other, &layout).expect("a link");
        }
        switch.begin();
        let log = switch.log();
        let said: Vec<&str> = log.lines().filter(|line| line.contains("starts empty")).collect();
        assert!(
            said.last().is_some_and(|line| line.contains("stations") && line.contains(why)),
            "{why}: {log}"
        );
        assert_eq!(hosts_known(&switch), Some(0), "{why}");
        assert_eq!(fs::read_link(&layout).expect("a layout"), own, "{why}");
        two.hosts.iter().for_each(|host| host.ip("link set dev eth0 up"));
        switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
        assert!(two.reach(), "{why}");
    }
    assert_eq!(switch.log().matches("starts empty").count(), 2, "only what differs: {}", switch.log());
}

#[test]
#[ignore = "needs root and BPF"]
fn what_a_daemon_left_that_was_killed_while_it_started_is_in_nobodys_way() {
    let two = TwoHosts::new();
    let mut switch = two.switch("tcp-path", &[]);
    let pins = two.places.pins.join("s");
    let leave = || {
        for folder in ["next", "next/maps", "next/layouts"] {
            fs::create_dir(pins.join(folder)).expect("a directory");
        }
        symlink("0f".repeat(16), pins.join("next/layouts/paths")).expect("a link");
        // Without the map: the daemon was killed between the two steps.
    };
    switch.kill();
    leave();
    switch.begin();
    assert!(!pins.join("next").exists());
    assert!(!switch.log().contains("starts empty"), "{}", switch.log());
    assert!(two.reach());
    leave();
    let output = switch.ctl("down");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("next/layouts/paths"), "{output:?}");
    assert!(!pins.exists());
}
