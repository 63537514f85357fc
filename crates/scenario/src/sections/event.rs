//! `[[event]]`: failures, recoveries and changes of links and nodes during a run.

use weft_fabric::{FabricError, MIN_RATE};
use weft_units::{Duration, Rate, Time};

use super::Resolver;
use super::link_set::{LINKS, LinkSet};
use crate::change::{Cables, Change, Event, LinkChange, NewRate};
use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind, key};
use crate::nearest::list;
use crate::section::{At, Section};
use crate::source::Span;
use crate::tree::{Value, shown};

/// The most cycles of a flap.
const MAX_CYCLES: u64 = 10_000;

/// The keys of an `[[event]]`.
pub(crate) const KEYS: &[Key] = &[
    key("at", Kind::Duration, "", "time since the start of the run; 0 s: before the first packet"),
    key("fail", LINKS, "", "links that fail, such as \"e0-a1\", with their parallel links"),
    key("heal", LINKS, "", "links that recover"),
    key("fail_node", Kind::Text, "", "node that fails, with all its links"),
    key("heal_node", Kind::Text, "", "node that recovers"),
    key("change", LINKS, "", "links that get another rate, loss or blackhole, in both directions"),
    key("flap", LINKS, "", "links that go down and come up repeatedly"),
    key(
        "rate",
        Kind::Either(&[Kind::Number, Kind::Rate]),
        "",
        "of `change`: fraction of the rate as built, or a rate",
    ),
    key("loss", Kind::Number, "", "of `change`: share of packets that the links lose at random; 0 ends it"),
    key(
        "blackhole",
        Kind::Number,
        "",
        "of `change`: share of flows of which the links lose all packets; 0 ends it",
    ),
    key("down", Kind::Duration, "", "of `flap`: time down in each cycle"),
    key("up", Kind::Duration, "", "of `flap`: time up in each cycle"),
    key("times", Kind::Count(1), "", "of `flap`: number of cycles"),
];

/// The keys that name the action of an event, and those that belong to one action.
const ACTIONS: [&str; 6] = ["fail", "heal", "fail_node", "heal_node", "change", "flap"];
const OF_CHANGE: [&str; 3] = ["rate", "loss", "blackhole"];
const OF_FLAP: [&str; 3] = ["down", "up", "times"];

/// An `[[event]]` as written.
#[derive(Clone, Debug)]
pub(crate) struct EventSettings {
    at: At<Duration>,
    action: Action,
}

/// Its action.
#[derive(Clone, Debug)]
enum Action {
    Links { links: LinkSet, up: bool },
    Node { name: At<String>, up: bool },
    Change { links: LinkSet, change: LinkChange, rate_at: Option<Span> },
    Flap { links: LinkSet, down: At<Duration>, up: At<Duration>, times: u64 },
}

impl EventSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        section.only(&[KEYS]);
        let at = section.need::<Duration>("at");
        let given: Vec<&'static str> =
            ACTIONS.into_iter().filter(|action| section.node(action).is_some()).collect();
        let &[action] = given.as_slice() else {
            let label = format!("expected one of {}", list(ACTIONS));
            let message = match given.len() {
                0 => "the event has no action".to_owned(),
                _ => format!("the event has {} actions: {}", given.len(), list(given)),
            };
            section.problem(section.span, message, label);
            return None;
        };
        for (owner, keys) in [("change", OF_CHANGE), ("flap", OF_FLAP)] {
            let misplaced =
                keys.iter().filter_map(|key| section.table.entry(key)).filter(|_| owner != action);
            for entry in misplaced {
                let message = format!("an event with `{action}` has no `{}`", entry.key);
                section.problem(entry.span, message, format!("belongs to `{owner}`"));
            }
        }
        let action = match action {
            "change" => decode_change(section),
            "flap" => decode_flap(section),
            "fail_node" | "heal_node" => {
                section.get(action).map(|name| Action::Node { name, up: action == "heal_node" })
            }
            _ => {
                let links = LinkSet::decode(section, action);
                links.map(|links| Action::Links { links, up: action == "heal" })
            }
        };
        Some(Self { at: at?, action: action? })
    }

    /// The events, with names resolved: one, or two for each cycle of a flap.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Vec<Event>> {
        let at = Time::ZERO + self.at.value;
        let one = |change| vec![Event { at, change }];
        match &self.action {
            Action::Links { links, up } => Some(one(switched(links.resolve(resolver)?, *up))),
            Action::Node { name, up } => {
                let add = |error: FabricError| {
                    let label = "expected a switch or a host; `weft fabric` shows the fabric";
                    resolver.problems.add(Problem::at(name.span, error.to_string()).label(label));
                };
                let node = resolver.fabric.find(&name.value).map_err(add).ok()?;
                Some(one(if *up { Change::HealNode(node) } else { Change::FailNode(node) }))
            }
            Action::Change { links, change, rate_at } => {
                let cables = links.resolve(resolver)?;
                check_rate(&cables, change, *rate_at, resolver)?;
                Some(one(Change::ChangeCables(cables, *change)))
            }
            Action::Flap { links, down, up, times } => {
                let cables = links.resolve(resolver)?;
                check_flap(&cables, [*down, *up], resolver)?;
                let (mut at, mut events) = (at, Vec::new());
                for _ in 0..*times {
                    events.push(Event { at, change: switched(cables.clone(), false) });
                    events.push(Event { at: at + down.value, change: switched(cables.clone(), true) });
                    at = at + down.value + up.value;
                }
                Some(events)
            }
        }
    }
}

fn switched(cables: Cables, up: bool) -> Change {
    if up { Change::HealCables(cables) } else { Change::FailCables(cables) }
}

fn decode_change(section: &Section<'_>) -> Option<Action> {
    let links = LinkSet::decode(section, "change");
    if OF_CHANGE.iter().all(|key| section.node(key).is_none()) {
        let label = format!("expected at least one of {}", list(OF_CHANGE));
        section.problem(section.span, "the event changes nothing of its links", label);
        return None;
    }
    let rate = match section.node("rate").map(|node| &node.value) {
        None => Some(None),
        Some(Value::Text(_)) => section.get::<Rate>("rate").map(|rate| Some(NewRate::To(rate.value))),
        Some(_) => fraction(section).map(Some),
    };
    let [loss, blackhole] = ["loss", "blackhole"].map(|key| share(section, key));
    let change = LinkChange { rate: rate?, loss: loss?, blackhole: blackhole? };
    Some(Action::Change { links: links?, change, rate_at: section.node("rate").map(|node| node.span) })
}

/// The rate as a fraction of the rate as built.
fn fraction(section: &Section<'_>) -> Option<NewRate> {
    let fraction = section.get::<f64>("rate")?;
    if fraction.value <= 0.0 || fraction.value > 1.0 {
        let label =
            "expected a fraction of the rate as built, above 0 and up to 1, or a rate such as \"2 Gbps\"";
        section.problem(
            fraction.span,
            format!("{} is not a possible rate of a link", shown(fraction.value)),
            label,
        );
        return None;
    }
    Some(NewRate::Fraction(fraction.value))
}

/// A share from 0 to 1; the outer `None` on errors.
fn share(section: &Section<'_>, key: &str) -> Option<Option<f64>> {
    if section.node(key).is_none() {
        return Some(None);
    }
    let share = section.get::<f64>(key)?;
    if !(0.0..=1.0).contains(&share.value) {
        let message = format!("`{}` cannot be {}", section.path_of(key), shown(share.value));
        section.problem(share.span, message, "expected a share from 0 to 1, such as 0.01");
        return None;
    }
    Some(Some(share.value))
}

fn decode_flap(section: &Section<'_>) -> Option<Action> {
    let links = LinkSet::decode(section, "flap");
    let (down, up) = (section.need("down"), section.need("up"));
    let times = section.need::<u64>("times")?;
    if times.value == 0 || times.value > MAX_CYCLES {
        let message = format!("a flap cannot have {} cycles", times.value);
        section.problem(times.span, message, format!("expected 1 to {MAX_CYCLES}"));
        return None;
    }
    Some(Action::Flap { links: links?, down: down?, up: up?, times: times.value })
}

/// Rejects rates that are higher than a link's rate as built, or lower than any link's.
fn check_rate(cables: &Cables, change: &LinkChange, at: Option<Span>, resolver: &Resolver<'_>) -> Option<()> {
    let (Some(rate), Some(at)) = (change.rate, at) else { return Some(()) };
    for link in cables.links.iter().flat_map(|link| [*link, link.reverse()]) {
        let built = resolver.fabric.link(link).rate;
        let new = rate.of(built);
        if new > built || new < MIN_RATE {
            let label = resolver.fabric.link_label(link);
            let message = format!("the rate of `{label}` cannot become {new}: it was built with {built}");
            let problem = Problem::at(at, message);
            resolver.problems.add(problem.label(format!("expected a rate from {MIN_RATE} to {built}")));
            return None;
        }
    }
    Some(())
}

/// Rejects flaps that are shorter than the delay of one of the links.
fn check_flap(cables: &Cables, times: [At<Duration>; 2], resolver: &Resolver<'_>) -> Option<()> {
    let delay = |link| resolver.fabric.link(link).delay;
    let both = cables.links.iter().flat_map(|link| [*link, link.reverse()]);
    let longest = both.max_by_key(|link| delay(*link))?;
    let least = delay(longest).max(Duration::PICOSECOND);
    let Some(short) = times.into_iter().find(|time| time.value < least) else { return Some(()) };
    let label = resolver.fabric.link_label(longest);
    let message =
        format!("a flap of {} is shorter than the delay of `{label}`, {}", short.value, delay(longest));
    let problem = Problem::at(short.span, message);
    resolver.problems.add(problem.label(format!("expected at least {least}")));
    None
}

/// Rejects events out of order.
pub(crate) fn check_order(events: &[EventSettings], problems: &Problems) {
    for pair in events.windows(2) {
        let [before, event] = [pair[0].at, pair[1].at];
        if event.value < before.value {
            let message = format!("the event at {} follows one at {}", event.value, before.value);
            let label = "expected events in order of time";
            problems.add(Problem::at(event.span, message).label(label));
        }
    }
}
