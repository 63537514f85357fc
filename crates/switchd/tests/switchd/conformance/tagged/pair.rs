//! Runs program and state machine in parallel and compares them.

use std::collections::BTreeSet;

use weft_fabric::gates::SwitchGates;
use weft_switchd::Counters;
use weft_switchd::layout::{Port, Settings, Test, ns};
use weft_switchd::tags::{Misses, Rules, RulesRefused};
use weft_switching::exploration::Exploration;
use weft_switching::tag_forward::{Counters as TagCounters, FlowChange, FlowError, FlowRule, GroupId, Way};
use weft_units::{Duration, PortId};

use rand_core::RngCore;

use super::machine::{HASH_KEY, Machine, Outcome};
use super::setting::Setting;
use crate::conformance::compare::{same, same_set};
use crate::conformance::pair::{since, text};
use crate::conformance::program::Program;
use crate::conformance::tally::Tally;

/// The number of steps between comparisons of the tables.
const EVERY: u64 = 8;

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A frame arrives.
    Frame(u16, Vec<u8>),
    /// A port goes down or comes up.
    Up(u16, bool),
    /// The controller changes rules.
    Change(Vec<FlowChange>),
    /// The gates are replaced.
    Gates(SwitchGates),
    /// Another daemon takes over.
    Adopt,
}

/// Everything that can happen, as counted.
pub const EVENTS: [&str; 21] = [
    "adopted",
    "changed",
    "consumed",
    "forwarded",
    "gates",
    "gates refused",
    "kept",
    "link_down",
    "missing",
    "reported",
    "no_route",
    "popped",
    "pushed",
    "queued",
    "refused",
    "repeated",
    "same_port",
    "short",
    "stale",
    "unknown_port",
    "untrusted",
];

pub struct Pair {
    program: Program,
    rules: Option<Rules>,
    misses: Misses,
    machine: Machine,
    setting: Setting,
    up: Vec<bool>,
    now: u64,
    before: Counters,
    steps: u64,
    pub tally: Tally,
}

impl Pair {
    pub fn new(setting: &Setting) -> Self {
        let config = Exploration::default();
        let settings = Settings { hash_key: HASH_KEY, ..Settings::new(&config) }.tagging(&setting.tagging);
        let mut program = Program::load(setting.mode, &config, settings).expect("the program loads");
        program.plane.set_gates(&setting.gates).expect("sound gates");
        let misses = program.plane.take_misses().expect("a map").expect("not taken yet");
        let rules = Rules::open(setting.tagging.width, &program.pins).expect("maps");
        Self {
            rules: Some(rules),
            misses,
            program,
            machine: Machine::new(setting),
            setting: setting.clone(),
            up: vec![true; usize::from(setting.ports)],
            now: 0,
            before: Counters::default(),
            steps: 0,
            tally: Tally::default(),
        }
    }

    pub fn step(&mut self, event: &Event) -> Result<(), String> {
        // Long enough that the miss rate limit never applies.
        self.now += ns(Duration::from_ms(1));
        let ports = self.up.iter().zip(&self.setting.may_be_fabric).map(|(up, may_be_fabric)| Port {
            up: (*up).into(),
            may_be_fabric: (*may_be_fabric).into(),
            ..Port::decided(false, *up)
        });
        self.program.tell(ports.collect()).map_err(text)?;
        match event {
            Event::Frame(port, frame) => self.frame(PortId(*port), frame)?,
            Event::Up(port, up) => {
                self.up[usize::from(*port)] = *up;
                self.machine.set_up(PortId(*port), *up);
            }
            Event::Change(changes) => self.change(changes)?,
            Event::Gates(gates) => self.gates(gates)?,
            Event::Adopt => {
                // The previous daemon is gone.
                self.rules = None;
                self.rules = Some(Rules::open(self.setting.tagging.width, &self.program.pins).map_err(text)?);
                self.tally.count("adopted");
                self.compare()?;
            }
        }
        self.steps += 1;
        if self.steps.is_multiple_of(EVERY) { self.compare() } else { Ok(()) }
    }

    fn rules(&mut self) -> &mut Rules {
        self.rules.as_mut().expect("a daemon")
    }

    fn frame(&mut self, port: PortId, frame: &[u8]) -> Result<(), String> {
        let random = [self.machine.random.clone().next_u32(), 0, 0, 0];
        let before = self.machine.switch.counters();
        let expected = self.machine.receive(port, frame);
        let given = Test { now: self.now, port: port.0.into(), drawn: 0, random };
        let sent = self.program.run(given, frame).map_err(text)?;
        let counters = self.program.plane.counters().map_err(text)?;
        let is_sent = !sent.is_empty();
        let found = Outcome {
            sent,
            counted: since(&self.before, &counters),
            priority: if is_sent { self.program.priority } else { 0 },
            deed: expected.deed,
        };
        self.before = counters;
        same("the result of a frame", &expected, &found)?;
        self.tally.count(expected.deed);
        if expected.priority > 0 {
            self.tally.count("queued");
        }
        let missed = self.machine.switch.counters().misses > before.misses;
        let addresses = weft_switchd::tags::addresses_of(frame).map(|(addresses, _)| addresses);
        let reported = self.misses.take().map(|miss| (miss.port, Some(miss.addresses), miss.len, miss.frame));
        let wanted = missed.then(|| (port, addresses, frame.len(), frame.to_vec()));
        if missed {
            self.tally.count("reported");
        }
        same("the miss of a frame without a rule", &wanted, &reported)
    }

    fn change(&mut self, changes: &[FlowChange]) -> Result<(), String> {
        // If a new rule conflicts with several, either may be named.
        let said = |error: FlowError| match error {
            FlowError::Conflict { rule, .. } => format!("{rule:?} conflicts"),
            error => error.to_string(),
        };
        let wanted = self.machine.change(changes).map_err(|(at, error)| (at, said(*error)));
        let found = match self.rules().apply(changes) {
            Err(RulesRefused::Change { at, error }) => Err((at, said(*error))),
            Err(other) => return Err(other.to_string()),
            Ok(()) => Ok(()),
        };
        self.tally.count(if wanted.is_ok() { "changed" } else { "refused" });
        same("the result of changes", &wanted, &found)
    }

    fn gates(&mut self, gates: &SwitchGates) -> Result<(), String> {
        let taken = self.machine.set_gates(gates);
        self.tally.count(if taken { "gates" } else { "gates refused" });
        let set = self.program.plane.set_gates(gates);
        same("whether gates are accepted", &taken, &set.is_ok())?;
        let mut wanted = self.machine.gates.clone();
        wanted.gates.sort_by_key(|gate| gate.port);
        wanted.gates.iter_mut().for_each(|gate| gate.peer.clear());
        let known = self.program.plane.gates(&wanted.switch).map_err(text)?;
        same("gates", &Some(wanted), &known)
    }

    /// Compares all tables.
    fn compare(&mut self) -> Result<(), String> {
        let line = |entry: &weft_switching::tag_forward::Entry| {
            let FlowRule { priority, matches, action } = entry.rule;
            (priority, matches, format!("{action:?}"), entry.packets, entry.bytes)
        };
        let found = self.rules().entries().map_err(text)?;
        same_set("rules", self.machine.switch.entries().map(line), found.iter().map(line))?;
        let groups = |table: &weft_switching::tag_forward::FlowTable| -> BTreeSet<(GroupId, Vec<Way>)> {
            table.groups().map(|(id, ways)| (id, ways.to_vec())).collect()
        };
        same("groups", &groups(self.machine.switch.flows()), &groups(self.rules().table()))?;
        let TagCounters { lookups, misses, pushed, popped, forwarded, tags_of_hosts } =
            self.machine.switch.counters();
        let wanted = [lookups, misses, pushed, popped, forwarded, tags_of_hosts];
        let found = self.program.plane.tag_counters().map_err(text)?;
        let found =
            [found.lookups, found.misses, found.pushed, found.popped, found.forwarded, found.tags_of_hosts];
        same("counters of tags", &wanted, &found)
    }
}
