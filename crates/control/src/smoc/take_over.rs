//! Taking over flows and routes: their paths and stations are confirmed first, then the found rules are replaced by
//! the controller's own.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::install::Draft;
use super::resume::LOOK;
use super::resume_flow::Found;
use super::state::Smoc;
use super::target::RulePath;
use crate::clock::Time;
use crate::command::Command;
use crate::label::Label;
use crate::rule::{Match, priority};
use crate::slab::NONE;
use crate::transactions::{Purpose, Resumed};

impl Smoc {
    /// Takes over flows and routes. Once switches have confirmed their paths and stations, the rules that send over them
    /// are replaced by the controller's own.
    pub(super) fn take_over(
        &mut self,
        now: Time,
        ways: Vec<(u32, (u16, Match), RulePath)>,
        out: &mut Vec<Command>,
    ) {
        let mut wanted: BTreeMap<u32, [Option<Label>; 2]> = BTreeMap::new();
        let mut taken = Vec::new();
        for (switch, key, way) in ways {
            let path = self.paths.intern(&way.switches, &way.cables);
            let direction = self.paths.slab[path].direction_from(switch);
            let labels = wanted.entry(path).or_default();
            labels[direction] = labels[direction].or(way.label);
            taken.push((switch, key, way, self.paths.slab.handle(path)));
        }
        for (&path, &labels) in &wanted {
            let ends = self.ends(path);
            let was = self.paths.slab[path].labels.is_some();
            if !was && self.paths.label(now, path, ends, labels, &self.resumption.reserved) {
                self.find_installed(path);
            }
        }
        let mut draft = Draft::new(Purpose::Other);
        let mut resumed = Vec::new();
        for (switch, key, way, path) in taken {
            // Labels that ran out were taken from paths without users yet: the next pass retries.
            if self.paths.slab.find(path).is_none() {
                continue;
            }
            let path = path.index;
            let Some(rule) = self.resumption.left.get_mut(&switch).and_then(|table| table.remove(&key))
            else {
                continue;
            };
            let found = Found { switch, rule: &rule, to: way.station, path };
            let done = match rule.priority {
                priority::FLOW => self.resume_flow(now, &found, out),
                _ => self.resume_route(now, &found, out),
            };
            let Some(done) = done else {
                self.resumption.left.entry(switch).or_default().insert(key, rule);
                continue;
            };
            if !way.cables.is_empty() {
                self.draft_station(&mut draft, way.station);
            }
            let path = match done {
                Resumed::Flow(flow) => self.flows.slab[flow.index].path,
                Resumed::Route(route) => self.routes.slab[route.index].path,
            };
            self.draft_path(&mut draft, path);
            if !resumed.contains(&done) {
                resumed.push(done);
            }
        }
        // Paths that got no users after all.
        for &path in wanted.keys() {
            if self.paths.slab.get(path).is_some() {
                self.paths.unused(now, path);
            }
        }
        if draft.is_empty() {
            self.replace(now, &resumed, out);
        } else {
            self.submit(now, draft.before(resumed), out);
        }
    }

    /// Marks a path as installed if all its rules were found.
    fn find_installed(&mut self, path: u32) {
        let rules = self.path_rules(&self.paths.slab[path]);
        let mut is_whole = true;
        for (switch, rule) in rules {
            let table = self.resumption.left.get_mut(&switch);
            let found = table.and_then(|table| table.remove(&(rule.priority, rule.matches)));
            is_whole &= found.as_ref() == Some(&rule);
        }
        let path = &mut self.paths.slab[path];
        (path.asked, path.installed) = (true, is_whole);
    }

    /// Replaces the rules of flows and routes whose paths and stations are confirmed.
    pub(super) fn replace(&mut self, now: Time, resumed: &[Resumed], out: &mut Vec<Command>) {
        let mut draft = Draft::new(Purpose::Other);
        for &one in resumed {
            match one {
                Resumed::Flow(handle) => self.draft_flow(&mut draft, handle),
                Resumed::Route(handle) => self.draft_found_route(&mut draft, handle),
            }
        }
        self.submit(now, draft, out);
    }

    /// The transaction before a replacement has failed: the next pass retries.
    pub(super) fn not_replaced(&mut self, now: Time, resumed: Vec<Resumed>) {
        if !resumed.is_empty() {
            self.resumption.unreplaced.extend(resumed);
            self.resumption.due = self.resumption.due.min(now + LOOK);
        }
    }

    /// Retries the paths and stations of unreplaced flows and routes whose switches are all connected.
    pub(super) fn replace_again(&mut self, now: Time, out: &mut Vec<Command>) {
        let mut draft = Draft::new(Purpose::Other);
        let (mut again, mut waiting) = (Vec::new(), Vec::new());
        for one in std::mem::take(&mut self.resumption.unreplaced) {
            let Some((path, stations)) = self.sends_over(one) else { continue };
            let switches = &self.paths.slab[path].switches;
            if !switches.iter().all(|&switch| self.net.is_up(switch)) {
                waiting.push(one);
                continue;
            }
            if !self.paths.slab[path].cables.is_empty() {
                stations.into_iter().for_each(|station| self.draft_station(&mut draft, station));
            }
            self.draft_path(&mut draft, path);
            again.push(one);
        }
        self.resumption.unreplaced = waiting;
        if draft.is_empty() {
            self.replace(now, &again, out);
        } else {
            self.submit(now, draft.before(again), out);
        }
    }

    /// The path of a resumed flow or route, and the stations it leads to.
    fn sends_over(&self, resumed: Resumed) -> Option<(u32, SmallVec<[u32; 2]>)> {
        let (path, stations) = match resumed {
            Resumed::Flow(flow) => {
                let flow = self.flows.slab.find(flow)?;
                (flow.path, SmallVec::from_slice(&flow.key.stations))
            }
            Resumed::Route(route) => {
                let route = self.routes.slab.find(route)?;
                (route.path, SmallVec::from_slice(&[route.to]))
            }
        };
        (path != NONE).then_some((path, stations))
    }
}
