//! `weft-ofload`: the command around [`weft_ofload::run`].

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use weft_ofload::{Delays, Network, Offer, Offered, Process, Report, Settings, run};
use weft_wire::mptcp::Version;
use weft_wire::openflow::PORT;

const EXAMPLES: &str = "\
Examples:
  weft-ofload --in-progress 32 --connections 20000
      closed loop: 64 switches in a spine-leaf fabric; 32 connections of 4 subflows in progress at any time
  weft-ofload --rate 500 --connections 20000 --process 4711
      open loop: 500 connections a second; also measure the controller's memory and CPU time
  weft-ofload --fabric alone:64 --protocol tcp --fresh-addresses --in-progress 64
      a load for learning switches: each SYN from a new address, to the other host on the same switch

Exit status: 0 measured, whether or not all connections completed; 2 nothing was measured.";

/// Measures an OpenFlow controller under load from emulated switches and hosts. Prints JSON.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// The controller's address and port
    #[arg(long, default_value_t = (Ipv4Addr::LOCALHOST, PORT).into(), value_name = "ADDRESS")]
    controller: SocketAddr,
    /// The controller's process on this machine, to measure its memory and CPU time
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
    /// spine-leaf:SPINESxLEAVESxHOSTS, fat-tree:K, alone:SWITCHES, or a file
    #[arg(long, default_value = "spine-leaf:8x56x2")]
    fabric: String,
    /// The protocol of connections
    #[arg(long, value_enum, default_value = "mptcp-v1")]
    protocol: Protocol,
    /// Subflows per connection
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    subflows: u8,
    /// Give each connection its own source MAC address
    #[arg(long)]
    fresh_addresses: bool,
    /// Connections in progress at any time (closed loop)
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..))]
    in_progress: u64,
    /// Connections opened per second, instead (open loop, Poisson)
    #[arg(long, conflicts_with = "in_progress", value_parser = positive)]
    rate: Option<f64>,
    /// Connections to open first, not measured
    #[arg(long, default_value_t = 0)]
    warm_up: u64,
    /// Connections to measure
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    connections: u64,
    /// Maximum complete connections kept alive; beyond it the oldest end [default: unlimited]
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    alive: u64,
    /// Delay from the first subflow's handshake to the joins, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US")]
    join_delay: u64,
    /// Timeout for a connection to get all of its subflows, in seconds
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = positive)]
    give_up: f64,
    /// Timeout for the controller to discover the network, in seconds
    #[arg(long, default_value_t = 60.0, value_name = "S", value_parser = positive)]
    patience: f64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Protocol {
    /// Multipath TCP version 1, as in Linux (RFC 8684)
    MptcpV1,
    /// Multipath TCP version 0 (RFC 6824, experimental)
    MptcpV0,
    /// Plain TCP: one subflow, no Multipath TCP options
    Tcp,
}

/// A number above 0 and below 1e9.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number < 1e9 => Ok(number),
        _ => Err(format!("`{text}` is not a number between 0 and 1e9")),
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
