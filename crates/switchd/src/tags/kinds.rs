//! [`KindList`]: the kinds of rules, in lookup order.

use std::net::IpAddr;

use ipnet::IpNet;
use weft_switching::tag_forward::FlowMatch;

use super::layout::{KeyV4, KeyV6, KindV4, KindV6, Kinds, MAX_KINDS};

/// The properties shared by the rules of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct KindKey {
    pub priority: u16,
    pub is_v6: bool,
    /// Prefix lengths of source and destination.
    pub lengths: (u8, u8),
}

impl KindKey {
    pub fn of(priority: u16, matches: &FlowMatch) -> Self {
        let lengths = (matches.source().prefix_len(), matches.destination().prefix_len());
        Self { priority, is_v6: matches.source().addr().is_ipv6(), lengths }
    }
}

/// A kind with its number of rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    pub key: KindKey,
    /// Its id in the keys of rules.
    pub id: u16,
    pub rules: u32,
}

/// The kinds with rules.
#[derive(Clone, Debug, Default)]
pub(super) struct KindList {
    /// Kinds by descending priority.
    kinds: Vec<Kind>,
    /// The next id to assign: a recently used one may still be read by a program.
    next: u16,
}

/// The key of a rule in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    V4(KeyV4),
    V6(KeyV6),
}

/// A prefix's mask in network byte order.
fn mask_v4(len: u8) -> [u8; 4] {
    u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0).to_be_bytes()
}

fn mask_v6(len: u8) -> [u8; 16] {
    u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0).to_be_bytes()
}

/// The prefix length of a mask.
fn length(mask: &[u8]) -> u8 {
    mask.iter().map(|byte| byte.count_ones() as u8).sum()
}

impl KindList {
    pub fn find(&self, key: KindKey) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.key == key)
    }

    pub fn of_id(&self, id: u32) -> Option<KindKey> {
        self.kinds.iter().find(|kind| u32::from(kind.id) == id).map(|kind| kind.key)
    }

    /// Counts a new rule; returns whether its kind is new.
    pub fn add(&mut self, key: KindKey) -> bool {
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.key == key) {
            kind.rules += 1;
            return false;
        }
        while self.of_id(self.next.into()).is_some() {
            self.next = self.next.wrapping_add(1);
        }
        let at = self.kinds.partition_point(|kind| kind.key.priority >= key.priority);
        self.kinds.insert(at, Kind { key, id: self.next, rules: 1 });
        self.next = self.next.wrapping_add(1);
        true
    }

    /// Counts a removed rule; returns whether it was the last of its kind, which is then removed.
    pub fn remove(&mut self, key: KindKey) -> bool {
        let Some(at) = self.kinds.iter().position(|kind| kind.key == key) else { return false };
        self.kinds[at].rules = self.kinds[at].rules.saturating_sub(1);
        let is_last = self.kinds[at].rules == 0;
        if is_last {
            self.kinds.remove(at);
        }
        is_last
    }

    /// Sets all counts to 0; ids stay.
    pub fn clear(&mut self) {
        self.kinds.iter_mut().for_each(|kind| kind.rules = 0);
    }

    /// Removes kinds without rules; returns whether there were any.
    pub fn prune(&mut self) -> bool {
        let before = self.kinds.len();
        self.kinds.retain(|kind| kind.rules > 0);
        self.kinds.len() < before
    }

    /// The kinds in the format of the program.
    pub fn table(&self) -> Kinds {
        let mut table = Kinds {
            count_v4: 0,
            count_v6: 0,
            v4: [KindV4::default(); MAX_KINDS],
            v6: [KindV6::default(); MAX_KINDS],
        };
        for Kind { key: KindKey { priority, is_v6, lengths: (source, destination) }, id, .. } in &self.kinds {
            let (id, priority) = (*id, *priority);
            // A flow table never has more than `MAX_KINDS` kinds, of both families together.
            if *is_v6 {
                let (source, destination) = (mask_v6(*source), mask_v6(*destination));
                if let Some(place) = table.v6.get_mut(table.count_v6 as usize) {
                    *place = KindV6 { source, destination, id, priority };
                    table.count_v6 += 1;
                }
            } else {
                let (source, destination) = (mask_v4(*source), mask_v4(*destination));
                if let Some(place) = table.v4.get_mut(table.count_v4 as usize) {
                    *place = KindV4 { source, destination, id, priority };
                    table.count_v4 += 1;
                }
            }
        }
        table
    }

    /// The kinds of an earlier program, with counts of 0.
    pub fn read(table: &Kinds) -> Self {
        let of = |id, priority, is_v6, source: &[u8], destination: &[u8]| {
            let lengths = (length(source), length(destination));
            Kind { key: KindKey { priority, is_v6, lengths }, id, rules: 0 }
        };
        let v4 = table.v4.iter().take(table.count_v4 as usize);
        let v4 = v4.map(|kind| of(kind.id, kind.priority, false, &kind.source, &kind.destination));
        let v6 = table.v6.iter().take(table.count_v6 as usize);
        let v6 = v6.map(|kind| of(kind.id, kind.priority, true, &kind.source, &kind.destination));
        let mut kinds: Vec<Kind> = v4.chain(v6).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.key.priority));
        let next = kinds.iter().map(|kind| kind.id).max().map_or(0, |id| id.wrapping_add(1));
        Self { kinds, next }
    }

    /// The key of a rule of one of the kinds.
    pub fn key(&self, priority: u16, matches: &FlowMatch) -> Option<Key> {
        let kind = self.find(KindKey::of(priority, matches))?.id.into();
        match (matches.source(), matches.destination()) {
            (IpNet::V4(source), IpNet::V4(destination)) => Some(Key::V4(KeyV4 {
                source: source.network().octets(),
                destination: destination.network().octets(),
                kind,
            })),
            (IpNet::V6(source), IpNet::V6(destination)) => Some(Key::V6(KeyV6 {
                source: source.network().octets(),
                destination: destination.network().octets(),
                kind,
            })),
            // A match is of one family.
            _ => None,
        }
    }

    /// The priority and match of a rule, from its key.
    pub fn matches(&self, key: &Key) -> Option<(u16, FlowMatch)> {
        let (kind, source, destination) = match key {
            Key::V4(key) => (key.kind, IpAddr::from(key.source), IpAddr::from(key.destination)),
            Key::V6(key) => (key.kind, IpAddr::from(key.source), IpAddr::from(key.destination)),
        };
        let KindKey { priority, is_v6, lengths } = self.of_id(kind)?;
        let net = |address, len| IpNet::new(address, len).ok();
        let matches = FlowMatch::new(net(source, lengths.0)?, net(destination, lengths.1)?).ok()?;
        (source.is_ipv6() == is_v6).then_some((priority, matches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, destination: &str) -> FlowMatch {
        FlowMatch::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap()
    }

    #[test]
    fn kinds_are_in_order_of_their_priorities_and_come_back() {
        let mut kinds = KindList::default();
        let rules = [
            (1, matches("0.0.0.0/0", "10.0.0.0/8")),
            (9, matches("10.0.0.1/32", "10.0.0.2/32")),
            (5, matches("::/0", "fd00::/16")),
            (5, matches("10.0.0.0/9", "0.0.0.0/0")),
            (9, matches("fd00::1/128", "fd00::2/127")),
        ];
        for (priority, matches) in &rules {
            assert!(kinds.add(KindKey::of(*priority, matches)));
            assert!(!kinds.add(KindKey::of(*priority, matches)));
        }
        let table = kinds.table();
        let v4: Vec<u16> = table.v4[..table.count_v4 as usize].iter().map(|kind| kind.priority).collect();
        let v6: Vec<u16> = table.v6[..table.count_v6 as usize].iter().map(|kind| kind.priority).collect();
        assert_eq!((v4, v6), (vec![9, 5, 1], vec![9, 5]));
        assert_eq!(table.v4[1].source, [0xff, 0x80, 0, 0]);
        let again = KindList::read(&table);
        for (priority, matches) in &rules {
            let key = kinds.key(*priority, matches).unwrap();
            assert_eq!(again.key(*priority, matches), Some(key));
            assert_eq!(again.matches(&key), Some((*priority, *matches)));
        }
    }

    #[test]
    fn a_kind_goes_with_its_last_rule_and_its_number_is_not_the_next_ones() {
        let mut kinds = KindList::default();
        let (one, other) = (matches("0.0.0.0/0", "10.0.0.0/8"), matches("0.0.0.0/0", "10.0.0.0/9"));
        let (one, other) = (KindKey::of(1, &one), KindKey::of(1, &other));
        kinds.add(one);
        kinds.add(one);
        assert!(!kinds.remove(one));
        assert!(kinds.remove(one));
        kinds.add(other);
        assert_eq!((kinds.find(one), kinds.find(other).map(|kind| kind.id)), (None, Some(1)));
    }
}
