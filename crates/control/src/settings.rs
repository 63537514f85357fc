//! [`Settings`] of a controller, read from JSON, and the expected fabric.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::Included;

use serde::Deserialize;
use weft_fabric::path_set::Order;
use weft_units::{Parameters as _, params, words};

use crate::clock::Duration;
use crate::cookie::MAX_FLOWS;
use crate::ids::{PortNo, SwitchId};

params! {
    /// The kind of controller, and its behaviour.
    #[derive(Clone, PartialEq, Debug, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// kind of controller
        controller: Kind = Kind::Smoc;
        /// paths per set
        paths: usize = 8, in 1..=64;
        /// order of a set's paths
        order: Order = Order::Paper;
        /// path of a subflow's reverse direction
        reverse: Reverse = Reverse::Same;
        /// path of its set that a subflow takes
        pick: Pick = Pick::LeastUsed;
        /// paths of a set (including the first) installed as soon as a connection is seen
        proactive_paths: usize = 4, in 1..=64;
        /// idle timeout in seconds for the rules of flows and stations
        idle_timeout_s: u16 = 10, in 1..=3600;
        /// seconds that a subflow without rules keeps its place in its connection
        remember_s: f64 = 60.0, in (Included(0.0), Included(86_400.0)), unit "seconds";
        /// seconds that a port must be up without LLDP before it counts as a host port
        settle_s: f64 = 1.0, in (Included(0.0), Included(60.0)), unit "seconds";
        /// seconds after which an unanswered install fails
        install_deadline_s: f64 = 2.0, in (Included(0.001), Included(60.0)), unit "seconds";
        /// maximum seconds for which packets of a new connection are copied to the controller
        handshake_s: f64 = 3.0, in (Included(0.001), Included(60.0)), unit "seconds";
        /// who answers address requests
        arp: ArpMode = ArpMode::Proxy;
        /// bytes of a packet copied to the controller
        copy_bytes: u16 = 256, in 128..=u16::MAX;
        /// secret key of tables whose keys hosts choose
        hash_key: u64 = 0, in 0..=u64::MAX;
        /// distinguishes the rules of one controller run from the next: a new number for each start
        epoch: u32 = 0, in 0..=u32::MAX;
        ..limits: Limits;
    }
    fixed {
        /// The expected fabric.
        fabric: Option<ExpectedFabric> = None;
    }
}

params! {
    /// Table size and rate limits.
    #[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Limits {
        /// switches
        switches: usize as "limits.switches" = 1024, in 1..=1024;
        /// links between switches
        cables: usize as "limits.cables" = 16_384, in 1..=1 << 20;
        /// hosts
        stations: usize as "limits.stations" = 65_536, in 1..=1 << 20;
        /// hosts at one port
        stations_per_port: usize as "limits.stations_per_port" = 256, in 1..=2047;
        /// IP addresses of one host
        addresses_per_station: usize as "limits.addresses_per_station" = 16, in 1..=1024;
        /// TCP flows, including subflows
        flows: usize as "limits.flows" = 500_000, in 1..=MAX_FLOWS as usize;
        /// flows opened by one port's hosts
        flows_per_port: usize as "limits.flows_per_port" = 100_000, in 1..=1 << 24;
        /// rules at one switch for the flows of one port's hosts
        rules_per_port: usize as "limits.rules_per_port" = 16_384, in 2..=1 << 24;
        /// flows of one port that are unconfirmed or cannot be confirmed (plain TCP)
        unconfirmed_per_port: usize as "limits.unconfirmed_per_port" = 4096, in 1..=1 << 24;
        /// flows of a port evicted per second for new ones; the burst is a tenth of it
        evictions_per_port_s: u32 as "limits.evictions_per_port_s" = 100, in 10..=1 << 24;
        /// unconfirmed host-caused rules per switch
        unanswered_rules: usize as "limits.unanswered_rules" = 2048, in 1..=1 << 20;
        /// flows per second opened by one port's hosts; the burst is a tenth of it
        new_flows_per_port_s: u32 as "limits.new_flows_per_port_s" = 5000, in 10..=1 << 24;
        /// addresses learned at one port per second
        addresses_per_port_s: u32 as "limits.addresses_per_port_s" = 100, in 1..=1 << 24;
        /// frames of one port flooded to all hosts per second
        floods_per_port_s: u32 as "limits.floods_per_port_s" = 100, in 1..=1 << 24;
        /// frames that wait for rules
        held_frames: usize as "limits.held_frames" = 4096, in 1..=1 << 20;
        /// differences from the expected fabric that are reported
        differences: usize as "limits.differences" = 1000, in 0..=usize::MAX;
    }
}

words! {
    /// The kind of controller.
    pub enum Kind {
        /// Subflows of one connection take disjoint paths.
        Smoc = "smoc",
        /// All traffic takes one spanning tree.
        SpanningTree = "spanning-tree",
    }
}

words! {
    /// The path of a subflow's reverse direction.
    pub enum Reverse {
        /// The forward path, backwards.
        Same = "same",
        /// One of a second set, from the receiver's switch to the sender's (Algorithm 2 of the paper).
        Own = "own",
    }
}

words! {
    /// The path of its set that a subflow takes.
    pub enum Pick {
        /// The one that the fewest subflows of its connection take, the first of several.
        LeastUsed = "least-used",
        /// The next one in a cycle for each connection (`.next()` in Algorithm 2).
        Next = "next",
    }
}

words! {
    /// Who answers address requests.
    pub enum ArpMode {
        /// The controller, if it knows the answer.
        Proxy = "proxy",
        /// The host itself; the request goes only to that host if it is known.
        Pass = "pass",
    }
}

/// Expected switches by name, and the links between them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFabric {
    /// The switches.
    pub switches: Vec<ExpectedSwitch>,
    /// The links between them.
    #[serde(default)]
    pub cables: Vec<ExpectedCable>,
}

/// An expected switch.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedSwitch {
    /// Its name.
    pub name: String,
    /// Its datapath id.
    pub dpid: u64,
}

/// An expected link.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCable {
    /// One end.
    pub a: ExpectedEnd,
    /// The other.
    pub b: ExpectedEnd,
}

/// An end of an expected link.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedEnd {
    /// The name of a switch of [`ExpectedFabric::switches`].
    pub switch: String,
    /// Its port; `None` if any port will do.
    #[serde(default)]
    pub port: Option<u32>,
}

/// An invalid setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("controller setting {key}: {wrong}")]
pub struct SettingsError {
    /// The key, as a path from the top level.
    pub key: String,
    /// The value, and the accepted values.
    pub wrong: String,
}

/// The key for errors of the object as a whole.
const TOP: &str = "(top)";

impl Settings {
    /// Parses a JSON object; omitted keys take their defaults.
    ///
    /// # Errors
    /// [`SettingsError`] for invalid JSON, an unknown key or an invalid value.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let settings: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let key = error.path().to_string();
            let key = if matches!(key.as_str(), "." | "?") { TOP.to_owned() } else { key };
            SettingsError { key, wrong: error.inner().to_string() }
        })?;
        reader.end().map_err(|error| wrong(TOP, error.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// [`SettingsError`] for the first value out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        for (param, value) in self.parameters() {
            if let Some(valid) = param.refusal(&value) {
                return Err(wrong(param.name, format!("{value} is out of range, expected {valid}")));
            }
        }
        self.fabric.as_ref().map_or(Ok(()), ExpectedFabric::check)
    }

    /// How long a subflow without rules keeps its place in its connection.
    pub(crate) fn remember(&self) -> Duration {
        Duration::from_secs_f64(self.remember_s)
    }

    /// How long an unused path stays installed.
    pub(crate) fn linger(&self) -> Duration {
        Duration::from_secs(3 * u64::from(self.idle_timeout_s))
    }
}

impl ExpectedFabric {
    /// Finds duplicate names and ids, and links with unknown switches.
    fn check(&self) -> Result<(), SettingsError> {
        let (mut names, mut ids) = (BTreeSet::new(), BTreeMap::new());
        for (at, switch) in self.switches.iter().enumerate() {
            if !names.insert(switch.name.as_str()) {
                return Err(wrong(
                    &format!("fabric.switches[{at}].name"),
                    format!("duplicate switch name {:?}", switch.name),
                ));
            }
            if let Some(other) = ids.insert(switch.dpid, &switch.name) {
                let id = SwitchId(switch.dpid);
                return Err(wrong(
                    &format!("fabric.switches[{at}].dpid"),
                    format!("datapath id {id} is already used by {other:?}"),
                ));
            }
        }
        let mut taken = BTreeSet::new();
        for (at, cable) in self.cables.iter().enumerate() {
            for (end, side) in [(&cable.a, 'a'), (&cable.b, 'b')] {
                let key = format!("fabric.cables[{at}].{side}");
                if !names.contains(end.switch.as_str()) {
                    return Err(wrong(&key, format!("there is no switch {:?}", end.switch)));
                }
                let Some(port) = end.port else { continue };
                if !PortNo(port).is_real() {
                    return Err(wrong(
                        &key,
                        format!("{port} is not a valid port number, expected 1 to {}", PortNo::MAX),
                    ));
                }
                if !taken.insert((end.switch.as_str(), port)) {
                    return Err(wrong(&key, format!("port {port} of {} already has a link", end.switch)));
                }
            }
        }
        Ok(())
    }
}

fn wrong(key: &str, wrong: String) -> SettingsError {
    SettingsError { key: key.to_owned(), wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_what_is_wrong_is_named() {
        assert_eq!(Settings::from_json("{}"), Ok(Settings::default()));
        let text = r#"{"controller": "spanning-tree", "paths": 2, "limits": {"flows": 9},
            "fabric": {"switches": [{"name": "s1", "dpid": 1}, {"name": "s2", "dpid": 2}],
                       "cables": [{"a": {"switch": "s1", "port": 3}, "b": {"switch": "s2", "port": null}}]}}"#;
        let settings = Settings::from_json(text).unwrap();
        assert_eq!((settings.controller, settings.paths, settings.limits.flows), (Kind::SpanningTree, 2, 9));
        assert_eq!((settings.reverse, settings.pick), (Reverse::Same, Pick::LeastUsed));
        let paper = Settings::from_json(r#"{"reverse": "own", "pick": "next"}"#).unwrap();
        assert_eq!((paper.reverse, paper.pick), (Reverse::Own, Pick::Next));
        assert_eq!(settings.fabric.unwrap().cables[0].a.port, Some(3));
        for (text, message) in [
            ("{", "controller setting (top): EOF while parsing an object at line 1 column 1"),
            ("{} {}", "controller setting (top): trailing characters at line 1 column 4"),
            (r#"{"paths": 0}"#, "controller setting paths: 0 is out of range, expected 1 to 64"),
            (
                r#"{"limits": {"flows": "many"}}"#,
                "controller setting limits.flows: invalid type: string \"many\", expected usize at line 1 column 27",
            ),
            (
                r#"{"settle_s": -1}"#,
                "controller setting settle_s: -1 is out of range, expected 0 to 60 seconds",
            ),
            (
                r#"{"fabric": {"switches": [{"name": "a", "dpid": 1}, {"name": "b", "dpid": 1}]}}"#,
                "controller setting fabric.switches[1].dpid: datapath id 0000000000000001 is already used by \"a\"",
            ),
            (
                r#"{"fabric": {"switches": [{"name": "a", "dpid": 1}],
                    "cables": [{"a": {"switch": "a"}, "b": {"switch": "b"}}]}}"#,
                "controller setting fabric.cables[0].b: there is no switch \"b\"",
            ),
        ] {
            assert_eq!(Settings::from_json(text).unwrap_err().to_string(), message);
        }
        let unknown = Settings::from_json(r#"{"path": 8}"#).unwrap_err();
        assert!(unknown.wrong.starts_with("unknown field `path`, expected one of `controller`"), "{unknown}");
    }
}
