//! [`Settings`] of a controller, read from JSON, and the expected fabric.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use weft_fabric::path_set::Order;
use weft_units::words;

use crate::clock::Duration;
use crate::cookie::MAX_FLOWS;
use crate::ids::{PortNo, SwitchId};

/// The kind of controller, and its behaviour.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The kind of controller.
    pub controller: Kind,
    /// Paths per set, 1 to 64.
    pub paths: usize,
    /// The order of a set's paths.
    pub order: Order,
    /// The path of a subflow's reverse direction.
    pub reverse: Reverse,
    /// The path of its set that a subflow takes.
    pub pick: Pick,
    /// Paths of a set (including the first) installed as soon as a connection is seen.
    pub proactive_paths: usize,
    /// Idle timeout in seconds for the rules of flows and stations.
    pub idle_timeout_s: u16,
    /// Seconds that a subflow without rules keeps its place in its connection.
    pub remember_s: f64,
    /// Seconds that a port must be up without LLDP before it counts as a host port.
    pub settle_s: f64,
    /// Seconds after which an unanswered install fails.
    pub install_deadline_s: f64,
    /// Maximum seconds for which packets of a new connection are copied to the controller.
    pub handshake_s: f64,
    /// Who answers address requests.
    pub arp: ArpMode,
    /// Bytes of a packet copied to the controller.
    pub copy_bytes: u16,
    /// The secret key of tables whose keys hosts choose.
    pub hash_key: u64,
    /// Distinguishes the rules of one controller run from the next: use a new number for each start.
    pub epoch: u32,
    /// Table size limits.
    pub limits: Limits,
    /// The expected fabric.
    pub fabric: Option<ExpectedFabric>,
}

words! {
    /// The kind of controller.
    #[derive(Default)]
    pub enum Kind {
        /// Subflows of one connection take disjoint paths.
        #[default]
        Smoc = "smoc",
        /// All traffic takes one spanning tree.
        SpanningTree = "spanning-tree",
    }
}

words! {
    /// The path of a subflow's reverse direction.
    #[derive(Default)]
    pub enum Reverse {
        /// The same path.
        #[default]
        Same = "same",
        /// One of a second set, from the receiver's switch to the sender's (Algorithm 2 of the paper).
        Own = "own",
    }
}

words! {
    /// The path of its set that a subflow takes.
    #[derive(Default)]
    pub enum Pick {
        /// The one that the fewest subflows of its connection take, the first of several.
        #[default]
        LeastUsed = "least-used",
        /// The next one in a cycle for each connection (`.next()` in Algorithm 2).
        Next = "next",
    }
}

words! {
    /// Who answers address requests.
    #[derive(Default)]
    pub enum ArpMode {
        /// The controller, if it knows the answer.
        #[default]
        Proxy = "proxy",
        /// The host itself; the request goes only to that host if it is known.
        Pass = "pass",
    }
}

/// Table size and rate limits.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Switches, at most 1024.
    pub switches: usize,
    /// Links between switches.
    pub cables: usize,
    /// Hosts.
    pub stations: usize,
    /// Hosts at one port.
    pub stations_per_port: usize,
    /// IP addresses of one host.
    pub addresses_per_station: usize,
    /// TCP flows, including subflows.
    pub flows: usize,
    /// Flows opened by one port's hosts.
    pub flows_per_port: usize,
    /// Rules at one switch for the flows of one port's hosts.
    pub rules_per_port: usize,
    /// Flows of one port that are unconfirmed or cannot be confirmed (plain TCP).
    pub unconfirmed_per_port: usize,
    /// Flows of a port evicted per second for new ones; the burst is a tenth of it.
    pub evictions_per_port_s: u32,
    /// Unconfirmed host-caused rules per switch.
    pub unanswered_rules: usize,
    /// Flows per second opened by one port's hosts; the burst is a tenth of it.
    pub new_flows_per_port_s: u32,
    /// Addresses learned at one port per second.
    pub addresses_per_port_s: u32,
    /// Frames of one port flooded to all hosts per second.
    pub floods_per_port_s: u32,
    /// Frames that wait for rules.
    pub held_frames: usize,
    /// Differences from the expected fabric that are reported.
    pub differences: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            switches: 1024,
            cables: 16_384,
            stations: 65_536,
            stations_per_port: 256,
            addresses_per_station: 16,
            flows: 500_000,
            flows_per_port: 100_000,
            rules_per_port: 16_384,
            unconfirmed_per_port: 4096,
            evictions_per_port_s: 100,
            unanswered_rules: 2048,
            new_flows_per_port_s: 5000,
            addresses_per_port_s: 100,
            floods_per_port_s: 100,
            held_frames: 4096,
            differences: 1000,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            controller: Kind::default(),
            paths: 8,
            order: Order::default(),
            reverse: Reverse::default(),
            pick: Pick::default(),
            proactive_paths: 4,
            idle_timeout_s: 10,
            remember_s: 60.0,
            settle_s: 1.0,
            install_deadline_s: 2.0,
            handshake_s: 3.0,
            arp: ArpMode::default(),
            copy_bytes: 256,
            hash_key: 0,
            epoch: 0,
            limits: Limits::default(),
            fabric: None,
        }
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
    /// The value and what is expected.
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
        let limits = &self.limits;
        let counts: [(&str, usize, usize, usize); 19] = [
            ("paths", self.paths, 1, 64),
            ("proactive_paths", self.proactive_paths, 1, 64),
            ("idle_timeout_s", self.idle_timeout_s.into(), 1, 3600),
            ("copy_bytes", self.copy_bytes.into(), 128, u16::MAX.into()),
            ("limits.switches", limits.switches, 1, 1024),
            ("limits.cables", limits.cables, 1, 1 << 20),
            ("limits.stations", limits.stations, 1, 1 << 20),
            ("limits.stations_per_port", limits.stations_per_port, 1, 2047),
            ("limits.addresses_per_station", limits.addresses_per_station, 1, 1024),
            ("limits.flows", limits.flows, 1, MAX_FLOWS as usize),
            ("limits.flows_per_port", limits.flows_per_port, 1, 1 << 24),
            ("limits.rules_per_port", limits.rules_per_port, 2, 1 << 24),
            ("limits.unconfirmed_per_port", limits.unconfirmed_per_port, 1, 1 << 24),
            ("limits.evictions_per_port_s", limits.evictions_per_port_s as usize, 10, 1 << 24),
            ("limits.unanswered_rules", limits.unanswered_rules, 1, 1 << 20),
            ("limits.new_flows_per_port_s", limits.new_flows_per_port_s as usize, 10, 1 << 24),
            ("limits.addresses_per_port_s", limits.addresses_per_port_s as usize, 1, 1 << 24),
            ("limits.floods_per_port_s", limits.floods_per_port_s as usize, 1, 1 << 24),
            ("limits.held_frames", limits.held_frames, 1, 1 << 20),
        ];
        for (key, value, least, most) in counts {
            if value < least || value > most {
                return Err(wrong(key, format!("{value} is out of range, expected {least} to {most}")));
            }
        }
        for (key, value, least, most) in [
            ("remember_s", self.remember_s, 0.0, 86_400.0),
            ("settle_s", self.settle_s, 0.0, 60.0),
            ("install_deadline_s", self.install_deadline_s, 0.001, 60.0),
            ("handshake_s", self.handshake_s, 0.001, 60.0),
        ] {
            if !(least..=most).contains(&value) {
                return Err(wrong(
                    key,
                    format!("{value} is out of range, expected {least} to {most} seconds"),
                ));
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
