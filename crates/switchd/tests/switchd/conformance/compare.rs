//! Compares the contents of all tables.

use std::fmt;

use weft_switchd::layout::{self, ns_at};
use weft_switchd::tables::Sizes;
use weft_switching::arp_path::Flood;
use weft_switching::path_table::{End, FlowKey, PathEntry};
use weft_switching::snooping::{Family, Members};
use weft_units::Time;

use crate::conformance::machine::Machine;
use crate::conformance::oracle::Oracle;
use crate::conformance::program::Program;

/// An error that describes the difference between the state machine's value and the program's, if any.
pub fn same<T: PartialEq + fmt::Debug>(what: &str, wanted: &T, found: &T) -> Result<(), String> {
    if wanted == found {
        return Ok(());
    }
    Err(format!("{what}\n  state machine: {wanted:02x?}\n  program:       {found:02x?}"))
}

/// The same for unordered values.
pub fn same_set<T: Ord + fmt::Debug>(
    what: &str,
    wanted: impl Iterator<Item = T>,
    found: impl Iterator<Item = T>,
) -> Result<(), String> {
    let (mut wanted, mut found): (Vec<T>, Vec<T>) = (wanted.collect(), found.collect());
    wanted.sort();
    found.sort();
    same(what, &wanted, &found)
}

/// A flow in the program's form: the end that an entry leads to, and the other.
pub fn ends(key: FlowKey) -> (u64, u64) {
    let end = |end: End| end.station().bits() << 16 | u64::from(end.port());
    (end(key.host), end(key.peer))
}

/// The number of entries in the state machine's tables.
pub fn sizes(oracle: &Oracle, now: Time) -> Sizes {
    let base = oracle.switch.base();
    let carried = if let Machine::Tfe(switch) = &oracle.switch { switch.carried(now).count() } else { 0 };
    Sizes {
        stations: base.stations(now).count(),
        repairs: base.repairs(now).count(),
        floods: base.floods(now).count(),
        flows: oracle.switch.paths().map_or(0, |switch| switch.paths(now).count()),
        carried,
        groups: base.snooping().groups(now).count(),
    }
}

/// An error that describes the first difference between the tables of both, if any.
pub fn tables(program: &Program, oracle: &Oracle, time: Time) -> Result<(), String> {
    let (now, switch) = (ns_at(time), oracle.switch.base());
    let text = |error: std::io::Error| error.to_string();
    let wanted = switch.floods(time).map(|(flood, port, until)| {
        let Flood { kind, from, to, ports: [sport, dport], id } = flood;
        (from.bits(), to.bits(), id, sport, dport, kind as u64, port.0, ns_at(until))
    });
    let found = program.floods(now).map_err(text)?.into_iter().map(|(key, flood)| {
        let expiry = now.wrapping_add_signed(flood.left(now));
        (key.from, key.to, key.id, key.sport, key.dport, key.kind, flood.port(), expiry)
    });
    same_set("floods", wanted, found)?;

    let wanted =
        switch.stations(time).map(|(mac, port, class, until)| (mac.bits(), port.0, class, ns_at(until)));
    let found = program.stations(now).map_err(text)?.into_iter();
    let found = found.map(|(mac, station)| (mac, station.port, station.class, station.expiry));
    same_set("stations", wanted, found)?;

    let wanted = switch.repairs(time).map(|(mac, until)| (mac.bits(), ns_at(until)));
    same_set("repairs", wanted, program.repairs(now).map_err(text)?.into_iter())?;

    let snooping = switch.snooping();
    let ports = |members: &Members, until: Time| {
        let Members { fresh, old, turn_at, old_until } = *members;
        (fresh, old, ns_at(turn_at), ns_at(old_until), ns_at(until))
    };
    let wanted = snooping.groups(time).map(|(group, members, until)| (group.bits(), ports(&members, until)));
    let read = |of: &layout::Members| (of.fresh, of.old, of.turn_at, of.old_until, of.until);
    let found = program.members(now).map_err(text)?.into_iter();
    same_set("members of groups", wanted, found.map(|(group, members)| (group, read(&members))))?;
    let routers = [Family::V4, Family::V6].map(|family| snooping.routers(family));
    let wanted = routers.map(|routers| (ports(&routers.ports, routers.until), ns_at(routers.asked_until)));
    let found = program.routers().map_err(|error| error.to_string())?;
    same("routers of groups", &wanted, &found.map(|routers| (read(&routers), routers.asked_until)))?;

    let Some(switch) = oracle.switch.paths() else { return Ok(()) };
    let wanted = switch.paths(time).map(|(key, entry, class, until)| {
        let PathEntry { port, initiator, explored, id, made } = entry;
        let state = (port.0, class, u8::from(initiator), u8::from(explored), id, made);
        (ends(key), state, ns_at(until))
    });
    let found = program.paths(now).map_err(text)?.into_iter().map(|(flow, path)| {
        let state = (path.port, path.class, path.initiator, path.explored, path.id, path.made);
        ((flow.host, flow.peer), state, path.expiry)
    });
    same_set("flows", wanted, found)?;

    let Machine::Tfe(switch) = &oracle.switch else { return Ok(()) };
    let wanted = switch.carried(time).map(|(key, bytes, until)| (ends(key), bytes, ns_at(until)));
    let found = program.carried(now).map_err(text)?.into_iter();
    let found = found.map(|(flow, load)| ((flow.host, flow.peer), load.bytes, load.expiry));
    same_set("bytes carried", wanted, found)
}
