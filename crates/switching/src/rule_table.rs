//! [`RuleTable`]: the flow table of an OpenFlow switch, filled by a [`weft_control::Controller`].
//!
//! The result of a lookup in the [`RuleSet`] is cached until the table changes, so that a flow's frames cost one
//! lookup.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use weft_control::{Match, Rule, RuleChange, RuleSet, Shape};
use weft_units::{Duration, Time};
use weft_wire::Mac;

/// Maximum number of cached lookups.
const REMEMBERED: usize = 1 << 16;

/// A rule and its counters.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The rule.
    pub rule: Rule,
    /// Frames that matched it.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Time of the last match, or of insertion.
    used: Time,
}

impl Entry {
    fn expiry(&self) -> Time {
        match self.rule.idle_timeout_s {
            0 => Time::MAX,
            seconds => self.used + Duration::from_secs(u64::from(seconds)),
        }
    }
}

macro_rules! fields {
    ($($field:ident)*) => {
        /// The fields that a group of rules matches, and the mask of the destination.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        struct Fields {
            eth_dst: Option<Mac>,
            $($field: bool,)*
        }

        impl Fields {
            fn of(matches: &Match) -> Self {
                Self { eth_dst: matches.eth_dst.map(|(_, mask)| mask), $($field: matches.$field.is_some(),)* }
            }
        }

        impl Shape for Fields {
            type Packet = Match;
            type Key = Match;

            /// The match that a rule of this shape needs for a frame with these fields.
            #[inline]
            fn key(&self, frame: &Match) -> Option<Match> {
                let address = frame.eth_dst.map_or_else(Mac::default, |(address, _)| address);
                let eth_dst = self.eth_dst.map(|mask| (and(address, mask), mask));
                Some(Match { eth_dst, $($field: frame.$field.filter(|_| self.$field),)* })
            }
        }
    };
}
fields! { in_port eth_src eth_type ip_proto ip_src ip_dst tcp_src tcp_dst icmpv6_type says about }

fn and(Mac(address): Mac, Mac(mask): Mac) -> Mac {
    Mac(std::array::from_fn(|at| address[at] & mask[at]))
}

/// The match with don't-care bits cleared.
fn canonical(matches: &Match) -> Match {
    Match { eth_dst: matches.eth_dst.map(|(value, mask)| (and(value, mask), mask)), ..*matches }
}

/// The rules of a switch.
#[derive(Default)]
pub struct RuleTable {
    set: RuleSet<Fields, Entry>,
    /// The slots of rules by cookie.
    by_cookie: HashMap<u64, u32, FxBuildHasher>,
    /// Cached lookups: the slot of the matching rule, `None` if there is none.
    found: HashMap<Match, Option<u32>, FxBuildHasher>,
    /// Lower bound of the next idle timeout.
    first_expiry: Option<Time>,
}

impl RuleTable {
    /// The number of rules.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// The rules, in no particular order.
    pub fn rules(&self) -> impl Iterator<Item = &Entry> {
        self.set.iter().map(|(_, entry)| entry)
    }

    /// Applies a change at `now`.
    pub fn apply(&mut self, now: Time, change: &RuleChange) {
        self.found.clear();
        match change {
            RuleChange::Add(rule) => self.add(now, rule.clone()),
            RuleChange::Modify(rule) => {
                let (shape, key) = (Fields::of(&rule.matches), canonical(&rule.matches));
                let slot = self.set.slot(rule.priority, shape, &key);
                let entry = slot.and_then(|slot| self.set.get_mut(slot));
                if let Some(entry) = entry.filter(|entry| entry.rule.cookie == rule.cookie) {
                    entry.rule.actions = rule.actions.clone();
                }
            }
            RuleChange::Remove { cookie, .. } => {
                let slot = self.by_cookie.get(cookie).copied();
                slot.and_then(|slot| self.take_out(slot));
            }
            // For Tag-and-Forward switches only.
            RuleChange::Flow(_) => {}
        }
    }

    fn add(&mut self, now: Time, rule: Rule) {
        let (priority, shape, key) = (rule.priority, Fields::of(&rule.matches), canonical(&rule.matches));
        let cookie = rule.cookie;
        let entry = Entry { rule, packets: 0, bytes: 0, used: now };
        let expiry = entry.expiry();
        if expiry < Time::MAX {
            self.first_expiry = Some(self.first_expiry.map_or(expiry, |first| first.min(expiry)));
        }
        let (slot, before) = self.set.insert(priority, shape, key, entry);
        self.by_cookie.insert(cookie, slot);
        if let Some(before) = before.filter(|before| before.rule.cookie != cookie) {
            self.by_cookie.remove(&before.rule.cookie);
        }
    }

    /// Removes the rule in a slot.
    fn take_out(&mut self, slot: u32) -> Option<Entry> {
        let Rule { priority, matches, cookie, .. } = &self.set.get(slot)?.rule;
        self.by_cookie.remove(cookie);
        self.set.remove(*priority, Fields::of(matches), &canonical(matches))
    }

    /// The rule that matches a frame of `bytes` with these fields (all that it has, the address with a mask of
    /// ones), or `None`; counts the frame.
    pub fn find(&mut self, now: Time, frame: &Match, bytes: u16) -> Option<&Rule> {
        let slot = match self.found.get(frame) {
            Some(slot) => *slot,
            None => self.search(frame),
        };
        let entry = self.set.get_mut(slot?)?;
        entry.packets += 1;
        entry.bytes += u64::from(bytes);
        entry.used = now;
        Some(&entry.rule)
    }

    fn search(&mut self, frame: &Match) -> Option<u32> {
        let slot = self.set.find(frame);
        if self.found.len() >= REMEMBERED {
            self.found.clear();
        }
        self.found.insert(*frame, slot);
        slot
    }

    /// Lower bound of the next idle timeout.
    pub fn next_expiry(&self) -> Time {
        self.first_expiry.unwrap_or(Time::MAX)
    }

    /// Removes the rules that idled out by `now`, in order of their cookies.
    pub fn expire(&mut self, now: Time) -> Vec<Entry> {
        if self.next_expiry() > now {
            return Vec::new();
        }
        self.found.clear();
        let over = self.set.iter().filter(|(_, entry)| entry.expiry() <= now).map(|(slot, _)| slot);
        let over: Vec<u32> = over.collect();
        let mut gone: Vec<Entry> = over.into_iter().filter_map(|slot| self.take_out(slot)).collect();
        gone.sort_by_key(|entry| entry.rule.cookie);
        self.first_expiry = self.rules().map(Entry::expiry).filter(|at| *at < Time::MAX).min();
        gone
    }
}

#[cfg(test)]
mod tests {
    use weft_control::{EXACT, PortNo, RuleAction};

    use super::*;

    const LABEL: Mac = Mac([0x06, 0x57, 1, 2, 3, 4]);
    const PATHS: Mac = Mac([0xff, 0xff, 0xff, 0xff, 0xf8, 0]);

    fn rule(cookie: u64, priority: u16, matches: Match, port: u32) -> Rule {
        let actions = [RuleAction::Output(PortNo(port))].into_iter().collect();
        Rule { cookie, priority, matches, actions, idle_timeout_s: 0, notify_removed: false }
    }

    fn frame(port: u32, to: Mac) -> Match {
        Match { in_port: Some(PortNo(port)), eth_dst: Some((to, EXACT)), ..Match::ALL }
    }

    fn found(table: &mut RuleTable, frame: Match) -> Option<u64> {
        table.find(Time::ZERO, &frame, 100).map(|rule| rule.cookie)
    }

    #[test]
    fn the_highest_priority_counts_and_masked_bits_do_not() {
        let mut table = RuleTable::default();
        let masked = Match { eth_dst: Some((LABEL, PATHS)), ..Match::ALL };
        let guard = Match { in_port: Some(PortNo(1)), ..masked };
        for rule in [rule(1, 0, Match::ALL, 9), rule(2, 20, masked, 2), rule(3, 30, guard, 3)] {
            table.apply(Time::ZERO, &RuleChange::Add(rule));
        }
        let same_path = Mac([0x06, 0x57, 1, 2, 0, 9]);
        assert_eq!(found(&mut table, frame(1, same_path)), Some(3));
        assert_eq!(found(&mut table, frame(2, same_path)), Some(2));
        assert_eq!(found(&mut table, frame(2, Mac([0x06, 0x57, 1, 2, 8, 0]))), Some(1));
    }

    #[test]
    fn a_rule_is_replaced_by_one_of_the_same_match_and_changed_only_as_the_one_it_is() {
        let mut table = RuleTable::default();
        let to = Match::to(LABEL);
        table.apply(Time::ZERO, &RuleChange::Add(rule(1, 5, to, 1)));
        table.apply(Time::ZERO, &RuleChange::Add(rule(2, 5, to, 2)));
        assert_eq!((table.len(), found(&mut table, frame(1, LABEL))), (1, Some(2)));
        table.apply(Time::ZERO, &RuleChange::Modify(rule(1, 5, to, 7)));
        assert_eq!(table.rules().next().map(|entry| entry.rule.clone()), Some(rule(2, 5, to, 2)));
        table.apply(Time::ZERO, &RuleChange::Modify(rule(2, 5, to, 7)));
        assert_eq!(table.rules().next().map(|entry| entry.rule.clone()), Some(rule(2, 5, to, 7)));
        table.apply(Time::ZERO, &RuleChange::Remove { cookie: 1, matches: Match::ALL });
        assert_eq!(table.len(), 1, "cookie 1 belonged to the replaced rule");
        table.apply(Time::ZERO, &RuleChange::Remove { cookie: 2, matches: Match::ALL });
        assert_eq!((table.len(), found(&mut table, frame(1, LABEL))), (0, None));
    }

    #[test]
    fn a_rule_idles_out_so_long_after_its_last_frame_and_its_counts_are_reported() {
        let mut table = RuleTable::default();
        let idle = Rule { idle_timeout_s: 10, ..rule(1, 5, Match::to(LABEL), 1) };
        table.apply(Time::ZERO, &RuleChange::Add(idle));
        table.apply(Time::ZERO, &RuleChange::Add(rule(2, 0, Match::ALL, 2)));
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        assert_eq!(table.next_expiry(), at(10));
        table.find(at(6), &frame(1, LABEL), 1500);
        assert_eq!(table.expire(at(10)).len(), 0);
        assert_eq!(table.next_expiry(), at(16));
        let gone = table.expire(at(16));
        assert_eq!(gone.len(), 1);
        assert_eq!((gone[0].rule.cookie, gone[0].packets, gone[0].bytes), (1, 1, 1500));
        assert_eq!((found(&mut table, frame(1, LABEL)), table.next_expiry()), (Some(2), Time::MAX));
    }
}
