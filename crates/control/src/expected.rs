//! [`Expected`]: switch names, and differences between the network and the configured fabric.

use std::collections::{BTreeMap, BTreeSet};
use weft_units::plural;

use crate::ids::{SwitchId, SwitchPort};
use crate::settings::ExpectedFabric;
use crate::topology::Topology;

/// The configured fabric.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    names: BTreeMap<SwitchId, String>,
    /// The expected neighbour of each port; both directions of each link with given ports.
    cables: BTreeMap<SwitchPort, SwitchPort>,
    /// The expected number of links between two switches, lower id first, for links without given ports.
    loose: BTreeMap<(SwitchId, SwitchId), usize>,
    is_given: bool,
    /// Switches that another controller controls.
    left_alone: BTreeSet<SwitchId>,
}

impl Expected {
    /// Reads the configured fabric, which must have been checked.
    pub fn new(fabric: Option<&ExpectedFabric>) -> Self {
        let Some(fabric) = fabric else { return Self::default() };
        let names: BTreeMap<SwitchId, String> =
            fabric.switches.iter().map(|switch| (SwitchId(switch.dpid), switch.name.clone())).collect();
        let ids: BTreeMap<&str, SwitchId> = names.iter().map(|(&id, name)| (name.as_str(), id)).collect();
        let (mut cables, mut loose) = (BTreeMap::new(), BTreeMap::new());
        for cable in &fabric.cables {
            let (Some(&a), Some(&b)) = (ids.get(cable.a.switch.as_str()), ids.get(cable.b.switch.as_str()))
            else {
                continue;
            };
            match (cable.a.port, cable.b.port) {
                (Some(p), Some(q)) => {
                    let ends = (SwitchPort::new(a.0, p), SwitchPort::new(b.0, q));
                    cables.extend([ends, (ends.1, ends.0)]);
                }
                // A link with only one given port is checked like one with none.
                _ => *loose.entry((a.min(b), a.max(b))).or_insert(0) += 1,
            }
        }
        Self { names, cables, loose, is_given: true, left_alone: BTreeSet::new() }
    }

    /// A switch's configured name, or its datapath id.
    pub fn name(&self, id: SwitchId) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Another controller controls a switch now, or (`is_left_alone` false) no longer. No difference is reported for a
    /// switch whose state is unknown.
    pub fn leave_alone(&mut self, id: SwitchId, is_left_alone: bool) {
        if is_left_alone {
            self.left_alone.insert(id);
        } else {
            self.left_alone.remove(&id);
        }
    }

    /// Differences from the configured fabric, at most `limit` lines.
    pub fn differences(&self, topology: &Topology, limit: usize) -> Vec<String> {
        if !self.is_given {
            return Vec::new();
        }
        let mut said = Vec::new();
        let is_up = |id: SwitchId| topology.switch(id).is_some_and(|s| topology.switches[s as usize].up);
        let missing = self.names.iter().filter(|(id, _)| !is_up(**id) && !self.left_alone.contains(id));
        said.extend(missing.map(|(id, name)| format!("{name} ({id}) is not connected")));
        let connected: Vec<SwitchId> =
            topology.connected().iter().map(|&switch| topology.switches[switch as usize].id).collect();
        let strange = connected.iter().filter(|id| !self.names.contains_key(id));
        said.extend(strange.map(|id| format!("{id} is connected but not expected")));

        let mut found: BTreeMap<SwitchPort, SwitchPort> = BTreeMap::new();
        for (_, cable) in topology.cables() {
            let [a, b] = cable.ends.map(|port| topology.place(port));
            if [a, b].iter().all(|end| !self.left_alone.contains(&end.switch)) {
                found.extend([(a, b), (b, a)]);
            }
        }
        let place = |at: SwitchPort| format!("{} port {}", self.name(at.switch), at.port);
        let mut extra: BTreeMap<(SwitchId, SwitchId), Vec<(SwitchPort, SwitchPort)>> = BTreeMap::new();
        let ports: BTreeSet<SwitchPort> = found.keys().chain(self.cables.keys()).copied().collect();
        for at in ports {
            match (found.get(&at), self.cables.get(&at)) {
                (Some(found), Some(expected)) if found != expected => {
                    said.push(format!(
                        "{} leads to {}, expected {}",
                        place(at),
                        place(*found),
                        place(*expected)
                    ));
                }
                // Reported once, at the lower end, and only if both switches could report the link.
                (None, Some(expected))
                    if at < *expected
                        && is_up(at.switch)
                        && is_up(expected.switch)
                        && !found.contains_key(expected) =>
                {
                    said.push(format!("{} leads to no switch, expected {}", place(at), place(*expected)));
                }
                (Some(found), None) if at < *found && !self.cables.contains_key(found) => {
                    extra.entry((at.switch, found.switch)).or_default().push((at, *found));
                }
                _ => {}
            }
        }
        for (&(a, b), &count) in &self.loose {
            let found = extra.remove(&(a, b)).map_or(0, |cables| cables.len());
            if found != count && is_up(a) && is_up(b) {
                let (a, b) = (self.name(a), self.name(b));
                said.push(format!("{} between {a} and {b}, expected {count}", plural(found as u64, "link")));
            }
        }
        for (at, found) in extra.into_values().flatten() {
            said.push(format!("{} leads to {}, expected no switch", place(at), place(found)));
        }
        said.truncate(limit);
        said
    }
}

#[cfg(test)]
mod tests {
    use crate::clock::{Duration, Time};

    use super::*;
    use crate::ids::PortNo;
    use crate::settings::Settings;

    #[test]
    fn every_difference_is_said_by_name() {
        let settings = Settings::from_json(
            r#"{"fabric": {"switches": [{"name": "s1", "dpid": 1}, {"name": "s4", "dpid": 4},
                    {"name": "s5", "dpid": 5}, {"name": "s6", "dpid": 6}],
                "cables": [{"a": {"switch": "s1", "port": 3}, "b": {"switch": "s4", "port": 1}},
                    {"a": {"switch": "s1", "port": 4}, "b": {"switch": "s5", "port": 4}},
                    {"a": {"switch": "s4", "port": 2}, "b": {"switch": "s5", "port": 2}},
                    {"a": {"switch": "s4"}, "b": {"switch": "s5"}},
                    {"a": {"switch": "s1", "port": 9}, "b": {"switch": "s6", "port": 1}}]}}"#,
        )
        .unwrap();
        let mut expected = Expected::new(settings.fabric.as_ref());
        let mut topology = Topology::new(Duration::ZERO, 9, 9);
        let ports: Vec<PortNo> = (1..=9).map(PortNo).collect();
        for id in [1, 4, 5, 8] {
            topology.switch_up(Time::ZERO, SwitchId(id), &ports).unwrap();
        }
        let mut cable = |a, b| {
            topology.link_changed(a, b, true);
            topology.link_changed(b, a, true);
        };
        cable(SwitchPort::new(1, 3), SwitchPort::new(5, 1));
        cable(SwitchPort::new(4, 2), SwitchPort::new(5, 2));
        cable(SwitchPort::new(4, 7), SwitchPort::new(8, 7));
        assert_eq!(
            expected.differences(&topology, 100),
            [
                "s6 (0000000000000006) is not connected",
                "0000000000000008 is connected but not expected",
                "s1 port 3 leads to s5 port 1, expected s4 port 1",
                "s1 port 4 leads to no switch, expected s5 port 4",
                "0 links between s4 and s5, expected 1",
                "s4 port 7 leads to 0000000000000008 port 7, expected no switch",
            ]
        );
        assert_eq!(expected.differences(&topology, 2).len(), 2);
        // Nothing is reported about a switch that another controller has taken over: it may be correct.
        topology.switch_down(SwitchId(4));
        expected.leave_alone(SwitchId(4), true);
        let said = expected.differences(&topology, 100);
        assert!(said.iter().all(|said| !said.starts_with("s4")), "{said:?}");
        assert_eq!(said.len(), 4);
        expected.leave_alone(SwitchId(4), false);
        assert!(
            expected.differences(&topology, 100).contains(&"s4 (0000000000000004) is not connected".into())
        );
        assert!(Expected::new(None).differences(&topology, 100).is_empty());
    }
}
