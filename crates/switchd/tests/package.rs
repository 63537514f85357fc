//! The Debian package named by `WEFT_DEB`: its contents, and that its programs run. `make deb` builds the package and runs
//! this test; `make test` does not.

use std::path::Path;
use std::process::Command;

#[test]
fn the_package_has_what_it_should_and_its_programs_run() {
    let package = std::env::var_os("WEFT_DEB")
        .expect("WEFT_DEB must name a package: `make deb` builds one and runs this test");
    let unpacked = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deb");
    let _ = std::fs::remove_dir_all(&unpacked);
    let field = |name: &str| {
        let output = Command::new("dpkg-deb").arg("-f").arg(&package).arg(name).output().expect("dpkg-deb");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(field("Package"), "weft-switchd");
    assert_eq!(field("Version"), env!("CARGO_PKG_VERSION"));
    let status = Command::new("dpkg-deb").arg("-R").arg(&package).arg(&unpacked).status();
    assert!(status.expect("dpkg-deb").success());
    let inside = |path: &str| unpacked.join(path);
    let conffiles = std::fs::read_to_string(inside("DEBIAN/conffiles")).expect("conffiles");
    assert_eq!(conffiles.trim(), "/etc/weft/switch.toml.example");
    let postinst = std::fs::read_to_string(inside("DEBIAN/postinst")).expect("a script");
    assert!(
        !postinst.contains("systemctl start") && !postinst.contains("enable"),
        "postinst must not start anything"
    );
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
