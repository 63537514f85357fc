//! The reports of a [`Conductor`]: samples, progress, and the result of the run.

use std::sync::atomic::Ordering;

use weft_units::{LinkId, Time};

use super::Conductor;
use crate::central::ControlPlane;
use crate::deadlock::{Deadlock, PausedQueues};
use crate::hosts::{Hosts, Place};
use crate::jobs::{Course, close};
use crate::partition_set::PartitionSet;
use crate::record::{Counters, LinkReport, Recorder, RunReport};
use crate::setup::Progress;

impl Conductor<'_> {
    pub(super) fn sample<H: Hosts>(
        &mut self,
        now: Time,
        partitions: &PartitionSet<'_, H>,
        recorder: &mut dyn Recorder,
    ) {
        let mut class_bytes = self.ledger.finished_bytes.clone();
        let mut active = 0;
        for number in self.ledger.unfinished() {
            let flow = &self.setup.flows[number as usize];
            let part = partitions.part_of(self.setup.fabric.host_node(flow.dst));
            let delivered = part.delivered(number, &partitions.world);
            active += 1;
            class_bytes[usize::from(flow.class)] += delivered.unwrap_or(0);
        }
        let probe = &mut self.setup.probe;
        let state = |id| (partitions.counters_of(id), partitions.sender_of(id).net.waiting(id));
        self.next_sample = probe.sample(self.setup.fabric, now, state, &class_bytes, active, recorder);
        if probe.samples_switches() {
            for node in self.setup.fabric.switches() {
                let mut part = partitions.part_of(node);
                let switches = &mut part.switches;
                let number = switches.number_of(node).expect("each switch is in its partition");
                let entries = switches.table_entries(number, now);
                probe.sample_switch(now, node, entries, recorder);
            }
        }
        self.look_for_deadlock(now, partitions);
    }

    /// Looks for queues that pause each other for ever, unless some have been found before.
    fn look_for_deadlock<H: Hosts>(&mut self, now: Time, partitions: &PartitionSet<'_, H>) {
        if self.deadlock.is_some() || !self.setup.fabric.uses_pfc() {
            return;
        }
        let mut found = PausedQueues::default();
        partitions.parts().for_each(|part| part.net.add_paused(&mut found));
        partitions.parts().for_each(|part| part.net.add_held(&mut found));
        let queues = found.circle();
        self.deadlock = (!queues.is_empty()).then_some(Deadlock { at: now, queues });
    }

    pub(super) fn report_progress<H: Hosts>(&self, partitions: &PartitionSet<'_, H>, progress: &Progress) {
        let (mut now, mut hops, mut data) = (Time::ZERO, 0, 0);
        for part in partitions.parts() {
            now = now.max(part.net.now);
            hops += part.net.counters.packet_hops;
            data += part.net.counters.data_packets;
        }
        progress.time_ps.store(now.ps(), Ordering::Relaxed);
        progress.packet_hops.store(hops, Ordering::Relaxed);
        progress.data_packets.store(data, Ordering::Relaxed);
        progress.flows.store(self.ledger.finished, Ordering::Relaxed);
    }

    /// Records the remaining flows and builds the report.
    pub fn finish<H: Hosts>(
        &mut self,
        partitions: &PartitionSet<'_, H>,
        recorder: &mut dyn Recorder,
        stopped: bool,
    ) -> RunReport {
        partitions.settle();
        let fabric = self.setup.fabric;
        let works = &partitions.world.waiting.works;
        let is_over = self.ledger.over == self.setup.flows.len() as u64 && works.all_begun();
        let last = partitions.parts().map(|part| part.net.now).max().unwrap_or(Time::ZERO);
        let end = match is_over {
            true => self.ledger.last_over.max(works.last_end().min(self.setup.limit)),
            false => last,
        };
        for mut part in partitions.parts() {
            part.net.now = last;
            // Lines that became free after the last event, too.
            if let Some(end) = self.end {
                part.net.serve_all_before(end);
            }
        }
        let mut started = Vec::new();
        for part in partitions.parts() {
            started.extend(part.started());
        }
        started.sort_unstable();
        for &number in &started {
            let flow = &self.setup.flows[number as usize];
            for (side, host) in [flow.src, flow.dst].into_iter().enumerate() {
                let mut part = partitions.part_of(fabric.host_node(host));
                if partitions.world.places.get(number, side) != Place::Gone {
                    part.leave(number, side, &partitions.world);
                }
            }
        }
        self.join(partitions, recorder);
        let course = Course {
            flows: self.setup.flows,
            table: self.setup.dependencies,
            jobs: self.setup.jobs,
            parts: self.setup.parts,
            arrivals: &partitions.world.arrivals,
            waiting: &partitions.world.waiting,
            spans: &self.ledger.spans,
            lookahead: self.lookahead,
            limit: self.setup.limit,
        };
        close(course, &mut self.ledger.jobs, recorder);
        self.look_for_deadlock(end, partitions);
        while self.window.next().is_some() {
            self.window.read(fabric, |id| partitions.counters_of(id).wire_bytes);
        }
        let mut total = Counters::default();
        let mut state_bytes = 0;
        for mut part in partitions.parts() {
            let net = &mut part.net;
            net.counters.packets_in_flight = net.packets.live() as u64;
            total.add(&net.counters);
            state_bytes += part.memory() as u64;
        }
        total.packets_in_flight += self.central.as_ref().map_or(0, ControlPlane::waiting) as u64;
        let links = (0..fabric.links().len() as u32).map(LinkId);
        RunReport {
            stopped,
            end,
            window: self.setup.window,
            counters: total,
            flows_started: started.len() as u64,
            flows_finished: self.ledger.finished,
            links: links.map(|id| self.link_report(id, partitions)).collect(),
            events: self.ledger.events.clone(),
            controller: self.central.as_ref().map(ControlPlane::report),
            multipath: self.ledger.multipath,
            deadlock: self.deadlock.clone(),
            jobs: self.ledger.jobs.clone(),
            state_bytes,
        }
    }

    fn link_report<H: Hosts>(&self, id: LinkId, partitions: &PartitionSet<'_, H>) -> LinkReport {
        let receiver = partitions.part_of(self.setup.fabric.link(id).to);
        let floods = receiver.net.floods_of(id);
        drop(receiver);
        let counters = partitions.counters_of(id);
        let sender = partitions.sender_of(id);
        LinkReport {
            id,
            counters,
            port: sender.net.port_counters(id),
            window_bytes: self.window.bytes(id),
            floods,
            up: sender.net.is_up(id),
        }
    }
}
