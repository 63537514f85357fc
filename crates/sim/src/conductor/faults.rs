//! How a [`Conductor`] lets links fail, heal and change, and recomputes routes.

use std::sync::Arc;

use weft_fabric::EqualCost;
use weft_scenario::LinkChange;
use weft_units::{Duration, LinkId, Time};

use super::Conductor;
use crate::fault::FaultKind;
use crate::hosts::Hosts;
use crate::partition_set::PartitionSet;
use crate::trace::TraceEvent;

impl Conductor<'_> {
    /// Applies a failure, restoration or change of links.
    pub(super) fn fault<H: Hosts>(&mut self, now: Time, partitions: &PartitionSet<'_, H>) {
        let faults = self.setup.faults;
        let fault = &faults[self.next_fault];
        self.next_fault += 1;
        let is_visible = match &fault.kind {
            FaultKind::Fail => self.switch(now, &fault.links, false, partitions),
            FaultKind::Heal => self.switch(now, &fault.links, true, partitions),
            FaultKind::Change(change) => self.change(now, &fault.links, change, partitions),
        };
        if is_visible && now > Time::ZERO && self.setup.reaction > Duration::ZERO {
            self.reroutes.insert(now + self.setup.reaction);
        } else if is_visible {
            self.reroute(partitions);
        }
    }

    /// Takes links down or up; returns that routes have to follow.
    fn switch<H: Hosts>(
        &mut self,
        now: Time,
        links: &[LinkId],
        up: bool,
        partitions: &PartitionSet<'_, H>,
    ) -> bool {
        let fabric = self.setup.fabric;
        for id in self.ledger.event(now, if up { &[] } else { links }) {
            let source = fabric.host_node(self.setup.flows[id.flow as usize].src);
            partitions.part_of(source).follow(id.flow, id.subflow, &partitions.world);
        }
        // First all of them: what a port or a switch then sends on another link of this event would reach the next partition.
        for &id in links {
            for mut part in partitions.parts() {
                part.net.trace(|_| TraceEvent::LinkChanged { link: id, up });
                if !up {
                    part.cut(id);
                }
            }
        }
        for &id in links {
            partitions.parts().for_each(|mut part| part.set_up(id, up, &partitions.world));
        }
        if let Some(central) = &mut self.central {
            central.links_changed(now, fabric, links, up);
        }
        let is_up = |id: LinkId| partitions.sender_of(id).net.is_up(id);
        let shortest = Arc::new(EqualCost::compute_where(fabric, is_up));
        let ids = (0..fabric.links().len() as u32).map(LinkId);
        let down = Arc::new(ids.filter(|id| !is_up(*id)).collect());
        partitions.parts().for_each(|mut part| part.set_shortest(&shortest, &down));
        true
    }

    /// Changes rates and losses of links; returns whether routes have to follow.
    fn change<H: Hosts>(
        &mut self,
        now: Time,
        links: &[LinkId],
        change: &LinkChange,
        partitions: &PartitionSet<'_, H>,
    ) -> bool {
        self.ledger.event(now, &[]);
        let is_gray = change.loss.is_some() || change.blackhole.is_some();
        let number = self.ledger.events.len() as u32;
        for &id in links {
            if is_gray {
                partitions.sender_of(id).net.set_losses(id, change, self.setup.seed, number);
            }
            if let Some(rate) = change.rate {
                let rate = rate.of(self.setup.fabric.link(id).rate);
                partitions.parts().for_each(|mut part| part.net.set_rate(id, rate));
            }
        }
        change.rate.is_some()
    }

    /// Recomputes the routes from the links' current states and rates.
    pub(super) fn reroute<H: Hosts>(&self, partitions: &PartitionSet<'_, H>) {
        let is_up = |id: LinkId| partitions.sender_of(id).net.is_up(id);
        let rate = |id: LinkId| partitions.sender_of(id).net.rate(id);
        let routes = self.setup.routes_over(is_up, rate);
        for mut part in partitions.parts() {
            part.reroute(&routes, &partitions.world);
        }
    }
}
