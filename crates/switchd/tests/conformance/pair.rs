//! Program and state machine side by side.

use std::collections::BTreeMap;
use std::fmt;

use rand_core::RngCore;
use weft_switchd::layout::{Flow, Route, Settings, Test, What, address, ns_at};
use weft_switchd::{Counters, Plane, Reason};
use weft_switching::arp_path::Flood;
use weft_switching::exploration::FloodOrder;
use weft_switching::path_table::{End, FlowKey, PathEntry};
use weft_switching::{DropReason, Mac};
use weft_units::{Duration, HostId, PortId, Time};

use crate::oracle::{Machine, Oracle};
use crate::routed::hash_key;
use crate::setting::Setting;

/// Why programs cannot be run here, if they cannot.
pub fn unable() -> Option<String> {
    match aya::sys::is_program_supported(aya::programs::ProgramType::SchedClassifier) {
        Ok(true) => None,
        Ok(false) => Some("this kernel has no traffic control programs".to_owned()),
        Err(error) => Some(format!("programs cannot be loaded here (root may): {error}")),
    }
}

/// One thing that happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A frame comes in.
    Frame(u16, Vec<u8>),
    /// A port goes down or comes up.
    Up(u16, bool),
    /// Tables are swept.
    Tend,
}

/// After a while something happens.
#[derive(Clone, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds since the step before.
    pub wait: u64,
    pub event: Event,
}

/// As Rust that makes it.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event {
            Event::Frame(port, bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                write!(f, "frame({}, {port}, \"{hex}\")", self.wait)
            }
            Event::Up(port, up) => write!(f, "port({}, {port}, {up})", self.wait),
            Event::Tend => write!(f, "tend({})", self.wait),
        }
    }
}

/// Both.
pub struct Pair {
    plane: Plane,
    oracle: Oracle,
    now: Time,
    ordered: bool,
    before: Counters,
    steps: u64,
    /// Tables are compared after so many steps each.
    pub every: u64,
    pub counted: BTreeMap<&'static str, u64>,
}

impl Pair {
    pub fn new(setting: &Setting) -> Self {
        let hash_key = if setting.mode.routes() { hash_key(setting) } else { 0 };
        let settings = Settings { testing: 1, sweep_gap: 0, hash_key, ..Settings::new(&setting.config) };
        let settings = settings.classifying(&setting.classifier);
        let mut plane = Plane::load(setting.mode, &setting.config, settings, &setting.ways)
            .expect("the kernel takes the program");
        for (port, may) in (0..).map(PortId).zip(&setting.may_be_fabric) {
            plane.set_may_be_fabric(port, *may).expect("a map that can be written");
        }
        plane.set_tracing(true).expect("a map that can be written");
        if setting.mode.routes() {
            for (host, route) in (0..).map(HostId).zip(&setting.routes) {
                let route = Route::new(route.iter().copied());
                plane.set_route(address(Mac::of_host(host)), route).expect("a map that can be written");
            }
        }
        Self {
            plane,
            oracle: Oracle::new(setting),
            now: Time::ZERO,
            ordered: setting.config.order == FloodOrder::Fixed,
            before: Counters::default(),
            steps: 0,
            every: 1,
            counted: BTreeMap::new(),
        }
    }

    /// Has both take a step; gives what left, or what the difference is.
    pub fn step(&mut self, step: &Step) -> Result<Vec<(PortId, Vec<u8>)>, String> {
        self.now += Duration::from_ps(step.wait * 1000);
        let sent = match &step.event {
            Event::Frame(port, bytes) => self.frame(PortId(*port), bytes)?,
            Event::Up(port, up) => {
                self.oracle.set_up(PortId(*port), *up, self.now);
                self.plane.set_up(PortId(*port), *up, self.now).map_err(|error| error.to_string())?;
                Vec::new()
            }
            Event::Tend => {
                self.tend()?;
                Vec::new()
            }
        };
        self.steps += 1;
        if self.steps.is_multiple_of(self.every) {
            self.compare_tables()?;
        }
        Ok(sent)
    }

    fn frame(&mut self, port: PortId, bytes: &[u8]) -> Result<Vec<(PortId, Vec<u8>)>, String> {
        let mut random = self.oracle.random.clone();
        let expected = self.oracle.receive(port, bytes, self.now);
        // What is drawn first in a step, if anything is, is the number of an exploration. A second one is
        // drawn next, or after the order of the first one's copies; then it is seen to leave.
        let first = random.next_u32();
        let second = expected.stations.filter(|id| *id != first).unwrap_or_else(|| random.next_u32());
        let random = [first, second];
        let given = Test { now: ns_at(self.now), port: port.0.into(), drawn: 0, random };
        let mut sent = self.plane.run(given, bytes).map_err(|error| error.to_string())?;
        let mut wanted = expected.sent;
        if self.ordered {
            // Copies leave in order; which of two frames is first is left open.
            sent.sort_by(|(_, one), (_, other)| one.cmp(other));
            wanted.sort_by(|(_, one), (_, other)| one.cmp(other));
        } else {
            sent.sort();
            wanted.sort();
        }
        same("frames that leave", &wanted, &sent)?;
        let counters = self.plane.counters().map_err(|error| error.to_string())?;
        same("counters", &expected.counted, &since(&self.before, &counters))?;
        for (reason, count) in &expected.counted.dropped {
            *self.counted.entry(reason.name()).or_default() += count;
        }
        *self.counted.entry("consumed").or_default() += expected.counted.consumed;
        *self.counted.entry("forwarded").or_default() += expected.counted.forwarded;
        let late = DropReason::LateCopy.name();
        let late = expected.counted.dropped.iter().filter(|(reason, _)| reason.name() == late);
        self.check_events(late.map(|(_, count)| count).sum())?;
        for deed in expected.deeds {
            *self.counted.entry(deed).or_default() += 1;
        }
        self.before = counters;
        if expected.hello {
            self.plane.heard(port, self.now).map_err(|error| error.to_string())?;
        }
        Ok(sent)
    }

    /// What the program tells of the step is what the tables say.
    fn check_events(&mut self, late: u64) -> Result<(), String> {
        let events = self.plane.events();
        let told = events.iter().filter(|event| event.what() == Some(What::Late)).count() as u64;
        same("late copies told", &late, &told)?;
        for event in events {
            let what = event.what().ok_or("an event without a meaning")?;
            *self.counted.entry(what.name()).or_default() += 1;
            let key = (event.src << 16 | u64::from(event.sport), event.dst << 16 | u64::from(event.dport));
            let kept = match what {
                What::FlowLocked | What::Confirmed => {
                    let switch = self.oracle.switch.paths().ok_or("an event about a flow")?;
                    let mut known = switch.paths(self.now).filter(|(flow, ..)| ends(*flow) == key);
                    known.next().map(|(_, entry, ..)| (entry.port.0, entry.id))
                }
                What::StationLocked | What::StationLearnt => {
                    let mut known = self.oracle.switch.base().stations(self.now);
                    let known = known.find(|(mac, ..)| address(*mac) == event.src);
                    // A frame to its own source may take out what it has put in.
                    let Some((_, port, ..)) = known else { continue };
                    Some((port.0, event.id))
                }
                _ => continue,
            };
            same(what.name(), &kept, &Some((event.port, event.id)))?;
        }
        Ok(())
    }

    /// The daemon's part: tables are swept, and flows of dead ports told.
    fn tend(&mut self) -> Result<(), String> {
        let expected = self.oracle.tend(self.now);
        // Both draw the numbers of explorations, which are seen in the table.
        let paths = self.oracle.switch.paths().into_iter().flat_map(|switch| switch.paths(self.now));
        let drawn: BTreeMap<_, _> = paths.map(|(key, entry, ..)| (ends(key), entry.id)).collect();
        let draw = |flow: &Flow| drawn.get(&(flow.host, flow.peer)).copied().unwrap_or_default();
        let told = self.plane.tend(self.now, draw).map_err(|error| error.to_string())?;
        let each =
            told.iter().flat_map(|(ports, frame)| ports.iter().map(move |port| (PortId(*port), frame)));
        let wanted = expected.sent.iter().map(|(port, frame)| (*port, frame));
        same("frames that tell", &sorted(wanted), &sorted(each))?;
        for deed in expected.deeds {
            *self.counted.entry(deed).or_default() += 1;
        }
        Ok(())
    }

    fn compare_tables(&self) -> Result<(), String> {
        let (now, switch) = (ns_at(self.now), self.oracle.switch.base());
        let text = |error: weft_switchd::PlaneError| error.to_string();
        let wanted = switch.floods(self.now).map(|(flood, port, until)| {
            let Flood { kind, from, to, ports: [sport, dport], id } = flood;
            (address(from), address(to), id, sport, dport, kind as u64, port.0, ns_at(until))
        });
        let found = self.plane.floods().map_err(text)?.filter(|(_, flood)| flood.expiry > now);
        let found = found.map(|(key, flood)| {
            (key.from, key.to, key.id, key.sport, key.dport, key.kind, flood.port, flood.expiry)
        });
        same("floods", &sorted(wanted), &sorted(found))?;

        if let Machine::Routed(_) = &self.oracle.switch {
            return Ok(());
        }
        let wanted = switch
            .stations(self.now)
            .map(|(mac, port, class, until)| (address(mac), port.0, class, ns_at(until)));
        let found = self.plane.stations().map_err(text)?.filter(|(_, station)| station.expiry > now);
        let found = found.map(|(mac, station)| (mac, station.port, station.class, station.expiry));
        same("stations", &sorted(wanted), &sorted(found))?;

        let wanted = switch.repairs(self.now).map(|(mac, until)| (address(mac), ns_at(until)));
        let found = self.plane.repairs().map_err(text)?.filter(|(_, until)| *until > now);
        same("repairs", &sorted(wanted), &sorted(found))?;

        let Some(switch) = self.oracle.switch.paths() else { return Ok(()) };
        let wanted = switch.paths(self.now).map(|(key, entry, class, until)| {
            let PathEntry { port, initiator, explored, id, made } = entry;
            let (host, peer) = ends(key);
            let state = (port.0, class, u8::from(initiator), u8::from(explored), id, made);
            (host, peer, state, ns_at(until))
        });
        let found = self.plane.paths().map_err(text)?.filter(|(_, path)| path.expiry > now);
        let found = found.map(|(flow, path)| {
            let state = (path.port, path.class, path.initiator, path.explored, path.id, path.made);
            (flow.host, flow.peer, state, path.expiry)
        });
        same("flows", &sorted(wanted), &sorted(found))?;

        let Machine::Tfe(switch) = &self.oracle.switch else { return Ok(()) };
        let wanted = switch.carried(self.now).map(|(key, bytes, until)| (ends(key), bytes, ns_at(until)));
        let found = self.plane.carried().map_err(text)?.filter(|(_, load)| load.expiry > now);
        let found = found.map(|(flow, load)| ((flow.host, flow.peer), load.bytes, load.expiry));
        same("bytes carried", &sorted(wanted), &sorted(found))
    }
}

fn ends(key: FlowKey) -> (u64, u64) {
    let end = |end: End| address(end.station()) << 16 | u64::from(end.port());
    (end(key.host), end(key.peer))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items
}

fn same<T: PartialEq + fmt::Debug>(what: &str, wanted: &T, found: &T) -> Result<(), String> {
    if wanted == found {
        return Ok(());
    }
    Err(format!("{what}\n  state machine: {wanted:02x?}\n  program:       {found:02x?}"))
}

/// What was counted between two looks.
fn since(before: &Counters, after: &Counters) -> Counters {
    let count =
        |of: &Counters, reason| of.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, n)| *n);
    let dropped = after.dropped.iter().map(|&(reason, n)| (reason, n - count(before, reason)));
    Counters {
        dropped: dropped.filter(|(_, n)| *n > 0).collect(),
        consumed: after.consumed - before.consumed,
        forwarded: after.forwarded - before.forwarded,
    }
}

/// Runs steps from the beginning; what the difference is, if there is one.
pub fn replay(setting: &Setting, steps: &[Step]) -> Option<String> {
    let mut pair = Pair::new(setting);
    steps.iter().find_map(|step| pair.step(step).err())
}

/// Leaves out of a sequence that shows a difference what it shows it without: halves first, single
/// steps last.
pub fn shorten(setting: &Setting, mut steps: Vec<Step>) -> Vec<Step> {
    let mut chunk = steps.len().div_ceil(2);
    while chunk > 0 {
        let mut end = steps.len().saturating_sub(1);
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut fewer = steps.clone();
            let wait: u64 = fewer.drain(start..end).map(|step| step.wait).sum();
            fewer[start].wait += wait;
            if replay(setting, &fewer).is_some() {
                steps = fewer;
            }
            end = start;
        }
        chunk /= 2;
    }
    steps
}

/// What a switch does beside dropping frames, as `counted` names it.
const DEEDS: [&str; 15] = [
    "consumed",
    "forwarded",
    "kept",
    "hop",
    "wrapped in a request",
    "wrapped in a reply",
    "unwrapped",
    "fail of a station",
    "fail of a flow",
    "request for a station",
    "reply of a station",
    "request for a flow",
    "reply of a flow",
    "fail of an idle flow",
    "request for an idle flow",
];

/// How often what happened, over many sequences.
#[derive(Default)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    pub fn add(&mut self, pair: &Pair) {
        for (name, count) in &pair.counted {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// What a switch can do and did not.
    pub fn unseen(&self) -> Vec<&'static str> {
        // Queues and memory are the kernel's, hosts the simulator's.
        let never = ["queue_full", "not_for_me", "no_memory"];
        let names = Reason::all().map(Reason::name).chain(DEEDS).chain(What::ALL.map(What::name));
        names
            .filter(|name| !never.contains(name) && self.0.get(name).is_none_or(|count| *count == 0))
            .collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        f.write_str(&each.join(", "))
    }
}
