//! Fills the pinned table of a running switch with flows, or counts the flows hit by frames since then: with it,
//! `make bench-switch` forwards the frames of `frames` by table entries.
//!
//! Entries are as left by an exploration, confirmed in both directions; a hit is recognised by the expiry time, which a
//! frame resets.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use weft_switchd::clock::now;
use weft_switchd::layout::{Flow, Path, Station};
use weft_switchd::walk::Walk;
use weft_switching::Mac;
use weft_switching::path_table::CONFIRMED;

/// Initial lifetime of the entries: longer than any measurement, and different from the one that a frame sets.
const LIFE: Duration = Duration::from_secs(3600);

#[derive(Parser)]
struct Arguments {
    action: Action,
    /// The directory of the switch's maps.
    maps: PathBuf,
    /// Address of the flows' source.
    #[arg(long)]
    source: Mac,
    /// Address of their destination.
    #[arg(long)]
    destination: Mac,
    #[arg(long)]
    flows: u16,
    /// The first TCP port of the source.
    #[arg(long)]
    first_port: u16,
    /// TCP port of the destination.
    #[arg(long)]
    port: u16,
}

#[derive(Clone, Copy, ValueEnum)]
enum Action {
    /// Adds the flows and prints their number.
    Fill,
    /// Prints the number of flows hit from source to destination.
    Hit,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let paths = Walk::<Flow, Path>::open(&arguments.maps.join("paths"))?;
    let stations = Walk::<u64, Station>::open(&arguments.maps.join("stations"))?;
    let (source, destination) = (arguments.source.bits(), arguments.destination.bits());
    let flows = (arguments.first_port..=u16::MAX).take(arguments.flows.into()).map(|port| Flow {
        host: destination << 16 | u64::from(arguments.port),
        peer: source << 16 | u64::from(port),
    });
    let fresh = now() + LIFE.as_nanos() as u64;
    let mut count = 0;
    match arguments.action {
        Action::Fill => {
            let port_of = |station: u64| {
                let known = stations.get(&station).map(|station| station.port);
                known.ok_or_else(|| format!("unknown station {}", Mac::from_bits(station)))
            };
            let (towards, back) = (port_of(destination)?, port_of(source)?);
            let path = |port| Path {
                expiry: fresh,
                id: 1,
                made: (now() / 1_000_000) as u32,
                port,
                class: CONFIRMED,
                ..Path::default()
            };
            for flow in flows {
                paths.insert(&flow, &path(towards))?;
                paths.insert(&flow.reversed(), &Path { initiator: 1, ..path(back) })?;
                count += 1;
            }
        }
        Action::Hit => {
            // A frame sets the lifetime of a confirmed path, which is much shorter.
            let hit = |path: Path| path.expiry < fresh - LIFE.as_nanos() as u64 / 2;
            count = flows.filter(|flow| paths.get(flow).is_some_and(hit)).count();
        }
    }
    println!("{count}");
    Ok(())
}
