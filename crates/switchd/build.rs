//! Compiles the programs of `bpf/` to objects embedded in the crate.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const PROGRAMS: [&str; 7] = ["arp_path", "tcp_path", "tfe", "ecmp", "spray", "tag_forward", "flow_table"];

/// The build requirements by their Debian names; `scripts/install-system.sh bpf` installs them.
const NEEDED: &str = "install clang and the libbpf headers (Debian, Ubuntu: apt-get install clang libbpf-dev), \
                      or build without weft-switchd (cargo build --workspace --exclude weft-switchd)";

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    for program in PROGRAMS {
        compile(&clang, &sources.join(program).with_extension("c"), &out.join(program).with_extension("o"));
    }
}

fn compile(clang: &str, source: &Path, object: &Path) {
    // Debian keeps architecture-specific kernel headers in a separate directory.
    let machine = format!("/usr/include/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default());
    let flags = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-target", "bpf", "-mcpu=v3"];
    let status = Command::new(clang)
        .args(flags)
        .args(["-idirafter", &machine, "-o"])
        .arg(object)
        .arg("-c")
        .arg(source)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => {
            fail(&format!("{clang} failed to compile {}; if a header is missing, {NEEDED}", source.display()))
        }
        Err(error) => fail(&format!("cannot run {clang}, which compiles the data plane ({error}): {NEEDED}")),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1)
}
