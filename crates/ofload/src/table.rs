//! [`Table`]: the rules of a switch, found by the fields of a packet (OpenFlow 1.3, sections 5.3 to 6.4).
use std::rc::Rc;

use weft_control::{RuleSet, Shape};
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
    /// Its place among all rules that the table has had.
    serial: u64,
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
    serial: u64,
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

/// Which fields, and which of their bits, rules look at.
#[derive(Clone, Copy, PartialEq)]
struct Form(Match);

impl Shape for Form {
    type Packet = Match;
    type Key = Match;

    fn key(&self, packet: &Match) -> Option<Match> {
        packet.cut(&self.0)
    }
}

/// The rules of a switch.
#[derive(Default)]
pub struct Table {
    rules: RuleSet<Form, Rule>,
    /// Rules that there have been.
    added: u64,
}

impl Table {
    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(_, rule)| rule)
    }

    /// Does what a flow-mod says. Gives the new rule if it has a timeout, with the time at which to ask
    /// [`Table::expire`]; rules that go are added to `gone`.
    pub fn change(&mut self, now: u64, change: &FlowMod, gone: &mut Vec<Rule>) -> Option<(RuleId, u64)> {
        match change.command {
            FlowCommand::Add => self.add(now, change),
            FlowCommand::Modify | FlowCommand::ModifyStrict => {
                for place in self.chosen(change) {
                    if let Some(rule) = self.rules.get_mut(place) {
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
        let place = self.rules.find(packet)?;
        let rule = self.rules.get_mut(place)?;
        rule.used = now;
        rule.packets += 1;
        rule.bytes += bytes as u64;
        Some(rule)
    }

    /// Takes out a rule whose time has come. One of which `is_used` says that it has packets all the time goes on.
    pub fn expire(&mut self, now: u64, id: RuleId, is_used: impl FnOnce(&Match) -> bool) -> Expiry {
        let rule = self.rules.get_mut(id.place).filter(|rule| rule.serial == id.serial);
        let Some(rule) = rule else { return Expiry::Gone };
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
            serial: self.added,
        };
        self.added += 1;
        let (deadline, serial, form) = (rule.deadline(), rule.serial, Form(rule.matching.shape()));
        let (place, _) = self.rules.insert(rule.priority, form, rule.matching, rule);
        deadline.map(|at| (RuleId { place, serial }, at))
    }

    fn remove(&mut self, place: u32) -> Option<Rule> {
        let Rule { priority, matching, .. } = *self.rules.get(place)?;
        self.rules.remove(priority, Form(matching.shape()), &matching)
    }

    /// The rules that a change is about.
    fn chosen(&self, change: &FlowMod) -> Vec<u32> {
        let mut places = match change.command {
            FlowCommand::ModifyStrict | FlowCommand::DeleteStrict => {
                let form = Form(change.matching.shape());
                self.rules.slot(change.priority, form, &change.matching).into_iter().collect()
            }
            _ => self.within(&change.matching),
        };
        let deletes = matches!(change.command, FlowCommand::Delete | FlowCommand::DeleteStrict);
        places.retain(|place| {
            self.rules.get(*place).is_some_and(|rule| {
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
        for group in self.rules.groups() {
            let Form(form) = group.shape;
            if form == wider.shape() {
                places.extend(group.slots.get(wider));
            } else if form.cut(wider).is_some() {
                let inside = group.slots.iter().filter(|(matching, _)| matching.cut(wider) == Some(*wider));
                places.extend(inside.map(|(_, place)| place));
            }
        }
        places
    }
}
