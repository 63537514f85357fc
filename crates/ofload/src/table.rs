//! [`Table`]: a switch's flow table (OpenFlow 1.3, sections 5.3 to 6.4).
use std::rc::Rc;

use weft_control::{RuleSet, Shape};
use weft_wire::openflow::{Action, FlowCommand, FlowFlags, FlowMod, Match, PortNumber};

/// A second; times are in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// A rule and its counters.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its match.
    pub matching: Match,
    /// Among matching rules the highest priority wins.
    pub priority: u16,
    /// The controller's identifier.
    pub cookie: u64,
    /// The actions on its packets.
    pub actions: Rc<[Action]>,
    /// Its flags.
    pub flags: FlowFlags,
    /// Seconds without a packet after which it expires; 0 for never.
    pub idle_timeout: u16,
    /// Seconds after which it expires; 0 for never.
    pub hard_timeout: u16,
    /// When it was added.
    pub added: u64,
    /// When its last packet arrived.
    pub used: u64,
    /// Packets matched.
    pub packets: u64,
    /// Bytes matched.
    pub bytes: u64,
    /// Its sequence number among all rules ever added.
    serial: u64,
}

impl Rule {
    /// When it expires if no packet arrives; `None` for never.
    fn deadline(&self) -> Option<u64> {
        let after = |seconds: u16, start: u64| (seconds > 0).then(|| start + u64::from(seconds) * SECOND);
        let (idle, hard) = (after(self.idle_timeout, self.used), after(self.hard_timeout, self.added));
        idle.into_iter().chain(hard).min()
    }
}

/// Identifies a rule; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RuleId {
    place: u32,
    serial: u64,
}

/// The result of [`Table::expire`].
#[derive(Debug)]
pub enum Expiry {
    /// The rule stays; check again at this time.
    Later(u64),
    /// The rule had been removed before.
    Gone,
    /// The rule has expired now.
    Expired(Box<Rule>),
}

/// The fields, and their bits, that rules match on.
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
    /// Rules ever added.
    added: u64,
}

impl Table {
    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(_, rule)| rule)
    }

    /// Applies a flow-mod. Returns the new rule if it has a timeout, with the time at which to call
    /// [`Table::expire`]; removed rules are appended to `gone`.
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

    /// Finds the rule for a packet and updates its counters.
    pub fn lookup(&mut self, now: u64, packet: &Match, bytes: usize) -> Option<&Rule> {
        let place = self.rules.find(packet)?;
        let rule = self.rules.get_mut(place)?;
        rule.used = now;
        rule.packets += 1;
        rule.bytes += bytes as u64;
        Some(rule)
    }

    /// Removes a rule whose timeout has passed. The idle timeout restarts if `is_used` returns true for its match.
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

    /// The rules that a flow-mod selects.
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

    /// The rules whose match is equal to or more specific than `wider`.
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
