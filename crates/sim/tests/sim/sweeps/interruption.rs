//! Sweeps that are stopped, killed or run out of disk space, and resume later.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use weft_scenario::Scenario;
use weft_sim::sweep::{Event, Options, run_sweep};
use weft_sim::sweep_error::SweepError;

use crate::common::directory::{Scratch, files};
use crate::sweeps::sweep::{TEXT, are_equal, complete, results, run, scenario};

/// The files of an uninterrupted sweep.
fn uninterrupted() -> BTreeMap<String, Vec<u8>> {
    let scratch = Scratch::new("uninterrupted");
    complete(scratch.path(), 2);
    results(scratch.path())
}

/// Asserts that the existing results are complete and correct, and returns their number.
fn whole_results(directory: &Path, expected: &BTreeMap<String, Vec<u8>>) -> usize {
    let shown = |name: &&String| name.starts_with("runs/") && !name.starts_with("runs/.");
    let found = files(directory);
    let names: Vec<&String> = found.keys().filter(shown).collect();
    assert!(names.len().is_multiple_of(4), "an incomplete result is visible: {names:?}");
    for name in &names {
        assert!(found[*name] == expected[*name], "{name} differs");
    }
    names.len() / 4
}

#[test]
fn a_sweep_that_is_stopped_goes_on_to_the_same_bytes() {
    let expected = uninterrupted();
    for (jobs, after) in [(1, 1), (1, 3), (2, 2)] {
        let scratch = Scratch::new("stopped");
        let mut done = 0;
        let stopped = run(&scenario(), scratch.path(), jobs, &mut |event| {
            done += usize::from(matches!(event, Event::RunDone { .. }));
            done < after
        });
        let stopped = stopped.unwrap();
        assert!(stopped.stopped && stopped.done >= after && stopped.failed.is_empty(), "{stopped:?}");
        assert_eq!(whole_results(scratch.path(), &expected), stopped.done);
        let rest = complete(scratch.path(), jobs);
        assert_eq!((rest.done, rest.skipped), (6 - stopped.done, stopped.done));
        are_equal(&expected, &results(scratch.path()), &format!("stopped after {after} with {jobs} jobs"));
        assert_eq!(complete(scratch.path(), jobs).done, 0, "no runs are left");
    }
}

#[test]
fn a_sweep_that_is_stopped_at_once_leaves_no_result() {
    let scratch = Scratch::new("at-once");
    let report = run(&scenario(), scratch.path(), 2, &mut |_| false).unwrap();
    assert!(report.stopped);
    assert_eq!((report.done, fs::read_dir(scratch.join("runs")).unwrap().count()), (0, 0));
}

#[test]
fn a_run_that_is_stopped_midway_leaves_nothing() {
    let scratch = Scratch::new("midway");
    let long = Scenario::parse_with(TEXT, "six.toml", &["run.duration=60 s".to_owned()]).unwrap();
    let mut under_way = false;
    let report = run(&long, scratch.path(), 2, &mut |event| {
        under_way |= matches!(event, Event::Progress { flows_done: 1.., .. });
        !under_way
    });
    assert!(report.unwrap().stopped && under_way);
    assert_eq!(fs::read_dir(scratch.join("runs")).unwrap().count(), 0);
}

/// Truncated files left by a crash do not count as a result and do not block the sweep.
#[test]
fn what_a_crash_left_behind_is_written_anew() {
    let expected = uninterrupted();
    let scratch = Scratch::new("crash");
    for (name, bytes) in &expected {
        // One run is complete, the others are partial.
        let point = scenario().points()[0].id.clone();
        let name = match name.strip_prefix("runs/") {
            Some(rest) if !rest.starts_with(&point) => format!("runs/.{}", rest.replace('/', ".partial/")),
            _ => name.clone(),
        };
        let path = scratch.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let kept = if name.contains(".partial") { bytes.len() / 2 } else { bytes.len() };
        fs::write(path, &bytes[..kept]).unwrap();
    }
    let report = complete(scratch.path(), 2);
    assert_eq!((report.done, report.skipped), (5, 1));
    are_equal(&expected, &results(scratch.path()), "after a crash");
}

#[test]
fn the_directory_of_another_scenario_is_refused_and_left_alone() {
    let scratch = Scratch::new("other");
    complete(scratch.path(), 2);
    let before = files(scratch.path());
    let changed = Scenario::parse(&TEXT.replace("load = 0.6", "load = 0.5"), "six.toml").unwrap();
    let set = Scenario::parse_with(TEXT, "six.toml", &["traffic.load=0.5".to_owned()]).unwrap();
    for other in [changed, set] {
        let error = run(&other, scratch.path(), 1, &mut |_| true).unwrap_err();
        assert!(matches!(error, SweepError::OtherScenario { .. }), "{error}");
        let error = error.to_string();
        assert!(
            error.contains("six runs") && error.contains("Changed: traffic.load (0.6 -> 0.5)."),
            "{error}"
        );
    }
    let commented = Scenario::parse(&format!("{TEXT}\n# a comment\n"), "six.toml").unwrap();
    assert_eq!(run(&commented, scratch.path(), 1, &mut |_| true).unwrap().skipped, 6);
    are_equal(&before, &files(scratch.path()), "the refused directory");
    let list = scratch.join("sweep.json");
    let text = fs::read_to_string(&list).unwrap().replace(scenario().fingerprint(), "0");
    fs::write(&list, &text).unwrap();
    let error = run(&scenario(), scratch.path(), 1, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("different scenario (`six runs`). Changed: unknown."), "{error}");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&list, text.replace(&version, "\"version\": \"0.0.1\"")).unwrap();
    let error = run(&scenario(), scratch.path(), 1, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("holds results of Weft 0.0.1, but this is"), "{error}");
}

#[test]
fn a_second_sweep_into_the_same_directory_is_refused_and_the_first_goes_on() {
    let scratch = Scratch::new("twice");
    let mut refused = 0;
    let report = run(&scenario(), scratch.path(), 1, &mut |event| {
        if matches!(event, Event::RunDone { .. }) {
            let error = run(&scenario(), scratch.path(), 1, &mut |_| true).unwrap_err();
            assert!(matches!(error, SweepError::Busy { .. }), "{error}");
            let output = shell("eval \"$RUN\"", scratch.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("another weft run is writing to"), "{said}");
            refused += 1;
        }
        true
    });
    assert_eq!((report.unwrap().done, refused), (6, 6));
    are_equal(&uninterrupted(), &results(scratch.path()), "the first sweep");
}

#[test]
fn a_directory_of_other_things_is_refused_and_left_alone() {
    let scratch = Scratch::new("letters");
    fs::write(scratch.join("letter.txt"), "Dear all").unwrap();
    let error = run(&scenario(), scratch.path(), 1, &mut |_| true).unwrap_err();
    assert!(matches!(error, SweepError::NotOurs { .. }), "{error}");
    assert_eq!(files(scratch.path()).len(), 1);
}

#[test]
fn results_of_other_files_or_another_version_are_not_added_to() {
    let text = TEXT.replace("sizes = \"web-search\"\ntruncate = \"2 MB\"", "sizes = { cdf = \"sizes.txt\" }");
    let scenario = Scenario::parse(&text, "six.toml").unwrap();
    assert_eq!(Vec::from_iter(scenario.files()), ["sizes.txt"]);
    let scratch = Scratch::new("inputs");
    let into = |bytes: &[u8]| {
        let load = |file: &str| if file == "sizes.txt" { Ok(bytes.to_vec()) } else { Err("no".into()) };
        run_sweep(
            &scenario,
            &Options {
                directory: scratch.path(),
                jobs: 2,
                threads: None,
                load: &load,
                capture: None,
                modules: &[],
            },
            &mut |_| true,
        )
    };
    assert_eq!(into(b"1000 0.5\n9000 1\n").unwrap().done, 6);
    let before = files(scratch.path());
    let error = into(b"1000 0.5\n8000 1\n").unwrap_err().to_string();
    assert!(error.starts_with("`sizes.txt` has changed since the results in "), "{error}");
    are_equal(&before, &files(scratch.path()), "changed input");
    assert_eq!(into(b"1000 0.5\n9000 1\n").unwrap().skipped, 6);

    let list = scratch.join("sweep.json");
    let text = fs::read_to_string(&list).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version));
    fs::write(&list, text.replace(&version, "\"version\": \"0.0.1\"")).unwrap();
    let error = into(b"1000 0.5\n9000 1\n").unwrap_err().to_string();
    assert!(error.contains("holds results of Weft 0.0.1, but this is"), "{error}");
}

#[test]
fn more_seeds_add_to_the_results_of_fewer() {
    let scratch = Scratch::new("seeds");
    let seeds = |seeds: &str| {
        let scenario = Scenario::parse_with(TEXT, "six.toml", &[format!("run.seeds={seeds}")]).unwrap();
        let report = run(&scenario, scratch.path(), 2, &mut |_| true).unwrap();
        (report.done, report.skipped)
    };
    assert_eq!(seeds("[1]"), (3, 0));
    assert_eq!(seeds("[1, 2]"), (3, 3));
    are_equal(&uninterrupted(), &results(scratch.path()), "one seed, then two");
    assert_eq!(seeds("1"), (0, 3));
    are_equal(&uninterrupted(), &results(scratch.path()), "one again");
}

const DIRECTORY: &str = "WEFT_TEST_DIRECTORY";
const STAYS: &str = "WEFT_TEST_STAYS";

/// The name of the test below in this program.
const NAME: &str = "sweeps::interruption::a_sweep_runs_as_a_process";

/// Other tests run this one as a process with [`DIRECTORY`] set: it sweeps into that directory with one thread and
/// prints the outcome; with [`STAYS`] it does not end after it has finished a run. Without [`DIRECTORY`], it starts such a process itself.
#[test]
fn a_sweep_runs_as_a_process() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        let scratch = Scratch::new("process");
        let output = shell("eval \"$RUN\"", scratch.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("OUTCOME done 6 failed []"), "{said}");
        return are_equal(&uninterrupted(), &results(scratch.path()), "as a process");
    };
    let stays = std::env::var_os(STAYS).is_some();
    let mut observe = |event: &Event<'_>| {
        if stays && matches!(event, Event::RunDone { .. }) {
            loop {
                std::thread::park();
            }
        }
        true
    };
    match run(&scenario(), Path::new(&directory), 1, &mut observe) {
        Ok(report) => println!("OUTCOME done {} failed {:?}", report.done, report.failed),
        Err(error) => println!("OUTCOME error {error}"),
    }
}

/// A shell that runs `script`, in which `$RUN` is a sweep into `directory` as a process.
fn shell(script: &str, directory: &Path) -> Command {
    let itself = std::env::current_exe().expect("a test has a path");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).env(DIRECTORY, directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = format!("exec {} {NAME} --exact --nocapture", itself.display());
    command.env("RUN", run);
    command
}

#[test]
fn a_sweep_that_is_killed_goes_on_to_the_same_bytes() {
    let expected = uninterrupted();
    let scratch = Scratch::new("killed");
    let mut killed = 0;
    // Each process is killed as soon as it has added a result, while it works on the next; it does not end by itself.
    for life in 0..4 {
        let mut child: Child = shell("eval \"$RUN\"", scratch.path()).env(STAYS, "").spawn().unwrap();
        let begun = Instant::now();
        let runs = scratch.join("runs");
        let shown = || {
            let entries = fs::read_dir(&runs).into_iter().flatten().flatten();
            entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
        };
        while shown() <= life && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no result is added");
            std::thread::sleep(Duration::from_millis(1));
        }
        killed += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        whole_results(scratch.path(), &expected);
    }
    assert!(killed > 0, "every process ended before it was killed");
    complete(scratch.path(), 2);
    are_equal(&expected, &results(scratch.path()), "killed again and again");
}

/// Runs `command`, a sweep that runs out of disk space and leaves its results in `left`; `reason` is part of its error.
fn fills_the_disk(mut command: Command, left: &Path, reason: &str) {
    let expected = uninterrupted();
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("OUTCOME"), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("cannot write") && said.contains(reason), "{said}");
    let tried = said.matches("cannot write").count();
    assert!(tried == 1 || reason != "space", "the sweep stops at the first run that does not fit: {said}");
    let finished = whole_results(left, &expected);
    println!("{finished} of 6 runs finished, {said}");
    assert!(finished < 6);
    let report = complete(left, 2);
    assert_eq!((report.done, report.skipped), (6 - finished, finished));
    are_equal(&expected, &results(left), reason);
}

/// A write beyond the file size limit fails halfway through a table, as on a full disk.
#[test]
fn files_that_cannot_grow_leave_what_is_finished_and_the_sweep_goes_on_when_there_is_room() {
    let scratch = Scratch::new("limited");
    let command = shell("trap '' XFSZ; ulimit -f 8; eval \"$RUN\"", scratch.path());
    fills_the_disk(command, scratch.path(), "large");
}

/// A file system with space for three runs.
#[test]
#[ignore = "needs root"]
fn a_full_disk_leaves_what_is_finished_and_the_sweep_goes_on_when_there_is_room() {
    let scratch = Scratch::new("full");
    let (directory, copy) = (scratch.join("disk"), scratch.join("copy"));
    fs::create_dir(&directory).unwrap();
    let mount = "mount -t tmpfs -o size=200k none \"$WEFT_TEST_DIRECTORY\"";
    let inside = format!("{mount} && {{ sh -c \"$RUN\"; cp -r \"$WEFT_TEST_DIRECTORY\" \"$COPY\"; }}");
    let mut command = shell(&format!("unshare --mount sh -c '{inside}'"), &directory);
    command.env("COPY", &copy);
    fills_the_disk(command, &copy, "space");
}
