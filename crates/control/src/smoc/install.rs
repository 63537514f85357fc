//! Requesting rules from switches, and handling the answers.

use super::rules::Changes;
use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, Transaction, at_once, send_held};
use crate::flows::State;
use crate::ids::{FrameRef, SwitchId, SwitchPort};
use crate::rule::RuleChange;
use crate::settings::Reverse;
use crate::slab::Handle;
use crate::station::Station;
use crate::transactions::{Open, Purpose, Resumed};

/// A transaction under construction.
#[derive(Default)]
pub(super) struct Draft {
    changes: Changes,
    open: Open,
    release: Vec<(SwitchPort, FrameRef)>,
    /// The port whose hosts caused it.
    port: Option<u32>,
}

impl Draft {
    /// An empty transaction.
    pub fn new(purpose: Purpose) -> Self {
        Self { open: Open { purpose, ..Open::default() }, ..Self::default() }
    }

    /// Charges its rules to a port's budget until switches confirm them.
    pub fn charged(mut self, port: u32) -> Self {
        self.port = Some(port);
        self
    }

    /// Sets a frame to send after confirmation, with its ingress port.
    pub fn releasing(mut self, frame: Option<(SwitchPort, FrameRef)>) -> Self {
        self.open.frame = frame.map(|(_, frame)| frame);
        self.release = frame.into_iter().collect();
        self
    }

    /// Whether it has no rules.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Sets the flows and routes whose old rules are to be replaced after confirmation.
    pub fn before(mut self, resumed: Vec<Resumed>) -> Self {
        self.open.before = resumed;
        self
    }

    /// Sets frames that keep waiting.
    pub fn holding(mut self, held: Vec<(SwitchPort, FrameRef)>) -> Self {
        self.open.held = held;
        self
    }
}

impl Smoc {
    /// Adds a rule that a switch has to confirm.
    pub(super) fn draft_rule(&self, draft: &mut Draft, switch: u32, change: RuleChange) {
        if self.net.is_up(switch) {
            self.net.change(&mut draft.changes, switch, change);
            if !draft.open.switches.contains(&switch) {
                draft.open.switches.push(switch);
            }
        }
    }

    /// Adds the delivery rule of a station unless its switch has confirmed it.
    pub(super) fn draft_station(&mut self, draft: &mut Draft, station: u32) {
        if self.net.stations.slab[station].installed {
            return;
        }
        let rule = self.station_rule(station);
        let handle = self.net.stations.slab.handle(station);
        let entry = &mut self.net.stations.slab[station];
        entry.asked = true;
        let place = (handle, entry.switch, entry.number);
        if !draft.open.stations.contains(&place) {
            draft.open.stations.push(place);
            self.draft_rule(draft, place.1, RuleChange::Add(rule));
        }
    }

    /// Adds the rules of a path unless all its switches have confirmed them. Even if another transaction has requested
    /// them, frames waiting for this one must not be sent before they are installed.
    pub(super) fn draft_path(&mut self, draft: &mut Draft, index: u32) {
        let path = &self.paths.slab[index];
        if path.installed
            || path.labels.is_none()
            || draft.open.paths.iter().any(|(other, _)| *other == index)
        {
            return;
        }
        for (switch, rule) in self.path_rules(path) {
            self.draft_rule(draft, switch, RuleChange::Add(rule));
        }
        draft.open.paths.push((index, path.serial));
        self.paths.slab[index].asked = true;
    }

    /// Adds the rule of a route, and the station and path rules it depends on.
    pub(super) fn draft_route(&mut self, draft: &mut Draft, route: u32) {
        let entry = &self.routes.slab[route];
        let (to, path) = (entry.to, entry.path);
        if !self.paths.slab[path].cables.is_empty() {
            self.draft_station(draft, to);
        }
        self.draft_path(draft, path);
        let (switch, rule) = self.route_rule(route);
        self.draft_rule(draft, switch, RuleChange::Add(rule));
        draft.open.routes.push(self.routes.slab.handle(route));
        self.routes.slab[route].installing = true;
    }

    /// Submits a transaction; one without changes and frames is dropped.
    pub(super) fn submit(&mut self, now: Time, draft: Draft, out: &mut Vec<Command>) {
        let Draft { changes, open, release, port } = draft;
        if changes.is_empty() && release.is_empty() && open.held.is_empty() {
            return;
        }
        let id = self.transactions.open(now, open);
        if let Some(port) = port {
            for (switch, _) in &changes {
                if let Some(switch) = self.net.topology.switch(*switch) {
                    self.budget.charge(now, id, switch, port);
                }
            }
        }
        out.push(Command::Install(Transaction { id, rules: changes, release }));
    }

    /// Requests the rules of a flow that has a path: its current ones, or both for `frame`.
    pub(super) fn install_flow(
        &mut self,
        now: Time,
        flow: u32,
        frame: Option<(SwitchPort, FrameRef)>,
        out: &mut Vec<Command>,
    ) {
        let held = self.transactions.leave_flow(flow);
        let handle = self.flows.slab.handle(flow);
        let mut draft = Draft::new(Purpose::Flow(handle)).releasing(frame).holding(held);
        if let Some((at, _)) = frame
            && let Some(port) = self.net.topology.port_at(at)
        {
            draft = draft.charged(port);
        }
        let entry = &mut self.flows.slab[flow];
        let was = entry.state;
        if frame.is_some() {
            entry.state.set(State::FORWARD.and(State::REVERSE), true);
        }
        entry.state.set(State::INSTALLING, true);
        entry.since = now;
        let (stations, path, back, state) = (entry.key.stations, entry.path, entry.path_of(1), entry.state);
        let mends = frame.is_none() && !was.has(State::INSTALLING);
        if !self.paths.slab[path].cables.is_empty() {
            self.draft_station(&mut draft, stations[1]);
            self.draft_station(&mut draft, stations[0]);
        }
        self.draft_path(&mut draft, path);
        self.draft_path(&mut draft, back);
        for direction in [1, 0] {
            if state.has(State::RULES[direction]) {
                let (switch, rule) = self.flow_rule(flow, direction);
                // A rule that has idled out in the meantime is not installed again.
                let change = if mends { RuleChange::Modify(rule) } else { RuleChange::Add(rule) };
                self.draft_rule(&mut draft, switch, change);
            }
        }
        self.submit(now, draft, out);
    }

    /// Moves a flow with rules to another path. `false` if that path gets no labels.
    pub(super) fn move_flow(&mut self, now: Time, flow: u32, path: u32, out: &mut Vec<Command>) -> bool {
        // Take the new path before releasing the old one.
        if !self.label(now, path, out) {
            return false;
        }
        self.unpath(now, flow);
        self.net.counters.flows_moved += 1;
        if self.put_on(now, flow, path, out) {
            self.install_flow(now, flow, None, out);
        }
        true
    }

    /// Installs the next paths of a set in advance (section 5 of the paper).
    pub(super) fn prepare(&mut self, now: Time, port: u32, [from, to]: [u32; 2], out: &mut Vec<Command>) {
        let count = self.net.settings.proactive_paths;
        let mut paths: Vec<u32> = self.set(from, to).iter().copied().take(count).collect();
        if self.net.settings.reverse == Reverse::Own {
            paths.extend(self.set(to, from).iter().take(count));
        }
        let mut draft = Draft::new(Purpose::Other).charged(port);
        for path in paths {
            if !self.is_usable(path) {
                continue;
            }
            if self.paths.slab[path].asked {
                self.paths.unused(now, path);
            } else if self.label(now, path, out) {
                self.draft_path(&mut draft, path);
            }
        }
        self.submit(now, draft, out);
    }

    /// All switches have confirmed a transaction.
    pub(super) fn confirmed(&mut self, now: Time, number: u64, out: &mut Vec<Command>) {
        self.budget.settle_all(now, number);
        let current = self.current(number);
        let Some(open) = self.transactions.close(number) else { return };
        self.net.counters.installs += 1;
        for (index, serial) in open.paths {
            if let Some(path) = self.paths.slab.get(index)
                && path.labels.is_some()
                && path.serial == serial
            {
                self.paths.slab[index].installed = true;
            }
        }
        for (handle, switch, number) in open.stations {
            let same = |station: &Station| (station.switch, station.number) == (switch, number);
            if self.net.stations.slab.find(handle).is_some_and(same) {
                self.net.stations.slab[handle.index].installed = true;
            }
        }
        for handle in open.routes {
            if self.routes.slab.find(handle).is_some() {
                self.routes.slab[handle.index].installing = false;
            }
        }
        if let Some(flow) = current {
            self.flows.slab[flow].state.set(State::INSTALLING, false);
            self.flows.slab[flow].since = now;
        }
        if !open.before.is_empty() {
            self.replace(now, &open.before, out);
        }
        out.extend(open.frame.map(Command::Forget));
        send_held(open.held, out);
    }

    /// A switch refused a part of a transaction, disconnected or did not answer. The transaction is rolled back, so that
    /// the next packet goes to the controller again.
    pub(super) fn refused(
        &mut self,
        now: Time,
        number: u64,
        switch: SwitchId,
        reason: &str,
        out: &mut Vec<Command>,
    ) {
        let current = self.current(number);
        let Some(open) = self.transactions.close(number) else { return };
        self.net.install_failed(switch, reason);
        for (index, serial) in open.paths {
            // A path in use is still needed: a reconnecting switch gets its rules.
            if let Some(path) = self.paths.slab.get(index)
                && path.serial == serial
                && !path.installed
                && !path.is_used()
            {
                self.paths.slab[index].asked = false;
            }
        }
        let mut changes = Changes::new();
        if let Some(flow) = current {
            self.put_to_sleep(now, flow, &mut changes, out);
        }
        for handle in open.routes {
            if self.routes.slab.find(handle).is_some_and(|route| route.installing) {
                self.drop_route(now, handle.index, &mut changes, out);
            }
        }
        self.not_replaced(now, open.before);
        for frame in open.frame.into_iter().chain(open.held.into_iter().map(|(_, frame)| frame)) {
            self.net.drop_frame(frame, out);
        }
        at_once(changes, out);
    }

    /// The flow installed by a transaction, unless a later one installs it too.
    fn current(&self, number: u64) -> Option<u32> {
        let Purpose::Flow(Handle { index, generation }) = self.transactions.get(number)?.purpose else {
            return None;
        };
        let same = self.flows.slab.find(Handle { index, generation }).is_some();
        (same && self.transactions.of_flow(index) == Some(number)).then_some(index)
    }
}
