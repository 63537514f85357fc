//! Fills the pinned table of a running switch with flows, or counts those of them that frames have hit
//! since: so `make bench-switch` has the frames of `frames` forwarded by entries.
//!
//! Entries are as an exploration leaves them, confirmed in both directions; which were hit is told by
//! their lives, which a frame begins anew.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use aya::Pod;
use aya::maps::{HashMap, Map, MapData};
use clap::{Parser, ValueEnum};
use weft_switchd::layout::{Flow, Path, Station, address};
use weft_switching::Mac;
use weft_switching::path_table::CONFIRMED;

/// What entries live that are filled in: longer than any figure takes, and not what a frame leaves.
const LIFE: Duration = Duration::from_secs(3600);

#[derive(Parser)]
struct Arguments {
    action: Action,
    /// The directory of the switch's maps.
    maps: PathBuf,
    /// Address of the flows' source.
    #[arg(long, value_parser = mac)]
    source: Mac,
    /// Address of their destination.
    #[arg(long, value_parser = mac)]
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
    /// Puts the flows in, and prints how many.
    Fill,
    /// Prints how many of the flows were hit from source to destination.
    Hit,
}

fn mac(text: &str) -> Result<Mac, String> {
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    Ok(Mac(bytes.ok_or_else(|| format!("{text} is no address like 02:00:00:00:00:01"))?))
}

fn open<K: Pod, V: Pod>(arguments: &Arguments, name: &str) -> Result<HashMap<MapData, K, V>, Box<dyn Error>> {
    let path = arguments.maps.join(name);
    let data = MapData::from_pin(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Map::from_map_data(data)?.try_into()?)
}

/// Nanoseconds of the clock that programs read.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value that lives until the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut paths = open::<Flow, Path>(&arguments, "paths")?;
    let stations = open::<u64, Station>(&arguments, "stations")?;
    let (source, destination) = (address(arguments.source), address(arguments.destination));
    let flows = (arguments.first_port..=u16::MAX).take(arguments.flows.into()).map(|port| Flow {
        host: destination << 16 | u64::from(arguments.port),
        peer: source << 16 | u64::from(port),
    });
    let fresh = now() + LIFE.as_nanos() as u64;
    let mut count = 0;
    match arguments.action {
        Action::Fill => {
            let port_of = |station: u64| stations.get(&station, 0).map(|station| station.port);
            let (towards, back) = (port_of(destination)?, port_of(source)?);
            let path = |port| Path {
                expiry: fresh,
                id: 1,
                made: (now() / 1_000_000) as u32,
                port,
                class: CONFIRMED,
                initiator: 0,
                explored: 0,
                reserved: [0; 3],
            };
            for flow in flows {
                paths.insert(flow, path(towards), 0)?;
                let other = Flow { host: flow.peer, peer: flow.host };
                paths.insert(other, Path { initiator: 1, ..path(back) }, 0)?;
                count += 1;
            }
        }
        Action::Hit => {
            // A frame leaves the life of a confirmed path, which is much shorter.
            let hit =
                |flow| paths.get(&flow, 0).is_ok_and(|path| path.expiry < fresh - LIFE.as_nanos() as u64 / 2);
            count = flows.filter(|flow| hit(*flow)).count();
        }
    }
    println!("{count}");
    Ok(())
}
