//! [`Table`]: the rules of a switch, found by the fields of a packet (OpenFlow 1.3, sections 5.3 to 6.4).
//!
//! Rules that look at the same bits are in one hash table, as in Open vSwitch's classifier: a packet costs a look
//! into each of these, and there are about ten, however many rules there are.

use std::rc::Rc;

use hashbrown::HashMap;
use weft_wire::openflow::{Action, FlowCommand, FlowFlags, FlowMod, Match, PortNumber};

/// A second, in the nanoseconds that times are in.
const SECOND: u64 = 1_000_000_000;

/// A rule, and what it has counted.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its packets.
    pub matching: Match,
    /// The highest of those that match counts.
    pub priority: u16,
    /// What the controller knows it by.
    pub cookie: u64,
    /// What is done with its packets.
    pub actions: Rc<[Action]>,
    /// How it is kept.
    pub flags: FlowFlags,
    /// Seconds without a packet after which it goes; 0 for never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; 0 for never.
    pub hard_timeout: u16,
    /// When it was added.
    pub added: u64,
    /// When its last packet came.
    pub used: u64,
    /// Its packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Rule {
    /// When it goes if no packet comes; `None` for never.
    fn deadline(&self) -> Option<u64> {
        let after = |seconds: u16, start: u64| (seconds > 0).then(|| start + u64::from(seconds) * SECOND);
        let (idle, hard) = (after(self.idle_timeout, self.used), after(self.hard_timeout, self.added));
        idle.into_iter().chain(hard).min()
    }
}

/// What names a rule as long as it is there, and no other one after that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RuleId {
    place: u32,
    generation: u32,
}

/// What became of a rule whose deadline may have come.
#[derive(Debug)]
pub enum Expiry {
    /// It is there, and is to be asked for again at this time.
    Later(u64),
    /// It had gone before.
    Gone,
    /// It has gone now.
    Expired(Box<Rule>),
}

#[derive(Default)]
struct Slot {
    generation: u32,
    rule: Option<Rule>,
}

/// The rules that look at the same bits.
struct Shape {
    shape: Match,
    /// At least that of each of them.
    priority: u16,
    /// By match, the place of the one with the highest priority first.
    rules: HashMap<Match, Vec<u32>>,
}

/// The rules of a switch.
#[derive(Default)]
pub struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// That with the highest priority first.
    shapes: Vec<Shape>,
}

impl Table {
    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.slots.iter().filter_map(|slot| slot.rule.as_ref())
    }

    /// Does what a flow-mod says. Gives the new rule if it has a timeout, with the time at which to ask
    /// [`Table::expire`]; rules that go are added to `gone`.
    pub fn change(&mut self, now: u64, change: &FlowMod, gone: &mut Vec<Rule>) -> Option<(RuleId, u64)> {
        match change.command {
            FlowCommand::Add => self.add(now, change),
            FlowCommand::Modify | FlowCommand::ModifyStrict => {
                for place in self.chosen(change) {
                    if let Some(rule) = &mut self.slots[place as usize].rule {
                        rule.actions = change.actions.iter().collect();
                    }
                }
                None
            }
            FlowCommand::Delete | FlowCommand::DeleteStrict => {
                gone.extend(self.chosen(change).into_iter().filter_map(|place| self.remove(place)));
                None
            }
        }
    }

    /// The rule whose packets these are, with one more counted.
    pub fn lookup(&mut self, now: u64, packet: &Match, bytes: usize) -> Option<&Rule> {
        let mut best: Option<(u16, u32)> = None;
        for shape in &self.shapes {
            if best.is_some_and(|(priority, _)| priority >= shape.priority) {
                break;
            }
            let found = packet.cut(&shape.shape).and_then(|key| shape.rules.get(&key)?.first());
            if let Some(&place) = found {
                let priority = self.slots[place as usize].rule.as_ref()?.priority;
                if best.is_none_or(|(highest, _)| priority > highest) {
                    best = Some((priority, place));
                }
            }
        }
        let rule = self.slots[best?.1 as usize].rule.as_mut()?;
        rule.used = now;
        rule.packets += 1;
        rule.bytes += bytes as u64;
        Some(rule)
    }

    /// Takes out a rule whose time has come. One of which `is_used` says that it has packets all the time goes on.
    pub fn expire(&mut self, now: u64, id: RuleId, is_used: impl FnOnce(&Match) -> bool) -> Expiry {
        let Some(slot) = self.slots.get_mut(id.place as usize) else { return Expiry::Gone };
        let Some(rule) = slot.rule.as_mut().filter(|_| slot.generation == id.generation) else {
            return Expiry::Gone;
        };
        match rule.deadline() {
            None => Expiry::Gone,
            Some(at) if at > now => Expiry::Later(at),
            Some(_) => {
                if rule.idle_timeout > 0 && is_used(&rule.matching) {
                    rule.used = now;
                    if let Some(at) = rule.deadline().filter(|at| *at > now) {
                        return Expiry::Later(at);
                    }
                }
                self.remove(id.place).map_or(Expiry::Gone, |rule| Expiry::Expired(Box::new(rule)))
            }
        }
    }

    fn add(&mut self, now: u64, change: &FlowMod) -> Option<(RuleId, u64)> {
        let rule = Rule {
            matching: change.matching,
            priority: change.priority,
            cookie: change.cookie,
            actions: change.actions.iter().collect(),
            flags: change.flags,
            idle_timeout: change.idle_timeout,
            hard_timeout: change.hard_timeout,
            added: now,
            used: now,
            packets: 0,
            bytes: 0,
        };
        if let Some(place) = self.strictly(&change.matching, change.priority) {
            self.remove(place);
        }
        let deadline = rule.deadline();
        let place = self.insert(rule);
        let generation = self.slots[place as usize].generation;
        deadline.map(|at| (RuleId { place, generation }, at))
    }

    fn insert(&mut self, rule: Rule) -> u32 {
        let (matching, priority) = (rule.matching, rule.priority);
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.slots[place as usize].rule = Some(rule);
        let form = matching.shape();
        let at = self.shapes.iter().position(|shape| shape.shape == form).unwrap_or_else(|| {
            self.shapes.push(Shape { shape: form, priority, rules: HashMap::new() });
            self.shapes.len() - 1
        });
        let shape = &mut self.shapes[at];
        shape.priority = shape.priority.max(priority);
        let (places, slots) = (shape.rules.entry(matching).or_default(), &self.slots);
        let before =
            |other: &u32| slots[*other as usize].rule.as_ref().is_some_and(|rule| rule.priority > priority);
        places.insert(places.partition_point(before), place);
        self.shapes.sort_by_key(|shape| std::cmp::Reverse(shape.priority));
        place
    }

    fn remove(&mut self, place: u32) -> Option<Rule> {
        let slot = &mut self.slots[place as usize];
        let rule = slot.rule.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(place);
        let form = rule.matching.shape();
        if let Some(at) = self.shapes.iter().position(|shape| shape.shape == form) {
            let rules = &mut self.shapes[at].rules;
            if let Some(places) = rules.get_mut(&rule.matching) {
                places.retain(|other| *other != place);
                if places.is_empty() {
                    rules.remove(&rule.matching);
                }
            }
            if rules.is_empty() {
                self.shapes.remove(at);
            }
        }
        Some(rule)
    }

    /// The rule with this match and priority.
    fn strictly(&self, matching: &Match, priority: u16) -> Option<u32> {
        let form = matching.shape();
        let places = self.shapes.iter().find(|shape| shape.shape == form)?.rules.get(matching)?;
        let has = |place: &&u32| {
            self.slots[**place as usize].rule.as_ref().is_some_and(|rule| rule.priority == priority)
        };
        places.iter().find(has).copied()
    }

    /// The rules that a change is about.
    fn chosen(&self, change: &FlowMod) -> Vec<u32> {
        let mut places = match change.command {
            FlowCommand::ModifyStrict | FlowCommand::DeleteStrict => {
                self.strictly(&change.matching, change.priority).into_iter().collect()
            }
            _ => self.within(&change.matching),
        };
        let deletes = matches!(change.command, FlowCommand::Delete | FlowCommand::DeleteStrict);
        places.retain(|place| {
            self.slots[*place as usize].rule.as_ref().is_some_and(|rule| {
                let goes_there = |action: &Action| {
                    matches!(action, Action::Output { port, .. } if *port == change.out_port)
                };
                let there = !deletes || change.out_port == PortNumber::ANY || rule.actions.iter().any(goes_there);
                there && (rule.cookie ^ change.cookie) & change.cookie_mask == 0
            })
        });
        places
    }

    /// The rules all of whose packets `wider` has too.
    fn within(&self, wider: &Match) -> Vec<u32> {
        let mut places = Vec::new();
        for shape in &self.shapes {
            if shape.shape == wider.shape() {
                places.extend(shape.rules.get(wider).into_iter().flatten());
            } else if shape.shape.cut(wider).is_some() {
                let inside = shape.rules.iter().filter(|(matching, _)| matching.cut(wider) == Some(*wider));
                places.extend(inside.flat_map(|(_, places)| places));
            }
        }
        places
    }
}
