//! `weft-loadgen`: the command around [`weft_loadgen::Generator`].

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use weft_loadgen::{Generator, Style, Workload};
use weft_manual::{FAILED, INTERRUPTED, REFUSED};
use weft_units::reason;

const EXAMPLES: &str = "\
Examples:
  weft-loadgen workload.json --records records.jsonl
      send all flows, each host in its `netns` if it has one
  weft-loadgen workload.json --records left.jsonl --host h0 --host h1
      run only h0 and h1; other machines run the other hosts from the same `start_at_ns`
  weft-loadgen workload.json --records records.jsonl --progress json 2>progress.jsonl
      write progress for programs: a line of JSON four times a second

The formats are in docs/loadgen.md. Exit status: 0 the run completed, whether or not its flows
did; 1 it could not continue; 2 nothing was sent; 130 interrupted.";

/// Sends a list of flows over real TCP sockets, with their ports, sizes and times.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// The workload: hosts and flows (JSON)
    workload: PathBuf,
    /// Where to write the result of each flow, one line of JSON each
    #[arg(long, value_name = "FILE")]
    records: PathBuf,
    /// A host of the workload to run on this machine (repeatable) [default: all]
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// How to show progress on standard error [default: line on a terminal, else none]
    #[arg(long, value_enum, value_name = "HOW")]
    progress: Option<ProgressFormat>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProgressFormat {
    /// Lines of JSON
    Json,
    /// A status line, updated in place
    Line,
    /// Only warnings
    None,
}

fn main() -> ExitCode {
    let arguments: Arguments = weft_manual::parse("1");
    match send(&arguments) {
        Ok(code) => code,
        Err((code, message)) => {
            eprintln!("weft-loadgen: {message}");
            ExitCode::from(code)
        }
    }
}

fn send(arguments: &Arguments) -> Result<ExitCode, (u8, String)> {
    let bad = |message: String| (REFUSED, message);
    let path = arguments.workload.display();
    let text = fs::read(&arguments.workload)
        .map_err(|error| bad(format!("cannot read {path}: {}", reason(&error))))?;
    let workload = Workload::read(&text).map_err(|error| bad(format!("{path}: {error}")))?;
    let here = workload.here(&arguments.hosts).map_err(|error| bad(error.to_string()))?;
    let unwritable = |error| bad(format!("cannot write {}: {}", arguments.records.display(), reason(&error)));
    // Records of an earlier run are kept if this one cannot start.
    let records = File::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(&arguments.records)
        .map_err(unwritable)?;
    let kept = records.try_clone().map_err(unwritable)?;
    let style = match arguments.progress {
        Some(ProgressFormat::Json) => Style::Json,
        Some(ProgressFormat::Line) => Style::Line,
        Some(ProgressFormat::None) => Style::Quiet,
        None => Style::of_stderr(),
    };
    let generator = Generator::open(&workload, here, BufWriter::new(records), style);
    let generator = generator.map_err(|error| bad(error.to_string()))?;
    // A device, such as /dev/stdout, has no length.
    if kept.metadata().is_ok_and(|about| about.is_file()) {
        kept.set_len(0).map_err(unwritable)?;
    }
    let outcome = generator.run().map_err(|error| (FAILED, error.to_string()))?;
    Ok(ExitCode::from(if outcome.interrupted { INTERRUPTED } else { 0 }))
}
