//! The sweep that the tests run: three schemes and two seeds on a small fabric, a few hundredths of a
//! second per run, with queues that overflow and a link that fails.

use std::collections::BTreeMap;
use std::path::Path;

use weft_scenario::Scenario;
use weft_sim::sweep::{Event, Options, SweepReport, run_sweep};
use weft_sim::sweep_error::SweepError;

use crate::common::directory::files;
use crate::common::parsed;

pub const TEXT: &str = r#"
name = "six runs"

[fabric]
kind = "spine-leaf"
spines = 2
leaves = 3
hosts_per_leaf = 4
rate = "1 Gbps"
delay = "5 us"
queue = "20 packets"

[traffic]
sizes = "web-search"
truncate = "2 MB"
load = 0.6

[scheme]
name = "ecmp"

[run]
duration = "60 ms"
seeds = 2

[measure]
interval = "1 ms"

[[event]]
at = "20 ms"
fail = "l0-s1"

[[event]]
at = "40 ms"
heal = "l0-s1"

[sweep]
"scheme.name" = ["single_path", "ecmp", "spray"]
"#;

pub fn scenario() -> Scenario {
    parsed(TEXT)
}

/// No scenario here names a file.
pub fn no_files(path: &str) -> Result<Vec<u8>, String> {
    Err(format!("{path} is not expected to be read"))
}

/// Runs the sweep into `directory`, reporting to `observer`.
pub fn run(
    scenario: &Scenario,
    directory: &Path,
    jobs: usize,
    observer: &mut dyn FnMut(&Event<'_>) -> bool,
) -> Result<SweepReport, SweepError> {
    run_sweep(
        scenario,
        &Options { directory, jobs, threads: None, load: &no_files, capture: None, modules: &[] },
        observer,
    )
}

/// Runs the remaining runs of the sweep.
pub fn complete(directory: &Path, jobs: usize) -> SweepReport {
    let report = run(&scenario(), directory, jobs, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.failed.is_empty() && !report.stopped, "{report:?}");
    report
}

/// The files of a finished sweep, without the cost of the runs and the lock.
pub fn results(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = files(directory);
    found.remove("performance.json");
    found.remove(".lock");
    found
}

/// Asserts that two sweeps left the same files with the same bytes.
pub fn are_equal(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>, what: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}");
    for (name, bytes) in one {
        assert!(bytes == &other[name], "{what}: {name} differs");
    }
}
