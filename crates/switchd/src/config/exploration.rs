//! `[exploration]`: the parameters of the scheme, with the names, units and defaults of the simulator's registry,
//! and table sizes and timers that a simulation does not set.

use weft_switching::exploration::{Exploration, Safeguards};
use weft_switching::over::Under;
use weft_switching::{ParamValue, SchemeSpec, arp_path};
use weft_units::Duration;

use super::table::Table;
use crate::Mode;

/// Parameters of the registry that are not read here: Hello has its own section, and hosts are real.
const ELSEWHERE: [&str; 2] = ["hello", "arp_cache"];

/// Reads the section for a mode.
pub fn read(table: Table<'_>, mode: Mode, interval: Duration, hold: Duration) -> (SchemeSpec, Exploration) {
    let scheme = mode.scheme();
    // In modes with routes, stations without a route are found by exploration; modes with gates have `[tags]`.
    let base = scheme.next_hops.map_or(&[][..], |_| arp_path::DESCRIPTOR.params);
    let own = if mode.has_gates() { &[][..] } else { scheme.params };
    let params = base.iter().chain(own).filter(|param| !ELSEWHERE.contains(&param.name));
    let (params, places) = table.params(params);
    let place_of = |param: &str| places.get(param).cloned().unwrap_or_default();
    let mut spec = SchemeSpec { name: scheme.name.to_owned(), params };
    let over = Under::of_spec(&spec);
    if over != Under::ArpPath {
        let (word, span) = (over.word(), place_of("over"));
        let expected =
            "the Linux switch has one default forwarding: expected \"arp_path\"; `weft run` simulates others";
        table.problem(span, format!("`over` is \"{word}\""), expected);
    }
    // The ARP cache timeout of simulated hosts does not apply to real ones.
    spec.params.insert("arp_cache".to_owned(), ParamValue::Duration(Duration::ZERO));
    if let Some(wrong) = scheme.contradiction_of(&spec) {
        table.problem(place_of(wrong.param), wrong.message.replace("scheme.", ""), wrong.expected);
    }
    spec.params.remove("arp_cache");
    let mut config = Exploration::from_spec(&spec);
    config.safeguards = Safeguards::of(&table.params(Safeguards::PARAMS).0);
    (config.hello, config.hold) = (interval, hold);
    table.finish();
    (spec, config)
}
