//! `[exploration]`: the parameters of the scheme, with the names, units and defaults of the simulator's registry,
//! and table sizes and timers that a simulation does not set.

use std::ops::Range;

use weft_switching::exploration::Exploration;
use weft_switching::over::Under;
use weft_switching::{Descriptor, ParamKind, ParamValue, SchemeSpec, arp_path};
use weft_units::Duration;

use super::table::{Place, Table};

/// Parameters of the registry that are not read here: Hello has its own section, and hosts and controllers are
/// real.
const ELSEWHERE: [&str; 5] = ["hello", "arp_cache", "control_delay", "install_delay", "rule_latency"];

/// Maximum number of table entries.
const MOST_ENTRIES: u64 = 1 << 26;

/// Reads the section for a scheme.
pub fn read(
    table: Table<'_>,
    scheme: &Descriptor,
    interval: Duration,
    hold: Duration,
) -> (SchemeSpec, Exploration) {
    let mut spec = SchemeSpec { name: scheme.name.to_owned(), params: Default::default() };
    // In modes with routes, stations without a route are found by exploration.
    let base = scheme.next_hops.map_or(&[][..], |_| arp_path::DESCRIPTOR.params);
    let mut places = Vec::new();
    for param in base.iter().chain(scheme.params).filter(|param| !ELSEWHERE.contains(&param.name)) {
        let value = value(&table, param.name, param.kind);
        if let Some((value, span)) = value {
            spec.params.insert(param.name.to_owned(), value);
            places.push((param.name, span));
        }
    }
    let over = Under::of_spec(&spec);
    if over != Under::ArpPath {
        let (word, span) = (over.word(), place_of(&places, "over"));
        let expected =
            "the Linux switch has one default forwarding: expected \"arp_path\"; `weft run` simulates others";
        table.problem(span, format!("`over` is \"{word}\""), expected);
    }
    // The ARP cache timeout of simulated hosts does not apply to real ones.
    spec.params.insert("arp_cache".to_owned(), ParamValue::Duration(Duration::ZERO));
    if let Some(wrong) = scheme.contradiction_of(&spec) {
        table.problem(place_of(&places, wrong.param), wrong.message.replace("scheme.", ""), wrong.expected);
    }
    spec.params.remove("arp_cache");
    let mut config = Exploration::from_spec(&spec);
    let set = |place: &mut Duration, value: Option<Place<Duration>>| {
        if let Some((value, _)) = value {
            *place = value;
        }
    };
    // Without `broadcast_lock` a loop would carry broadcasts forever; without `repair` every frame to an unknown station
    // would start a repair.
    let above_zero = |key: &'static str| {
        let (time, span) = table.duration(key)?;
        if time == Duration::ZERO {
            table.problem(span, format!("`{key}` is 0"), "expected a time above 0".to_owned());
            return None;
        }
        Some((time, span))
    };
    set(&mut config.broadcast_lock, above_zero("broadcast_lock"));
    set(&mut config.repair, above_zero("repair"));
    if let Some((floods, _)) = table.number("flood_table", 1..MOST_ENTRIES) {
        config.floods = floods as usize;
    }
    if let Some((hops, _)) = table.number("hops", 1..256) {
        config.hops = hops as u8;
    }
    (config.hello, config.hold) = (interval, hold);
    table.finish();
    (spec, config)
}

/// The position of the value given for `param`.
fn place_of(places: &[(&str, Range<usize>)], param: &str) -> Range<usize> {
    places.iter().find(|(name, _)| *name == param).map_or(0..0, |(_, span)| span.clone())
}

fn value(table: &Table<'_>, name: &'static str, kind: ParamKind) -> Option<Place<ParamValue>> {
    match kind {
        ParamKind::Choice(words) => {
            table.word(name, words).map(|(word, span)| (ParamValue::Text(word.to_owned()), span))
        }
        ParamKind::Duration => table.duration(name).map(|(time, span)| (ParamValue::Duration(time), span)),
        ParamKind::Bytes => table.bytes(name).map(|(bytes, span)| (ParamValue::Bytes(bytes), span)),
        ParamKind::Count => {
            table.number(name, 1..MOST_ENTRIES).map(|(count, span)| (ParamValue::Count(count), span))
        }
        // No scheme has one.
        ParamKind::Rate | ParamKind::Number | ParamKind::Flag => None,
    }
}
