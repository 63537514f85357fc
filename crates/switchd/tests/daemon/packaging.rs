//! The example configuration and the unit: what is shipped is right. The package itself is made by
//! `make deb`; with `WEFT_DEB` naming one, it is unpacked and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::net::Netns;
use crate::switch::{Places, refused};

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
fn the_unit_is_one_that_systemd_takes() {
    let unit = root().join("packaging/weft-switchd@.service");
    let text = std::fs::read_to_string(&unit).expect("the unit");
    for line in
        ["Type=notify", "Restart=on-failure", "RestartSec=100ms", "WatchdogSec=10s", "NoNewPrivileges=yes"]
    {
        assert!(text.lines().any(|other| other == line), "{line}");
    }
    // It looks for the programs that the unit starts, so they have to be where it says.
    let places = Places::new();
    let copy = places.run.join("weft-switchd@.service");
    let own = |text: String, path: &str, program: &str| text.replace(path, program);
    let text = own(text, "/usr/sbin/weft-switchd", env!("CARGO_BIN_EXE_weft-switchd"));
    let text = own(text, "/usr/bin/weftctl", env!("CARGO_BIN_EXE_weftctl"));
    std::fs::write(&copy, text).expect("a file");
    let Ok(output) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output() else {
        return println!("skipped: systemd-analyze is missing");
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("weft-switchd@")).collect();
    assert_eq!(ours, Vec::<&str>::new(), "{said}");
}

#[test]
fn the_package_has_what_it_should_and_its_programs_run() {
    let Some(package) = std::env::var_os("WEFT_DEB") else {
        return println!("skipped: WEFT_DEB names no package (make deb makes one and runs this)");
    };
    let places = Places::new();
    let field = |name: &str| {
        let output = Command::new("dpkg-deb").arg("-f").arg(&package).arg(name).output().expect("dpkg-deb");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(field("Package"), "weft-switchd");
    assert_eq!(field("Version"), env!("CARGO_PKG_VERSION"));
    let unpacked = Command::new("dpkg-deb").arg("-R").arg(&package).arg(places.run.join("deb")).status();
    assert!(unpacked.expect("dpkg-deb").success());
    let inside = |path: &str| places.run.join("deb").join(path);
    let conffiles = std::fs::read_to_string(inside("DEBIAN/conffiles")).expect("conffiles");
    assert_eq!(conffiles.trim(), "/etc/weft/switch.toml.example");
    let postinst = std::fs::read_to_string(inside("DEBIAN/postinst")).expect("a script");
    assert!(!postinst.contains("systemctl start") && !postinst.contains("enable"), "nothing is started");
    for file in [
        "usr/lib/systemd/system/weft-switchd@.service",
        "usr/share/man/man8/weft-switchd.8.gz",
        "usr/share/man/man8/weftctl.8.gz",
        "usr/share/doc/weft-switchd/switchd.md",
        "usr/share/doc/weft-switchd/copyright",
    ] {
        assert!(inside(file).exists(), "{file}");
    }
    let example = inside("etc/weft/switch.toml.example");
    let check =
        Command::new(inside("usr/sbin/weft-switchd")).arg("--check").arg("--config").arg(example).output();
    assert!(check.expect("it runs").status.success());
    let version = Command::new(inside("usr/bin/weftctl")).arg("--version").output().expect("it runs");
    assert!(String::from_utf8_lossy(&version.stdout).contains(env!("CARGO_PKG_VERSION")));
}
