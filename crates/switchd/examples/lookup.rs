//! Memory of a table of flows, and the cost of forwarding a frame by one of its entries, for several table sizes: for
//! `make bench-switch`. The program is run by BPF_PROG_TEST_RUN, with frames of random flows.

#[path = "common/segment.rs"]
mod segment;

use std::error::Error;
use std::path::{Path as FilePath, PathBuf};
use std::time::Instant;

use aya::maps::MapData;
use aya::programs::{TestRun, TestRunOptions};
use clap::Parser;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_switchd::clock::now;
use weft_switchd::layout::{Flow, Path, Port, Settings, Station};
use weft_switchd::pins::Pins;
use weft_switchd::walk::Walk;
use weft_switchd::{Mode, Plane};
use weft_switching::Mac;
use weft_switching::exploration::Exploration;
use weft_switching::path_table::CONFIRMED;
use weft_units::PortId;

use segment::{End, segment};

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
/// The loopback interface always exists, and test runs send nothing.
const INTERFACE: u32 = 1;
const ACK: u8 = 0x10;

/// The TCP ports of a flow, from its number: the destination port comes from the upper half.
fn ports(number: u32) -> (u16, u16) {
    (number as u16, 1 + (number >> 16) as u16)
}

fn frame(number: u32) -> [u8; 60] {
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

/// Mean time, in nanoseconds, of `runs` runs of the program with a frame received on [`INTERFACE`]. Nothing is sent.
fn time(plane: &Plane, frame: &[u8], runs: u32) -> Result<u64, Box<dyn Error>> {
    // `struct __sk_buff`: all zeros but for `ingress_ifindex`.
    let mut context = [0; 192];
    context[36..40].copy_from_slice(&INTERFACE.to_ne_bytes());
    let options = TestRunOptions {
        data_in: Some(frame),
        ctx_in: Some(&context),
        repeat: runs,
        ..TestRunOptions::new()
    };
    Ok(plane.program()?.test_run(options)?.duration.as_nanos() as u64)
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
    let path = Path {
        expiry,
        id: 1,
        made: 0,
        port: 1,
        class: CONFIRMED,
        initiator: 0,
        explored: 0,
        reserved: [0; 3],
    };
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
        took.sort_unstable();
        let at = |part: usize| took.get(took.len() * part / 100).copied().unwrap_or_default();
        let warm = time(&plane, &frame(0), 1_000_000)?;
        rows.push(format!(
            "{{\"entries\": {entries}, \"p50_ns\": {}, \"p10_ns\": {}, \"p90_ns\": {}, \"same_flow_ns\": {warm}}}",
            at(50),
            at(10),
            at(90)
        ));
    }
    let started = Instant::now();
    let held = plane.tables().sweep(now())?.flows;
    let sweep = started.elapsed().as_secs_f64();
    let bytes: Vec<String> = ["paths", "locked", "stations", "repairs", "floods"]
        .iter()
        .map(|map| Ok(format!("\"{map}\": {}", memory(&pins.map(map))?)))
        .collect::<Result<_, Box<dyn Error>>>()?;
    println!(
        "{{\"held\": {held}, \"sweep_s\": {sweep}, \"bytes\": {{{}}}, \"rows\": [{}]}}",
        bytes.join(", "),
        rows.join(", ")
    );
    Ok(())
}
