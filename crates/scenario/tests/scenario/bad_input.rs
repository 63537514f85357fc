//! Complete error messages for bad scenarios: each `bad_input/NAME.toml` has its message in
//! `bad_input/NAME.txt`. `WEFT_UPDATE_SNAPSHOTS=1 cargo test` regenerates the messages, for review.
//!
//! A file has only what its case is about. A line `#! --set ...` sets a key, `#! whole` keeps the file as it is.

use std::fs;
use std::path::{Path, PathBuf};

use weft_scenario::{Diagnostics, Scenario};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input")
}

/// Good sections, added below a file that does not have them.
const SECTIONS: [(&str, &str); 3] = [
    ("[fabric]", "kind = \"fat-tree\"\nk = 4\n"),
    ("[traffic]", "sizes = \"web-search\"\nload = 0.4\n"),
    ("[scheme]", "name = \"ecmp\"\n"),
];

/// The errors of a scenario; the files that it names are in `files/`.
fn message(given: &str, file: &str) -> Result<(), Diagnostics> {
    let mut text = given.to_owned();
    for (header, keys) in SECTIONS {
        // `[traffic]` is also part of `[[traffic]]`.
        if !given.contains(header) && !given.contains("#! whole") {
            text += &format!("{header}\n{keys}");
        }
    }
    let sets: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#! --set ")).map(str::to_owned).collect();
    let loader = |path: &str| {
        fs::read(directory().join("files").join(path)).map_err(|_| "there is no such file".to_owned())
    };
    Scenario::parse_with(&text, file, &sets)?.check(&loader).map(drop)
}

#[test]
fn every_bad_scenario_is_refused_with_its_message() {
    let update = std::env::var_os("WEFT_UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    let mut cases: Vec<PathBuf> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    cases.sort();
    for path in &cases {
        let text = fs::read_to_string(path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy();
        let found = match message(&text, &file) {
            Ok(()) => "nothing is wrong\n".to_owned(),
            Err(diagnostics) => format!("{diagnostics}\n"),
        };
        let expected = path.with_extension("txt");
        if update {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{file}:\n{found}"));
        }
    }
    assert!(cases.len() >= 40, "{} cases", cases.len());
    assert!(wrong.is_empty(), "messages that differ from the stored ones:\n{}", wrong.join("\n"));
}
