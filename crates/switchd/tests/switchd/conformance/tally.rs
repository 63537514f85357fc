//! How often what happened, so that nothing is compared that never does.

use std::collections::BTreeMap;
use std::fmt;

use weft_switchd::Reason;
use weft_switchd::layout::What;

use crate::conformance::pair::Pair;

/// What a switch does beside dropping frames, as `counted` names it.
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
        // Queues, memory and segments held together are the kernel's, hosts the simulator's, rules a central
        // controller's, tags those of other modes.
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
