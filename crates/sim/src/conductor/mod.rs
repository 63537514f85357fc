//! [`Conductor`]: leads a run from window to window, and handles in between all that concerns several partitions:
//! faults, samples, the central controller, the flows' records, the end of the run.

mod faults;
mod report;

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use weft_units::{Duration, Time};

use crate::central::ControlPlane;
use crate::control_message::Effect;
use crate::deadlock::Deadlock;
use crate::effects::{carry_out, flow_counts};
use crate::flow_ledger::{FlowLedger, LedgerAction};
use crate::hosts::Hosts;
use crate::journal::{Entry, FlowNumber, News, SubflowId};
use crate::partition::Notice;
use crate::partition_set::PartitionSet;
use crate::record::Recorder;
use crate::setup::{Progress, Setup};
use crate::trace::Trace;
use crate::waiting::point_of;
use crate::window::Window;

/// Events of one partition between two looks at [`Progress::stop`].
const MANY: u32 = 1 << 16;
/// Windows between two updates of [`Progress`].
const WINDOWS: u32 = 1 << 4;

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
            ledger: FlowLedger::new(
                setup.flows.len(),
                setup.classes,
                setup.jobs,
                setup.connections,
                setup.parts,
            ),
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
        let undivided = partitions.count() == 1 && !partitions.world.has_rounds;
        let after_limit = self.setup.limit + Duration::PICOSECOND;
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
            let is_over = self.ledger.over == flows && partitions.world.waiting.works.all_begun();
            let end = if is_over {
                self.ledger.last_over + self.lookahead + Duration::PICOSECOND
            } else {
                after_limit
            };
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
                    let events: Vec<u64> =
                        partitions.parts().map(|part| part.net.counters.all_events()).collect();
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

    /// Enters the journal entries of all partitions in the ledger, in order of time, and sends the resulting notices.
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
                    partitions.part_of(node).notify(node, time, Notice::Satisfied(edge));
                    partitions.expect(time);
                }
            }
            match (news, &mut self.central) {
                (News::Reported(reported), Some(central)) => central.reported(at, node, *reported),
                (News::RuleRemoved { cookie, packets, bytes }, Some(central)) => {
                    central.rule_removed(at, node, cookie, packets, bytes);
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
            partitions.part_of(*node).notify(*node, at, *notice);
            partitions.expect(at);
        }
    }
}

/// Passes the trace on to a recorder.
fn pass_on<H: Hosts>(partitions: &PartitionSet<'_, H>, recorder: &mut dyn Recorder) {
    if let Some(trace) = &mut partitions.part(0).net.trace {
        trace.events.drain(..).for_each(|(time, event)| recorder.trace(time, event));
    }
}
