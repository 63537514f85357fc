//! The shipped example configuration and unit file are valid. `make deb` tests the package itself
//! (`tests/package.rs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::daemons::switch::{Places, refused};
use crate::net::Netns;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_example_configuration_is_right_also_with_every_line_that_is_commented_out() {
    let (netns, places) = (Netns::here(), Places::new());
    let text = std::fs::read_to_string(root().join("packaging/switch.toml")).expect("the example");
    let output = refused(&netns, &places, &text, &["--check"]);
    assert!(output.status.success(), "{output:?}");
    std::fs::write(places.run.join("hello.key"), "00112233445566778899aabbccddeeff\n").expect("a file");
    let is_key = |line: &&str| line.strip_prefix("# ").is_some_and(|rest| rest.contains(" = "));
    let lines = text.lines().map(|line| if is_key(&line) { &line[2..] } else { line });
    let output = refused(&netns, &places, &lines.collect::<Vec<_>>().join("\n"), &["--check"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "needs systemd-analyze"]
fn the_unit_is_one_that_systemd_takes() {
    let unit = root().join("packaging/weft-switchd@.service");
    let text = std::fs::read_to_string(&unit).expect("the unit");
    let lines = [
        "After=network.target",
        "StartLimitIntervalSec=0",
        "Type=notify",
        "Restart=on-failure",
        "RestartSec=100ms",
        "WatchdogSec=10s",
        "NoNewPrivileges=yes",
    ];
    for line in lines {
        assert!(text.lines().any(|other| other == line), "{line}");
    }
    // systemd-analyze checks that the unit's programs exist.
    let places = Places::new();
    let copy = places.run.join("weft-switchd@.service");
    let own = |text: String, path: &str, program: &str| text.replace(path, program);
    let text = own(text, "/usr/sbin/weft-switchd", env!("CARGO_BIN_EXE_weft-switchd"));
    let text = own(text, "/usr/bin/weftctl", env!("CARGO_BIN_EXE_weftctl"));
    std::fs::write(&copy, text).expect("a file");
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output();
    let output = output.expect("systemd-analyze is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("weft-switchd@")).collect();
    assert_eq!(ours, Vec::<&str>::new(), "{said}");
}
