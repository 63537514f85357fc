//! Counts events, to verify that every kind was compared.

use std::collections::BTreeMap;
use std::fmt;

use weft_switchd::Reason;
use weft_switchd::event::EventKind;

/// The actions of a switch other than drops, as named in `counted`.
const DEEDS: [&str; 25] = [
    "announced",
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
    "search for a flow that leaves",
    "fail of a flow that leaves",
    "fails of a flow that passes",
    "marked",
    "unwrapped and marked",
    "delivered as sent",
    "moved",
    "repaired before it was broken",
];

/// Event counts.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    /// Counts an event.
    pub fn count(&mut self, what: &'static str) {
        self.count_many(what, 1);
    }

    /// Counts `times` events.
    pub fn count_many(&mut self, what: &'static str, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    /// How often an event occurred.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(what, times)| self.count_many(what, *times));
    }

    /// Possible events that did not occur.
    pub fn unseen(&self, possible: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
        possible.into_iter().filter(|what| self.of(what) == 0).collect()
    }
}

/// Everything that can happen.
pub fn possible() -> impl Iterator<Item = &'static str> {
    // Not possible here: queues, memory, GSO and MTUs belong to the kernel, hosts and gray failures to the simulator, rules
    // to a central controller, tags to other modes.
    const NEVER: [&str; 11] = [
        "queue_full",
        "not_for_me",
        "link_loss",
        "blackhole",
        "no_memory",
        "rule",
        "not_released",
        "missing",
        "repeated",
        "gso",
        "too_long",
    ];
    let names = Reason::all().map(Reason::name).chain(DEEDS).chain(EventKind::ALL.map(EventKind::name));
    names.filter(|name| !NEVER.contains(name))
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        f.write_str(&each.join(", "))
    }
}
