//! Compiles the programs of `bpf/` to objects that the crate carries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const PROGRAMS: [&str; 7] = ["arp_path", "tcp_path", "tfe", "ecmp", "spray", "tag_forward", "flow_table"];

/// What Debian calls what is needed; `scripts/install-system.sh bpf` installs it.
const NEEDED: &str = "install clang and the headers of libbpf (Debian, Ubuntu: apt-get install clang libbpf-dev), \
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
    // Debian keeps the headers of the kernel that depend on the machine in a directory of their own.
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
        Ok(_) => fail(&format!(
            "{clang} could not compile {}; if it says that a header is missing, {NEEDED}",
            source.display()
        )),
        Err(error) => {
            fail(&format!("the data plane is compiled with {clang}, which cannot be run ({error}): {NEEDED}"))
        }
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1)
}
