//! `weft-pktgen`: measures forwarding between hosts in network namespaces: packet rates and round-trip
//! times.
//!
//! Unlike `weft-loadgen` there is no TCP and no schedule: it sends packets of many UDP flows in turn, or
//! echo requests one after the other.

mod echo;
mod frame;
mod load;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use weft_manual::{FAILED, REFUSED};
use weft_units::reason;

const EXAMPLES: &str = "\
Examples:
  weft-pktgen echo 10.0.0.2 --netns /run/netns/h1 --size 64 --count 100
      measure 100 round trips, one after the other
  weft-pktgen load load.json
      send packets of the flows in load.json at its rate

Results are printed as JSON. The format of load.json is in docs/loadgen.md. Exit status: 0; 1 it could
not send to the end; 2 nothing could be measured.";

/// Sends packets of many UDP flows, or echo requests.
#[derive(Parser)]
#[command(name = "weft-pktgen", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    what: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure round-trip times: {"rtt_ns": [...], "lost": 0}
    Echo(echo::Arguments),
    /// Send packets of many UDP flows in turn: {"sent": [...], "seconds": 1.0, "processor_s": 1.0}
    Load {
        /// Senders, flows, size and rate (JSON)
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match weft_manual::parse::<Arguments>("1").what {
        Command::Echo(arguments) => {
            echo::measure(&arguments).map(|found| found.to_string()).map_err(|error| (REFUSED, error))
        }
        Command::Load { file } => load(&file),
    };
    match done {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err((code, error)) => {
            eprintln!("weft-pktgen: {error}");
            ExitCode::from(code)
        }
    }
}

fn load(file: &std::path::Path) -> Result<String, (u8, Box<dyn Error>)> {
    let bad = |message: String| -> (u8, Box<dyn Error>) { (REFUSED, message.into()) };
    let text = std::fs::read(file)
        .map_err(|error| bad(format!("cannot read {}: {}", file.display(), reason(&error))))?;
    let load: load::Load =
        serde_json::from_slice(&text).map_err(|error| bad(format!("{}: {error}", file.display())))?;
    let sent = load::send(&load).map_err(|error| -> (u8, Box<dyn Error>) {
        let code = if matches!(error, load::LoadError::Send(_)) { FAILED } else { REFUSED };
        (code, error.into())
    })?;
    Ok(sent.to_string())
}
