//! Ports and links that come and go: affected traffic is moved.

use super::install::Draft;
use super::rules::{Changes, guard};
use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, at_once};
use crate::flows::by;
use crate::routes;
use crate::rule::RuleChange;
use crate::topology::Change;
use crate::transactions::Purpose;

impl Smoc {
    /// Ports or links have changed.
    pub(super) fn changed(&mut self, now: Time, change: &Change, out: &mut Vec<Command>) {
        self.net.count(change);
        if change.paths {
            self.sets.clear(&mut self.paths);
        }
        for &cable in &change.cut {
            self.cut(now, cable, out);
        }
        if change.made > 0 {
            self.spread_later(now);
        }
        let mut changes = Changes::new();
        let mut ports = change.ports.clone();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            let entry = &self.net.topology.ports[port as usize];
            let (switch, rule) = (entry.switch, guard(entry.number));
            if self.net.topology.leads_to_switch(port) {
                self.net.change(&mut changes, switch, rule.removal());
                // Stations learned there were behind another switch.
                for station in self.net.stations.at_port(port).to_vec() {
                    self.remove_station(now, station, out);
                }
            } else if !self.net.topology.is_kept(port) {
                self.net.change(&mut changes, switch, RuleChange::Add(rule));
            }
        }
        at_once(changes, out);
        if change.made > 0 {
            self.resumption.look_again(now);
        }
    }

    /// A link has failed: its traffic is moved, or its rules are removed so that the next packet goes to the controller.
    fn cut(&mut self, now: Time, cable: u32, out: &mut Vec<Command>) {
        let over = |path: &crate::paths::Path| path.cables.contains(&cable);
        let affected: Vec<u32> =
            self.paths.slab.iter().filter(|(_, path)| over(path)).map(|(index, _)| index).collect();
        for path in affected {
            self.move_away(now, path, out);
            // It has no users now; its labels are released without waiting.
            if self.paths.slab.get(path).is_some_and(|path| path.labels.is_some()) {
                let was = self.paths.unlabel(path);
                at_once(self.path_removals(&was), out);
            }
        }
    }

    /// Moves everything off a failed path. Flows and routes without another path lose their rules.
    fn move_away(&mut self, now: Time, path: u32, out: &mut Vec<Command>) {
        let Some(entry) = self.paths.slab.get(path) else { return };
        let flows: Vec<u32> = entry.flows.iter(by::PATH, &self.flows.slab).collect();
        for flow in flows {
            let moved = self.choose(flow).is_some_and(|other| {
                debug_assert_ne!(other, path, "a path over a failed link");
                self.move_flow(now, flow, other, out)
            });
            if !moved {
                self.net.counters.flows_cut += 1;
                let mut changes = Changes::new();
                self.put_to_sleep(now, flow, &mut changes, out);
                at_once(changes, out);
            }
        }
        let Some(entry) = self.paths.slab.get(path) else { return };
        let backs: Vec<u32> = entry.backs.iter(by::BACK, &self.flows.slab).collect();
        for flow in backs {
            self.unpath_back(now, flow);
            self.put_back(now, flow, out);
            self.net.counters.flows_moved += 1;
            self.install_flow(now, flow, None, out);
        }
        let Some(entry) = self.paths.slab.get(path) else { return };
        let routes: Vec<u32> = entry.routes.iter(routes::by::PATH, &self.routes.slab).collect();
        for route in routes {
            let moved = self.move_route(now, route, out);
            if !moved {
                let mut changes = Changes::new();
                self.drop_route(now, route, &mut changes, out);
                at_once(changes, out);
            }
        }
    }

    /// Moves a route to the current shortest path. `false` if there is none.
    fn move_route(&mut self, now: Time, route: u32, out: &mut Vec<Command>) -> bool {
        let (from, to, before) = {
            let entry = &self.routes.slab[route];
            (entry.switch, entry.to, entry.path)
        };
        let there = self.net.stations.slab[to].switch;
        // As at creation: the path set follows the order of the first frame's stations; either order will do.
        let Some(path) = self.first_usable(from, there) else { return false };
        if !self.label(now, path, out) {
            return false;
        }
        self.paths.slab[before].routes.remove(routes::by::PATH, &mut self.routes.slab, route);
        self.paths.unused(now, before);
        if self.put_route_on(now, route, path, out) {
            let held = self.transactions.leave_route(route);
            let mut draft = Draft::new(Purpose::Other).holding(held);
            self.draft_route(&mut draft, route);
            self.submit(now, draft, out);
        }
        true
    }
}
