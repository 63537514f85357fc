//! Runs program and state machine in parallel and compares them.

use std::collections::BTreeMap;

use rand_core::RngCore;
use weft_switchd::Counters;
use weft_switchd::event::EventKind;
use weft_switchd::layout::{Flow, MAX_PORTS, Port, Route, Settings, Test, ns_at};
use weft_switchd::recovery::Broken;
use weft_switching::exploration::FloodOrder;
use weft_switching::reachability::{PortBits, PortStates, Reachability};
use weft_switching::{DropReason, Mac};
use weft_units::{Duration, HostId, PortId, Time};
use weft_wire::Reach;

use crate::conformance::compare::{ends, same, same_set, sizes, tables};
use crate::conformance::event::{Event, Step};
use crate::conformance::leaving;
use crate::conformance::oracle::Oracle;
use crate::conformance::program::Program;
use crate::conformance::routed::hash_key;
use crate::conformance::setting::Setting;
use crate::conformance::tally::Tally;

/// The program and the state machine.
pub struct Pair {
    program: Program,
    oracle: Oracle,
    now: Time,
    ordered: bool,
    before: Counters,
    steps: u64,
    /// The routes, in modes with routes.
    reach: Reachability,
    /// The looked-up flows of dead ports.
    looked_up: BTreeMap<u16, Vec<Broken>>,
    /// The number of moves of each station.
    moves: BTreeMap<u64, u64>,
    /// The number of steps between comparisons of the tables.
    pub every: u64,
    pub tally: Tally,
}

impl Pair {
    pub fn new(setting: &Setting) -> Self {
        let hash_key = if setting.mode.routes() { hash_key(setting) } else { 0 };
        let settings = Settings { hash_key, ..Settings::new(&setting.config) };
        let settings = settings.classifying(&setting.classifier);
        let mut program = Program::load(setting.mode, &setting.config, settings).expect("the program loads");
        program.plane.set_tracing(true).expect("a map that can be written");
        if let Some(rate) = setting.config.line_rate {
            let ports = (0..setting.ways.len() as u16).map(PortId);
            let share = setting.config.safeguards.flood_share;
            ports.for_each(|port| {
                program.plane.set_share(port, rate, share).expect("a map that can be written")
            });
        }
        let mut reach = Reachability::new(setting.ways.len());
        if setting.mode.routes() {
            let route = |(host, ports): (HostId, &Vec<u16>)| {
                (Mac::of_host(host.0), ports.iter().fold(0, |bits, port| bits | 1 << port))
            };
            reach.set_routes((0..).map(HostId).zip(&setting.routes).map(route), |_| None);
            (0..setting.ways.len() as u16).for_each(|port| reach.trust(PortId(port)));
            let routes: Vec<_> = reach.routes().map(entry).collect();
            program.plane.set_routes(&routes).expect("a map that can be written");
        }
        Self {
            program,
            oracle: Oracle::new(setting),
            now: Time::ZERO,
            ordered: setting.config.order == FloodOrder::Fixed,
            before: Counters::default(),
            steps: 0,
            reach,
            looked_up: BTreeMap::new(),
            moves: BTreeMap::new(),
            every: 1,
            tally: Tally::default(),
        }
    }

    /// Has both execute a step; returns the frames sent, or the difference.
    pub fn step(&mut self, step: &Step) -> Result<Vec<(PortId, Vec<u8>)>, String> {
        self.now += Duration::from_ps(step.wait * 1000);
        self.program.tell(self.oracle.port_entries(self.now)).map_err(text)?;
        self.withdraw()?;
        let sent = match &step.event {
            Event::Frame(port, bytes) => {
                let sent = self.frame(PortId(*port), bytes)?;
                // A port that received a Hello is no longer dead.
                if self.oracle.switch.base().ports().is_fabric(PortId(*port), self.now) {
                    self.looked_up.remove(port);
                }
                sent
            }
            Event::Up(port, up) => {
                self.oracle.set_up(PortId(*port), *up, self.now);
                if !up {
                    self.program.plane.refill(PortId(*port)).map_err(text)?;
                }
                self.looked_up.remove(port);
                Vec::new()
            }
            Event::Look => self.look().map(|()| Vec::new())?,
            Event::Tend => self.tend()?,
            Event::Reach(port, unreached) => {
                let named =
                    (0..8).filter(|host| unreached & 1 << host != 0).map(|host| [Mac::of_host(host).0; 2]);
                let named: Vec<_> = named.collect();
                let said = Reach { first: Mac::default(), last: Mac::BROADCAST, unreached: &named };
                self.reach.hear(PortId(*port), said.into());
                self.oracle.says(PortId(*port), *unreached);
                self.tally.count("announced");
                Vec::new()
            }
        };
        self.steps += 1;
        if self.steps.is_multiple_of(self.every) {
            tables(&self.program, &self.oracle, self.now)?;
            let mut moved = BTreeMap::new();
            let tables = self.program.plane.tables();
            tables.moves(|address, last| moved.extend([(address, last.count)])).map_err(text)?;
            same("stations that moved", &self.moves, &moved)?;
        }
        Ok(sent)
    }

    /// The daemon's part: withdraws the next hops that do not reach their station. A port that has lost its neighbour gets one
    /// that reaches everything.
    fn withdraw(&mut self) -> Result<(), String> {
        let ports = self.program.ports();
        let of = |is: &dyn Fn(&Port) -> bool| {
            (0..).zip(ports).filter(|(_, port)| is(port)).fold(0, |bits, (number, _)| bits | 1 << number)
        };
        let now = ns_at(self.now);
        let states = PortStates {
            up: of(&|port| port.up != 0),
            fabric: of(&|port| port.is_fabric(now)),
            hosts: of(&|port| port.is_host(now)),
        };
        self.reach.set_ports(states);
        for port in (0..ports.len() as u16).map(PortId).filter(|port| states.fabric & 1 << port.0 == 0) {
            self.reach.trust(port);
            self.oracle.says(port, 0);
        }
        let changed: Vec<_> = self.reach.settle().routes.into_iter().map(entry).collect();
        if changed.is_empty() { Ok(()) } else { self.program.plane.change_routes(&changed).map_err(text) }
    }

    fn frame(&mut self, port: PortId, bytes: &[u8]) -> Result<Vec<(PortId, Vec<u8>)>, String> {
        let mut random = self.oracle.random.clone();
        let before = self.home(bytes);
        let expected = self.oracle.receive(port, bytes, self.now);
        // Both draw exploration numbers and next hops; the state machine also draws flood orders in between.
        let mut drawn = expected.drawn.into_iter();
        let after = self.home(bytes);
        if let (Some((station, from)), Some((_, to))) = (before, after)
            && from != port
            && to == port
            && self.oracle.switch.base().ports().is_host(port, self.now)
        {
            *self.moves.entry(station).or_default() += 1;
            self.tally.count("moved");
        }
        let random = std::array::from_fn(|_| drawn.next().unwrap_or_else(|| random.next_u32()));
        let given = Test { now: ns_at(self.now), port: port.0.into(), drawn: 0, random };
        let mut sent = self.program.run(given, bytes).map_err(text)?;
        let mut wanted = expected.sent;
        for frames in [&mut sent, &mut wanted] {
            match self.ordered {
                // The order of copies is fixed; the order of different frames is not.
                true => frames.sort_by(|(_, one), (_, other)| one.cmp(other)),
                false => frames.sort(),
            }
        }
        same("sent frames", &wanted, &sent)?;
        let counters = self.program.plane.counters().map_err(text)?;
        same("counters", &expected.counted, &since(&self.before, &counters))?;
        for (reason, count) in &expected.counted.dropped {
            self.tally.count_many(reason.name(), *count);
        }
        self.tally.count_many("consumed", expected.counted.consumed);
        self.tally.count_many("forwarded", expected.counted.forwarded);
        let late = DropReason::LateCopy.name();
        let late = expected.counted.dropped.iter().filter(|(reason, _)| reason.name() == late);
        self.check_events(late.map(|(_, count)| count).sum())?;
        expected.deeds.into_iter().for_each(|deed| self.tally.count(deed));
        self.before = counters;
        Ok(sent)
    }

    /// Checks that the program's events agree with the tables.
    fn check_events(&mut self, late: u64) -> Result<(), String> {
        let events = self.program.plane.events();
        let reported = events.iter().filter(|event| event.what() == Some(EventKind::Late)).count() as u64;
        same("late-copy events", &late, &reported)?;
        for event in events {
            let what = event.what().ok_or("an event without a meaning")?;
            self.tally.count(what.name());
            let key = (event.src << 16 | u64::from(event.sport), event.dst << 16 | u64::from(event.dport));
            let kept = match what {
                EventKind::FlowLocked | EventKind::Confirmed => {
                    let switch = self.oracle.switch.paths().ok_or("an event about a flow")?;
                    let mut known = switch.paths(self.now).filter(|(flow, ..)| ends(*flow) == key);
                    known.next().map(|(_, entry, ..)| (entry.port.0, entry.id))
                }
                EventKind::StationLocked | EventKind::StationLearnt => {
                    let mut known = self.oracle.switch.base().stations(self.now);
                    let known = known.find(|(mac, ..)| mac.bits() == event.src);
                    // A frame to its own source may remove its own entry.
                    let Some((_, port, ..)) = known else { continue };
                    Some((port.0, event.id))
                }
                _ => continue,
            };
            same(what.name(), &kept, &Some((event.port, event.id)))?;
        }
        Ok(())
    }

    /// The port at which a frame's source is known.
    fn home(&self, frame: &[u8]) -> Option<(u64, PortId)> {
        let source = Mac(frame.get(6..12)?.try_into().ok()?).unmarked();
        let mut known = self.oracle.switch.base().stations(self.now);
        known.find(|(station, ..)| *station == source).map(|(station, port, ..)| (station.bits(), port))
    }

    /// The daemon looks up the flows of dead ports, to break them later.
    fn look(&mut self) -> Result<(), String> {
        for PortId(port) in self.oracle.dead_by(self.now) {
            let found = self.program.plane.tables().on_port(port, ns_at(self.now)).map_err(text)?;
            self.looked_up.insert(port, found);
        }
        Ok(())
    }

    /// The daemon's part: sweeps tables, breaks the flows of dead ports, and moves flows off ports whose links lose frames. Returns
    /// the frames about them.
    fn tend(&mut self) -> Result<Vec<(PortId, Vec<u8>)>, String> {
        let now = ns_at(self.now);
        let left = self.program.plane.tables().sweep(now).map_err(text)?;
        same("entries left", &sizes(&self.oracle, self.now), &left)?;
        let paths = self.oracle.switch.paths().into_iter().flat_map(|switch| switch.paths(self.now));
        let found_now: BTreeMap<_, _> = paths.map(|(key, entry, ..)| (ends(key), entry.port.0)).collect();
        let (leaving, mut random) = (self.oracle.leaving(self.now), self.oracle.random.clone());
        let (dead, expected) = self.oracle.tend(self.now);
        // The table shows the exploration numbers that the state machine drew.
        let paths = self.oracle.switch.paths().into_iter().flat_map(|switch| switch.paths(self.now));
        let drawn: BTreeMap<_, _> = paths.map(|(key, entry, ..)| (ends(key), entry.id)).collect();
        let draw = |flow: &Flow| drawn.get(&(flow.host, flow.peer)).copied().unwrap_or_default();
        let mut frames = Vec::new();
        for PortId(port) in dead {
            let (tables, ports) = (self.program.plane.tables(), self.program.ports());
            let done = match self.looked_up.remove(&port) {
                Some(found) => {
                    let now_is =
                        |broken: &Broken| found_now.get(&(broken.flow.host, broken.flow.peer)).copied();
                    let repaired = found.iter().filter(|broken| now_is(broken).is_some_and(|at| at != port));
                    self.tally.count_many("repaired before it was broken", repaired.count() as u64);
                    tables.break_flows(port, found, ports, now, draw)
                }
                None => tables.break_port(port, ports, now, draw),
            };
            frames.extend(done.map_err(text)?.frames);
        }
        for PortId(port) in leaving {
            let (tables, ports) = (self.program.plane.tables(), self.program.ports());
            let left = tables.leave_port(port, ports, now, random.next_u64(), draw).map_err(text)?;
            leaving::count(&mut self.tally, port, &left);
            frames.extend(left.frames);
        }
        let each =
            frames.iter().flat_map(|(ports, frame)| ports.iter().map(move |port| (PortId(*port), frame)));
        let wanted = expected.sent.iter().map(|(port, frame)| (*port, frame));
        same_set("frames about broken flows", wanted, each)?;
        expected.deeds.into_iter().for_each(|deed| self.tally.count(deed));
        Ok(expected.sent)
    }
}

/// A route in the format of the kernel map.
fn entry((station, ports): (Mac, PortBits)) -> (u64, Route) {
    (station.bits(), Route::new((0..MAX_PORTS).filter(|port| ports & 1 << port != 0)))
}

pub fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The difference between two readings of the counters.
pub fn since(before: &Counters, after: &Counters) -> Counters {
    let count =
        |of: &Counters, reason| of.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, n)| *n);
    let dropped = after.dropped.iter().map(|&(reason, n)| (reason, n - count(before, reason)));
    Counters {
        dropped: dropped.filter(|(_, n)| *n > 0).collect(),
        consumed: after.consumed - before.consumed,
        forwarded: after.forwarded - before.forwarded,
    }
}
