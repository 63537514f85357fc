//! Hashes the sources of all crates that a module shares with Weft, so that a module built from others is refused: its
//! engine may give other results.
//!
//! `scripts/plugin_sources.py` copies the same crates.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The directories of the crates, those that the simulator consists of.
const CRATES: &[&str] = &[
    "control",
    "fabric",
    "pcapng",
    "plugin",
    "scenario",
    "sim",
    "switching",
    "traffic",
    "transport",
    "units",
    "wire",
];

fn main() {
    // Relative to this crate, where cargo starts the program: plugins and Weft have different paths to it, and an absolute
    // one would compile this crate again for each.
    let crates = Path::new("..");
    let mut files = Vec::new();
    for name in CRATES {
        let path = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", path.display());
        collect(&path, &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(crates).expect("it was found there");
        let text = fs::read(&file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        hash.update(format!("{}\n{}\n", name.display(), text.len()));
        hash.update(text);
    }
    let hash: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=WEFT_SOURCES={hash}");
}

/// Adds `path`, or the files below it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Err(_) => files.push(path.to_owned()),
        Ok(entries) => entries.flatten().for_each(|entry| collect(&entry.path(), files)),
    }
}
