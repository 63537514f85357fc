//! `weft-ofload`: the command around [`weft_ofload::run`].

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use weft_ofload::{Delays, Network, Offer, Offered, Process, Report, Settings, run};
use weft_wire::mptcp::Version;

const EXAMPLES: &str = "\
Examples:
  weft-ofload --in-progress 32 --connections 20000
      64 switches, as spines and leaves; 32 connections of 4 subflows are in progress at any time
  weft-ofload --rate 500 --connections 20000 --process 4711
      500 a second, whatever becomes of them; memory and time of the controller's process too
  weft-ofload --fabric alone:64 --protocol tcp --fresh-addresses --in-progress 64
      what a learning switch can be asked: each SYN from a new address, to the other host of the same switch

Exit status: 0 measured, whatever became of connections; 2 nothing was measured.";

/// Loads an OpenFlow controller: emulated switches whose hosts open connections. Prints JSON.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// Where the controller listens
    #[arg(long, default_value = "127.0.0.1:6653", value_name = "ADDRESS")]
    controller: SocketAddr,
    /// The controller's process, of this machine
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
    /// spine-leaf:SPINESxLEAVESxHOSTS, fat-tree:K, alone:SWITCHES, or a file
    #[arg(long, default_value = "spine-leaf:8x56x2")]
    fabric: String,
    /// What is opened
    #[arg(long, value_enum, default_value = "mptcp-v1")]
    protocol: Protocol,
    /// Subflows of a connection
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    subflows: u8,
    /// Each connection comes from a MAC address of its own
    #[arg(long)]
    fresh_addresses: bool,
    /// So many connections are in progress at any time
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..))]
    in_progress: u64,
    /// So many connections are opened a second, instead
    #[arg(long, conflicts_with = "in_progress", value_parser = positive)]
    rate: Option<f64>,
    /// Connections that are opened first and do not count
    #[arg(long, default_value_t = 0)]
    warm_up: u64,
    /// Connections that count
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    connections: u64,
    /// The most that are alive at a time; those that have been for longest then end
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    alive: u64,
    /// From a connection's third ACK until its other subflows are opened, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US")]
    join_delay: u64,
    /// After which a connection that has not all of its subflows is given up, in seconds
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = positive)]
    give_up: f64,
    /// How long the controller may take to learn its network, in seconds
    #[arg(long, default_value_t = 60.0, value_name = "S", value_parser = positive)]
    patience: f64,
    /// What is drawn follows from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Protocol {
    /// Multipath TCP as Linux has it (RFC 8684)
    MptcpV1,
    /// Multipath TCP of the experimental RFC 6824
    MptcpV0,
    /// One subflow, without options of Multipath TCP
    Tcp,
}

/// A number above 0 and below a day's seconds.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number < 1e9 => Ok(number),
        _ => Err(format!("`{text}` is no number between 0 and 1e9")),
    }
}

fn main() -> ExitCode {
    match measure(&Arguments::parse())
        .and_then(|report| serde_json::to_string(&report).map_err(|error| error.to_string()))
    {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("weft-ofload: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Report, String> {
    let network = Network::parse(&arguments.fabric).map_err(|error| format!("--fabric: {error}"))?;
    let version = match arguments.protocol {
        Protocol::MptcpV1 => Some(Version::V1),
        Protocol::MptcpV0 => Some(Version::V0),
        Protocol::Tcp => None,
    };
    let settings = Settings {
        controller: arguments.controller,
        process: arguments.process.map(Process::new),
        offer: Offer {
            version,
            subflows: if version.is_some() { arguments.subflows.into() } else { 1 },
            fresh_addresses: arguments.fresh_addresses,
            is_local: network.directions() == 0,
        },
        offered: arguments.rate.map_or(Offered::InProgress(arguments.in_progress), Offered::PerSecond),
        warm_up: arguments.warm_up,
        connections: arguments.connections,
        alive: arguments.alive,
        delays: Delays {
            join: arguments.join_delay * 1000,
            give_up: Duration::from_secs_f64(arguments.give_up).as_nanos() as u64,
        },
        patience: Duration::from_secs_f64(arguments.patience),
        seed: arguments.seed,
    };
    run(network, &settings).map_err(|error| error.to_string())
}
