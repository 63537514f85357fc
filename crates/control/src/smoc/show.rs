//! The state of [`Smoc`] as JSON for operators.

use serde_json::{Value, json};

use super::state::Smoc;
use crate::clock::Time;
use crate::connections::{INITIATOR, LISTENER};
use crate::flows::{State, by};
use crate::slab::NONE;

impl Smoc {
    /// Connections, newest first.
    pub(super) fn show_connections(&self, now: Time, limit: usize) -> Value {
        let mut youngest: Vec<(Time, u32)> =
            self.connections.slab.iter().map(|(index, connection)| (connection.opened, index)).collect();
        youngest.sort_unstable_by(|a, b| b.cmp(a));
        let shown: Vec<Value> =
            youngest.iter().take(limit).map(|&(_, index)| self.connection_json(now, index)).collect();
        let members: usize = self.connections.slab.iter().map(|(_, connection)| connection.flows.len()).sum();
        json!({
            "connections": shown,
            "total": self.connections.slab.len(),
            "flows": self.flows.slab.len() - members,
        })
    }

    /// Paths that have labels or users.
    pub(super) fn show_paths(&self, limit: usize) -> Value {
        let alive: Vec<_> =
            self.paths.slab.iter().filter(|(_, path)| path.labels.is_some() || path.is_used()).collect();
        let name = |switch: u32| self.net.expected.name(self.net.topology.switches[switch as usize].id);
        let shown = alive.iter().take(limit).map(|(index, path)| {
            let cables = (0..).zip(&path.cables[..]).map(|(step, &cable): (usize, _)| {
                let [a, b] = [path.switches[step], path.switches[step + 1]];
                let port = |switch| self.net.topology.end_at(cable, switch);
                format!("{}:{}-{}:{}", name(a), port(a), name(b), port(b))
            });
            let labels = path.labels.into_iter().flatten().map(|label| label.to(0).to_string());
            let subflows = path.flows.iter(by::PATH, &self.flows.slab);
            let subflows = subflows.filter(|&flow| self.flows.slab[flow].connection != NONE).count();
            json!({
                "id": index,
                "switches": path.switches.iter().map(|&switch| name(switch)).collect::<Vec<_>>(),
                "cables": cables.collect::<Vec<_>>(),
                "labels": labels.collect::<Vec<_>>(),
                "state": if path.installed || path.labels.is_none() { "installed" } else { "installing" },
                "subflows": subflows,
                "other": path.flows.len() - subflows + path.routes.len(),
            })
        });
        json!({ "paths": shown.collect::<Vec<_>>(), "total": alive.len() })
    }

    /// Counters and table sizes.
    pub(super) fn all_counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.net.counters();
        let labelled = self.paths.slab.iter().filter(|(_, path)| path.labels.is_some()).count();
        let pending = self.connections.slab.iter().filter(|(_, connection)| !connection.established).count();
        counters.extend([
            ("flows_now", self.flows.slab.len() as u64),
            ("flows_dormant_now", self.flows.dormant.len() as u64),
            ("connections_now", self.connections.slab.len() as u64),
            ("connections_pending_now", pending as u64),
            ("handshakes_now", self.handshakes.len() as u64),
            ("paths_now", labelled as u64),
            ("routes_now", self.routes.slab.len() as u64),
            ("transactions_now", self.transactions.len() as u64),
            ("held_frames_now", self.transactions.held() as u64),
            ("rules_unconfirmed_now", self.budget.len()),
            ("memory_bytes_now", self.bytes() as u64),
        ]);
        counters
    }

    /// Memory of the tables in bytes.
    fn bytes(&self) -> usize {
        self.net.bytes()
            + self.paths.bytes()
            + self.sets.bytes()
            + self.flows.bytes()
            + self.connections.bytes()
            + self.routes.bytes()
            + self.shares.bytes()
    }

    fn connection_json(&self, now: Time, index: u32) -> Value {
        let connection = &self.connections.slab[index];
        let mut subflows: Vec<u32> = connection.flows.iter(by::CONNECTION, &self.flows.slab).collect();
        // A resumed connection's subflows are in the order in which switches reported their rules.
        subflows.sort_by_key(|&flow| self.flows.slab[flow].state.has(State::JOIN));
        let token = |side| connection.token(side).map(|token| format!("{token:08x}"));
        // The ends of the initial subflow, or of the first one still known, from the initiator's side.
        let first = subflows.first().map(|&flow| &self.flows.slab[flow]);
        let end = |side: usize| {
            first.map(|flow| {
                let reversed = flow.state.has(State::FROM_LISTENER);
                flow.key.end(if reversed { 1 - side } else { side }).to_string()
            })
        };
        json!({
            "id": index,
            "version": connection.version as u8,
            "initiator": end(INITIATOR),
            "listener": end(LISTENER),
            "state": if connection.established { "established" } else { "pending" },
            "initiator_token": token(INITIATOR),
            "listener_token": token(LISTENER),
            "age_s": now.saturating_since(connection.opened).as_secs_f64(),
            "subflows": subflows.into_iter().map(|flow| self.subflow_json(flow)).collect::<Vec<_>>(),
        })
    }

    fn subflow_json(&self, flow: u32) -> Value {
        let entry = &self.flows.slab[flow];
        let way = |direction: usize| {
            let Some(path) = self.paths.slab.get(entry.path_of(direction)) else { return Vec::new() };
            let name = |&switch: &u32| self.net.expected.name(self.net.topology.switches[switch as usize].id);
            let mut switches: Vec<String> = path.switches.iter().map(name).collect();
            if path.direction_from(self.net.stations.slab[entry.key.stations[direction]].switch) == 1 {
                switches.reverse();
            }
            switches
        };
        let state = if entry.state.has(State::INSTALLING) {
            "installing"
        } else if entry.state.has(State::DORMANT) {
            "idle"
        } else {
            "active"
        };
        let mut shown = json!({
            "source": entry.key.end(0).to_string(),
            "destination": entry.key.end(1).to_string(),
            "kind": if entry.state.has(State::JOIN) { "join" } else { "initial" },
            "state": state,
            "confirmed": entry.state.has(State::CONFIRMED),
            "path": (entry.path != NONE).then_some(entry.path),
            "switches": way(0),
        });
        if entry.back != NONE {
            shown["switches_back"] = json!(way(1));
        }
        shown
    }
}
