//! [`Conductor`]: leads a run from window to window, and does in between what concerns more than one partition: faults,
//! samples, the central controller, the flows' records, the end of the run.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use weft_fabric::EqualCost;
use weft_scenario::LinkChange;
use weft_switching::Forwarding;
use weft_units::{Duration, LinkId, Time};

use crate::central::ControlPlane;
use crate::control_message::Effect;
use crate::deadlock::{Deadlock, PausedQueues};
use crate::effects::{carry_out, flow_counts};
use crate::fault::FaultKind;
use crate::flow_ledger::{FlowLedger, LedgerAction};
use crate::hosts::{Hosts, Place};
use crate::journal::{Entry, FlowNumber, News, SubflowId};
use crate::partition::{Notice, Partition};
use crate::partition_set::PartitionSet;
use crate::record::{Counters, LinkReport, Recorder, RunReport};
use crate::setup::{Progress, Setup};
use crate::trace::{Trace, TraceEvent};
use crate::waiting::point_of;
use crate::window::Window;

/// Events of one partition between two looks at [`Progress::stop`].
const MANY: u32 = 1 << 16;
/// Windows between two updates of [`Progress`].
const WINDOWS: u32 = 1 << 4;
/// The shortest time.
const INSTANT: Duration = Duration::from_ps(1);

/// A run, as it is between windows.
pub struct Conductor<'a> {
    setup: Setup<'a>,
    central: Option<ControlPlane>,
    ledger: FlowLedger<'a>,
    window: Window,
    next_fault: usize,
    /// When routes are recomputed.
    reroutes: BTreeSet<Time>,
    next_sample: Time,
    /// The first deadlock of flow control that a sample or the end of the run has found.
    deadlock: Option<Deadlock>,
    /// The time from news to its consequences.
    lookahead: Duration,
    /// The length of a window.
    step: Duration,
    /// The end of the run, once everything before it has happened.
    end: Option<Time>,
}

/// An action of the engine between windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Global {
    Fault,
    Reroute,
    Central,
    Window,
    Sample,
}

impl<'a> Conductor<'a> {
    /// A run at its start, where news takes `lookahead` to its consequences and a window is as long as `step`.
    pub fn new(setup: Setup<'a>, central: Option<ControlPlane>, lookahead: Duration, step: Duration) -> Self {
        Self {
            central,
            ledger: FlowLedger::new(setup.classes, setup.jobs, setup.connections),
            window: Window::new(setup.window),
            next_fault: 0,
            reroutes: BTreeSet::new(),
            next_sample: setup.probe.start().unwrap_or(Time::MAX),
            deadlock: None,
            lookahead,
            step,
            end: None,
            setup,
        }
    }

    /// The rules that are installed before the start.
    pub fn start<H: Hosts>(&mut self, partitions: &PartitionSet<'_, H>) {
        for effect in self.central.iter_mut().flat_map(|central| central.start(self.setup.fabric)) {
            carry_out(effect, partitions);
        }
        partitions.settle();
    }

    /// The main loop; returns whether the run was stopped.
    pub fn drive<H: Hosts>(
        &mut self,
        partitions: &PartitionSet<'_, H>,
        progress: &Progress,
        recorder: &mut dyn Recorder,
    ) -> bool {
        let undivided = partitions.count() == 1;
        let after_limit = self.setup.limit + INSTANT;
        let flows = self.setup.flows.len() as u64;
        let mut until_progress = 0;
        if recorder.traces() {
            let followed = recorder.followed();
            partitions.part(0).net.trace = Some(Box::new(Trace { followed, ..Trace::default() }));
        }
        loop {
            if partitions.take_news() {
                self.join(partitions, recorder);
            }
            if until_progress == 0 || undivided {
                until_progress = WINDOWS;
                self.report_progress(partitions, progress);
            }
            until_progress -= 1;
            if progress.stop.load(Ordering::Relaxed) {
                return true;
            }
            // Both sides of the last flow leave a lookahead after its end.
            let is_over = self.ledger.over == flows;
            let end = if is_over { self.ledger.last_over + self.lookahead + INSTANT } else { after_limit };
            let end = end.min(after_limit);
            let first = partitions.first();
            let global = if is_over { None } else { self.next_global() };
            let pause = global.map_or(end, |(time, _)| time.min(end));
            if let Some((time, what)) = global.filter(|(time, _)| *time < end && *time <= first) {
                partitions.settle();
                for mut part in partitions.parts() {
                    part.net.now = time;
                }
                if matches!(what, Global::Sample | Global::Window) {
                    partitions.parts().for_each(|mut part| part.net.serve_all_before(time));
                }
                match what {
                    Global::Sample => self.sample(time, partitions, recorder),
                    _ => {
                        self.act(what, time, partitions);
                        pass_on(partitions, recorder);
                    }
                }
                partitions.settle();
            } else if first >= end {
                self.end = Some(end);
                return false;
            } else if undivided {
                partitions.work_alone(pause, MANY);
                pass_on(partitions, recorder);
            } else {
                partitions.work(pause.min(first + self.step));
                if let Some(loads) = &progress.loads {
                    let events =
                        |part: &Partition<'_, H>| part.net.counters.events + part.net.counters.packet_hops;
                    let events: Vec<u64> = partitions.parts().map(|part| events(&part)).collect();
                    loads.lock().unwrap_or_else(PoisonError::into_inner).add(&events);
                }
            }
        }
    }

    /// The next global action, and its time.
    fn next_global(&self) -> Option<(Time, Global)> {
        let fault = self.setup.faults.get(self.next_fault).map(|fault| (fault.at, Global::Fault));
        let reroute = self.reroutes.first().map(|at| (*at, Global::Reroute));
        let central = self.central.as_ref().map(|central| (central.next(), Global::Central));
        let window = self.window.next().map(|time| (time, Global::Window));
        let sample = Some((self.next_sample, Global::Sample));
        // New routes ignore a fault at the same instant.
        let all = [reroute, fault, central, window, sample].into_iter().flatten();
        all.filter(|(time, _)| *time < Time::MAX).min_by_key(|(time, _)| *time)
    }

    fn act<H: Hosts>(&mut self, what: Global, now: Time, partitions: &PartitionSet<'_, H>) {
        match what {
            Global::Fault => self.fault(now, partitions),
            Global::Reroute => {
                self.reroutes.remove(&now);
                self.reroute(partitions);
            }
            Global::Central => {
                let Some(central) = &mut self.central else { return };
                for effect in central.run(now) {
                    match effect {
                        Effect::Count(switch) => {
                            central.counted(now, switch, flow_counts(switch, partitions))
                        }
                        effect => carry_out(effect, partitions),
                    }
                }
            }
            Global::Window => self.window.read(self.setup.fabric, |id| partitions.counters_of(id).wire_bytes),
            Global::Sample => {}
        }
    }

    /// Enters the news of all partitions in the book, in order of time, and sends out the notices that follow.
    fn join<H: Hosts>(&mut self, partitions: &PartitionSet<'_, H>, recorder: &mut dyn Recorder) {
        let mut entries: Vec<Entry> = Vec::new();
        for mut part in partitions.parts() {
            let journal = &mut part.net.journal;
            journal.is_urgent = false;
            entries.append(&mut journal.entries);
        }
        entries.sort_by_key(|entry| (entry.at, entry.node));
        for Entry { at, node, news } in entries {
            if let Some((flow, point)) = point_of(&news) {
                let after = partitions.world.waiting.after(flow, point);
                for (edge, host, _) in after.filter(|(_, _, is_there)| !is_there) {
                    let time = at + self.lookahead;
                    let node = self.setup.fabric.host_node(host);
                    partitions.part_of(node).notify(time, Notice::Meet(edge));
                    partitions.expect(time);
                }
            }
            match (news, &mut self.central) {
                (News::Reported(reported), Some(central)) => central.reported(at, node, *reported),
                (News::RuleRemoved { cookie, packets, bytes }, Some(central)) => {
                    central.rule_removed(at, node, (cookie, packets, bytes));
                }
                (news, _) => {
                    let action = self.ledger.enter(at, news, self.setup.flows, recorder);
                    if let Some(action) = action {
                        self.notify(at + self.lookahead, action, partitions);
                    }
                }
            }
        }
    }

    fn notify<H: Hosts>(&self, at: Time, action: LedgerAction, partitions: &PartitionSet<'_, H>) {
        let host = |flow: FlowNumber, side: usize| {
            let flow = &self.setup.flows[flow as usize];
            self.setup.fabric.host_node([flow.src, flow.dst][side])
        };
        let notices: &[_] = match action {
            LedgerAction::Follow(SubflowId { flow, subflow }) => {
                &[(host(flow, 0), Notice::Follow(flow, subflow))]
            }
            LedgerAction::Over(flow) => &[0, 1].map(|side| (host(flow, side), Notice::Leave(flow, side))),
        };
        for (node, notice) in notices {
            partitions.part_of(*node).notify(at, *notice);
            partitions.expect(at);
        }
    }

    /// Applies a failure, restoration or change of links.
    fn fault<H: Hosts>(&mut self, now: Time, partitions: &PartitionSet<'_, H>) {
        let faults = self.setup.faults;
        let fault = &faults[self.next_fault];
        self.next_fault += 1;
        let is_visible = match &fault.kind {
            FaultKind::Fail => self.switch(now, (&fault.links, false), partitions),
            FaultKind::Heal => self.switch(now, (&fault.links, true), partitions),
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
        (links, up): (&[LinkId], bool),
        partitions: &PartitionSet<'_, H>,
    ) -> bool {
        let fabric = self.setup.fabric;
        for id in self.ledger.event(now, if up { &[] } else { links }) {
            let source = fabric.host_node(self.setup.flows[id.flow as usize].src);
            partitions.part_of(source).follow(id.flow, id.subflow, &partitions.world);
        }
        for &id in links {
            for mut part in partitions.parts() {
                part.net.trace(|_| TraceEvent::LinkChanged { link: id, up });
                part.set_up(id, up, &partitions.world);
            }
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
    fn reroute<H: Hosts>(&self, partitions: &PartitionSet<'_, H>) {
        let is_up = |id: LinkId| partitions.sender_of(id).net.is_up(id);
        let rate = |id: LinkId| partitions.sender_of(id).net.rate(id);
        let routes = Arc::new(Forwarding::with_rates(self.setup.fabric, is_up, rate));
        for mut part in partitions.parts() {
            part.reroute(&routes, &partitions.world);
        }
    }

    fn sample<H: Hosts>(&mut self, now: Time, partitions: &PartitionSet<'_, H>, recorder: &mut dyn Recorder) {
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
        self.next_sample = probe.sample(self.setup.fabric, now, state, (&class_bytes, active), recorder);
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

    fn report_progress<H: Hosts>(&self, partitions: &PartitionSet<'_, H>, progress: &Progress) {
        let (mut now, mut hops) = (Time::ZERO, 0);
        for part in partitions.parts() {
            now = now.max(part.net.now);
            hops += part.net.counters.packet_hops;
        }
        progress.time_ps.store(now.ps(), Ordering::Relaxed);
        progress.packet_hops.store(hops, Ordering::Relaxed);
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
        let is_over = self.ledger.over == self.setup.flows.len() as u64;
        let last = partitions.parts().map(|part| part.net.now).max().unwrap_or(Time::ZERO);
        let end = if is_over { self.ledger.last_over } else { last };
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

/// Passes the trace on to a recorder.
fn pass_on<H: Hosts>(partitions: &PartitionSet<'_, H>, recorder: &mut dyn Recorder) {
    if let Some(trace) = &mut partitions.part(0).net.trace {
        trace.events.drain(..).for_each(|(time, event)| recorder.trace(time, event));
    }
}
