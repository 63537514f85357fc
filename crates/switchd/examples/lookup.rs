//! Memory of a table of flows, and the cost of forwarding a frame by one of its entries, for several table sizes: for
//! `make bench-switch`. The program is run by BPF_PROG_TEST_RUN, with frames of random flows.

#[path = "common/segment.rs"]
mod segment;
#[path = "common/time.rs"]
mod time;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path as FilePath, PathBuf};
use std::time::Instant;

use aya::maps::MapData;
use clap::Parser;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use weft_switchd::clock::now;
use weft_switchd::layout::{Flow, Path, Port, Settings, Station};
use weft_switchd::pins::Pins;
use weft_switchd::walk::Walk;
use weft_switchd::{Mode, Plane};
use weft_switching::Mac;
use weft_switching::exploration::Exploration;
use weft_switching::path_table::CONFIRMED;
use weft_units::PortId;
use weft_wire::MIN_FRAME;

use segment::{End, segment};
use time::{INTERFACE, percentiles, time};

#[derive(Parser)]
struct Arguments {
    /// A directory of a BPF file system, for pins that remain there.
    pins: PathBuf,
    /// Table sizes in entries, one after the other, ascending.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000")]
    entries: Vec<u32>,
    /// Number of frames, timed individually.
    #[arg(long, default_value_t = 200_000)]
    frames: u32,
}

const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 1]);
const DESTINATION: Mac = Mac([2, 0, 0, 0, 0, 2]);
const ACK: u8 = 0x10;

/// The TCP ports of a flow, from its number: the destination port comes from the upper half.
fn ports(number: u32) -> (u16, u16) {
    (number as u16, 1 + (number >> 16) as u16)
}

fn frame(number: u32) -> [u8; MIN_FRAME] {
    let (sport, dport) = ports(number);
    segment(End { mac: SOURCE, host: 1, port: sport }, End { mac: DESTINATION, host: 2, port: dport }, ACK, 0)
}

fn flow(number: u32) -> Flow {
    let (sport, dport) = ports(number);
    Flow { host: DESTINATION.bits() << 16 | u64::from(dport), peer: SOURCE.bits() << 16 | u64::from(sport) }
}

/// Kernel memory of a pinned map, in bytes.
fn memory(path: &FilePath) -> Result<u64, Box<dyn Error>> {
    use std::os::fd::{AsFd, AsRawFd};
    let map = MapData::from_pin(path)?;
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", map.fd().as_fd().as_raw_fd()))?;
    let line = info.lines().find_map(|line| line.strip_prefix("memlock:"));
    Ok(line.ok_or("this kernel does not report the memory of a map")?.trim().parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let config = Exploration::default();
    let pins = Pins::open(&arguments.pins, &"lookup".parse()?)?;
    let mut plane = Plane::load(Mode::TcpPath, &config, Settings::new(&config), &pins)?;
    for number in [0, 1] {
        let port = Port { up: 1, ifindex: INTERFACE, ..Port::decided(false, true) };
        plane.set_port(PortId(number), port)?;
    }
    plane.set_interface(INTERFACE, Some(PortId(0)))?;
    let paths = Walk::<Flow, Path>::open(&pins.map("paths"))?;
    let stations = Walk::<u64, Station>::open(&pins.map("stations"))?;
    let expiry = now() + 3600 * 1_000_000_000;
    for (station, port) in [(SOURCE, 0), (DESTINATION, 1)] {
        stations.insert(&station.bits(), &Station { expiry, port, class: 2, reserved: [0; 5] })?;
    }
    let path = Path { expiry, id: 1, port: 1, class: CONFIRMED, ..Path::default() };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut filled = 0;
    let mut rows = Vec::new();
    for entries in &arguments.entries {
        for number in filled..*entries {
            paths.insert(&flow(number), &path)?;
        }
        filled = filled.max(*entries);
        let mut took = Vec::new();
        for _ in 0..arguments.frames {
            let number = ((u64::from(random.next_u32()) * u64::from(*entries)) >> 32) as u32;
            took.push(time(&plane, &frame(number), 1)?);
        }
        let [p10, p50, p90] = percentiles(took);
        let warm = time(&plane, &frame(0), 1_000_000)?;
        rows.push(json!({
            "entries": entries, "p50_ns": p50, "p10_ns": p10, "p90_ns": p90, "same_flow_ns": warm,
        }));
    }
    let started = Instant::now();
    let held = plane.tables().sweep(now())?.flows;
    let sweep = started.elapsed().as_secs_f64();
    let mut bytes = BTreeMap::new();
    for map in ["paths", "locked", "stations", "repairs", "floods"] {
        bytes.insert(map, memory(&pins.map(map))?);
    }
    println!("{}", json!({"held": held, "sweep_s": sweep, "bytes": bytes, "rows": rows}));
    Ok(())
}
