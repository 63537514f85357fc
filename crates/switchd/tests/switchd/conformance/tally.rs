//! Counts events, to verify that every kind was compared.

use std::collections::BTreeMap;
use std::fmt;

use weft_switchd::Reason;
use weft_switchd::layout::What;

use crate::conformance::pair::Pair;

/// The actions of a switch other than drops, as named in `counted`.
const DEEDS: [&str; 21] = [
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
    "announcement",
    "marked",
    "unwrapped and marked",
    "delivered as sent",
    "moved",
    "repaired before it was broken",
];

/// Event counts over many sequences.
#[derive(Default)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    pub fn add(&mut self, pair: &Pair) {
        for (name, count) in &pair.counted {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// Possible events that did not occur.
    pub fn unseen(&self) -> Vec<&'static str> {
        // Not possible here: queues, memory and GSO belong to the kernel, hosts to the simulator, rules to a central
        // controller, tags to other modes.
        let never =
            ["queue_full", "not_for_me", "no_memory", "rule", "not_released", "missing", "repeated", "gso"];
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
