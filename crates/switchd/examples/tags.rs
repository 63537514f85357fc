//! The cost of a frame with Tag-and-Forward and with a flow table at every switch, as JSON: pushing, forwarding by and
//! popping a tag for several frame lengths, and the lookup for several numbers of rules and kinds, families and
//! matches. The programs are run by BPF_PROG_TEST_RUN.

#[path = "common/time.rs"]
mod time;

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::Parser;
use ipnet::IpNet;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use weft_fabric::gates::{Direction, Gate, GateFlag, Layer, PortGate, SwitchGates};
use weft_switchd::layout::{Port, Settings};
use weft_switchd::pins::Pins;
use weft_switchd::tags::{Rules, Tagging};
use weft_switchd::{Mode, Plane};
use weft_switching::exploration::Exploration;
use weft_switching::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, Way};
use weft_units::PortId;
use weft_wire::{Tag, push_tag};

use time::{INTERFACE, percentiles, time};

#[derive(Parser)]
struct Arguments {
    /// A directory of a BPF file system, for pins that remain there.
    pins: PathBuf,
    /// Frame lengths for pushing, forwarding and popping; the kernel limits test runs to about 3500 bytes.
    #[arg(long, value_delimiter = ',', default_value = "64,1500,3400")]
    bytes: Vec<usize>,
    /// Numbers of rules in the table.
    #[arg(long, value_delimiter = ',', default_value = "100,40000,200000")]
    rules: Vec<u32>,
    /// Numbers of kinds, each with an equal share of the rules.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    kinds: Vec<u32>,
    /// Number of frames per measurement, timed individually.
    #[arg(long, default_value_t = 20_000)]
    frames: u32,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Ports 0 to 3: a server, another server, up, and a switch below.
const SERVER: u16 = 0;
const UP: u16 = 2;
const UP_GATE: u32 = 8;
const SERVER_GATE: u32 = 2;
const BELOW_GATE: u32 = 6;
/// Rules changed per batch.
const BATCH: u32 = 10_000;

fn gates() -> SwitchGates {
    let gate = |port, gate, direction, flag| PortGate {
        port: PortId(port),
        gate: Gate(gate),
        direction,
        flag,
        peer: String::new(),
    };
    let (down, up) = (Direction::Down, Direction::Up);
    let gates = vec![
        gate(SERVER, SERVER_GATE, down, Some(GateFlag::Srv)),
        gate(1, 4, down, Some(GateFlag::Srv)),
        gate(UP, UP_GATE, up, None),
        gate(3, BELOW_GATE, down, None),
    ];
    SwitchGates { switch: "bench".to_owned(), layer: Layer::Edge, down_divisor: 2, up_divisor: 8, gates }
}

/// The contents of a flow table.
#[derive(Clone, Copy)]
struct Table {
    rules: u32,
    kinds: u32,
    v6: bool,
    prefix: bool,
}

impl Table {
    /// Source and destination of a rule, from its number: one source per thousand rules.
    fn ends(self, number: u32) -> [IpAddr; 2] {
        // With prefixes, the bits after the prefix differ from those of the rule.
        let at = |n: u32| if self.prefix { n << 4 | 9 } else { n };
        let address = |high: u8, n: u32| -> IpAddr {
            let [_, a, b, c] = at(n).to_be_bytes();
            match self.v6 {
                false => Ipv4Addr::new(high, a, b, c).into(),
                true => {
                    Ipv6Addr::new(0xfd00, high.into(), 0, 0, 0, 0, u16::from(a), u16::from_be_bytes([b, c]))
                        .into()
                }
            }
        };
        [address(10, number / 1000), address(11, number)]
    }

    fn rule(self, number: u32) -> Result<FlowRule> {
        let whole = if self.v6 { 128 } else { 32 };
        let len = if self.prefix { whole - 4 } else { whole };
        let [source, destination] = self.ends(number);
        let matches = FlowMatch::new(IpNet::new(source, len)?, IpNet::new(destination, len)?)?;
        let way = Way { gate: Gate(UP_GATE), up: 48 };
        let action = FlowAction { queue: 0, down: 30, to: FlowTarget::Way(way) };
        Ok(FlowRule { priority: 1 + (number % self.kinds) as u16, matches, action })
    }
}

/// A UDP frame.
fn frame([source, destination]: [IpAddr; 2], bytes: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let len = (bytes.max(60) - 14) as u16;
            frame.extend([0x08, 0x00, 0x45, 0]);
            frame.extend(len.to_be_bytes());
            frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
            frame.extend(source.octets().into_iter().chain(destination.octets()));
        }
        (source, destination) => {
            let octets = |address| match address {
                IpAddr::V6(address) => address.octets(),
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            };
            let len = (bytes.max(62) - 54) as u16;
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend(len.to_be_bytes());
            frame.extend([17, 64]);
            frame.extend(octets(source).into_iter().chain(octets(destination)));
        }
    }
    frame.extend([0x4e, 0x20, 0x13, 0x89]);
    frame.resize(bytes.max(frame.len() + 4), 0);
    frame
}

struct Bench {
    plane: Plane,
    rules: Rules,
    random: Xoshiro256PlusPlus,
    frames: u32,
}

impl Bench {
    fn new(mode: Mode, arguments: &Arguments) -> Result<Self> {
        let (config, tagging) = (Exploration::default(), Tagging::default());
        let pins = Pins::open(&arguments.pins, &mode.program().parse()?)?;
        let mut plane = Plane::load(mode, &config, Settings::new(&config).tagging(&tagging), &pins)?;
        for number in 0..4 {
            let port = Port { up: 1, ifindex: INTERFACE, ..Port::decided(number >= UP, number < UP) };
            plane.set_port(PortId(number), port)?;
        }
        plane.set_gates(&gates())?;
        let rules = Rules::open(tagging.width, &pins)?;
        Ok(Self { plane, rules, random: Xoshiro256PlusPlus::seed_from_u64(1), frames: arguments.frames })
    }

    /// Sets the ingress port of frames.
    fn from(&mut self, port: u16) -> Result<()> {
        Ok(self.plane.set_interface(INTERFACE, Some(PortId(port)))?)
    }

    /// Percentiles over frames that each run once: pushing and popping change the frame, so a second run would differ.
    fn spread(&mut self, mut frame: impl FnMut(u32) -> Vec<u8>) -> Result<Value> {
        let mut took = Vec::new();
        for _ in 0..self.frames {
            let frame = frame(self.random.next_u32());
            took.push(time(&self.plane, &frame, 1)?);
        }
        let [p10, p50, p90] = percentiles(took);
        Ok(json!({"p10": p10, "p50": p50, "p90": p90}))
    }

    /// Replaces the rules of the table.
    fn fill(&mut self, table: Table) -> Result<()> {
        let gone = self.rules.table().entries();
        let gone: Vec<_> = gone.map(|entry| (entry.rule.priority, entry.rule.matches)).collect();
        for some in gone.chunks(BATCH as usize) {
            let remove = |&(priority, matches): &_| FlowChange::Remove { priority, matches };
            self.rules.apply(&some.iter().map(remove).collect::<Vec<_>>())?;
        }
        for first in (0..table.rules).step_by(BATCH as usize) {
            let numbers = first..table.rules.min(first + BATCH);
            let changes = numbers.map(|number| Ok(FlowChange::Add(table.rule(number)?)));
            self.rules.apply(&changes.collect::<Result<Vec<_>>>()?)?;
        }
        Ok(())
    }

    /// Lookup times, with a random rule for each frame.
    fn lookup(&mut self, table: Table) -> Result<Value> {
        self.fill(table)?;
        self.from(SERVER)?;
        let drawn = |random: u32| ((u64::from(random) * u64::from(table.rules)) >> 32) as u32;
        self.spread(|random| frame(table.ends(drawn(random)), 64))
    }
}

/// Times of pushing, forwarding and popping, for each frame length.
fn tags(arguments: &Arguments) -> Result<Vec<Value>> {
    let mut bench = Bench::new(Mode::TagForward, arguments)?;
    let mut rows = Vec::new();
    for v6 in [false, true] {
        let table = Table { rules: 1, kinds: 1, v6, prefix: false };
        bench.fill(table)?;
        for bytes in &arguments.bytes {
            let plain = frame(table.ends(0), *bytes);
            let tagging = Tagging::default();
            let tagged = |down| -> Result<Vec<u8>> {
                let mut tagged = vec![0; plain.len() + 8];
                let tag = Tag { queue: 0, up: 0, down };
                let made = push_tag(&plain, tag, tagging.width, tagging.ethertype, &mut tagged);
                made.map_err(|error| error.to_string())?;
                Ok(tagged)
            };
            let (forwarded, popped) = (tagged(BELOW_GATE)?, tagged(SERVER_GATE)?);
            for (what, port, frame) in
                [("push", SERVER, &plain), ("forward", UP, &forwarded), ("pop", UP, &popped)]
            {
                bench.from(port)?;
                let ns = bench.spread(|_| frame.clone())?;
                rows.push(json!({"what": what, "v6": v6, "bytes": plain.len(), "ns": ns}));
            }
        }
    }
    Ok(rows)
}

/// The time of an empty run: the frame's interface is not a port.
fn nothing(arguments: &Arguments) -> Result<Value> {
    let mut bench = Bench::new(Mode::TagForward, arguments)?;
    bench.plane.set_interface(INTERFACE, None)?;
    let table = Table { rules: 1, kinds: 1, v6: false, prefix: false };
    bench.spread(|_| frame(table.ends(0), 64))
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut lookups = Vec::new();
    let nothing = nothing(&arguments)?;
    let tags = tags(&arguments)?;
    let mut benches = [Mode::TagForward, Mode::FlowTable].map(|mode| (mode, Bench::new(mode, &arguments)));
    for rules in &arguments.rules {
        for kinds in &arguments.kinds {
            for (v6, prefix) in [(false, false), (false, true), (true, false), (true, true)] {
                for (mode, bench) in &mut benches {
                    let bench = bench.as_mut().map_err(|error| error.to_string())?;
                    let ns = bench.lookup(Table { rules: *rules, kinds: *kinds, v6, prefix })?;
                    lookups.push(json!({
                        "mode": mode.word(), "rules": rules, "kinds": kinds, "v6": v6, "prefix": prefix, "ns": ns,
                    }));
                }
            }
        }
    }
    println!("{}", json!({"nothing": nothing, "tags": tags, "lookups": lookups}));
    Ok(())
}
