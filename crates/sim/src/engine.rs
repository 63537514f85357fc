//! The engine: divides the fabric, lets threads work through windows of time, and does between windows all that
//! concerns more than one partition: faults, samples, the central controller, the flows' records, the end of the run.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use cpu_time::ThreadTime;
use weft_control::SwitchId;
use weft_switching::{Blueprint, DropReason, Forwarding, Header, Switch};
use weft_traffic::Flow;
use weft_units::{Duration, LinkId, NodeId, PortId, Time};

use crate::book::{Book, Consequence};
use crate::central::{ControlPlane, Effect, Outgoing};
use crate::division::Division;
use crate::fault::FaultKind;
use crate::floor::Floor;
use crate::hosts::{Hosts, Multipath, OnePath, Place, Places, Tcp, World};
use crate::journal::{Entry, FlowNumber, News, Strand};
use crate::link::LinkCounters;
use crate::partition::{Notice, Partition};
use crate::record::{Counters, LinkReport, Recorder, RunReport};
use crate::trace::{TraceEvent, Tracer, Untraced};
use crate::window::Window;

pub use crate::hosts::PathSelector;
pub use crate::setup::{Progress, Setup};

/// Events of one partition between two looks at [`Progress::stop`].
const MANY: u32 = 1 << 16;
/// Windows between two updates of [`Progress`].
const WINDOWS: u32 = 1 << 8;
/// The shortest time.
const INSTANT: Duration = Duration::from_ps(1);

/// Runs until every flow has finished and its connection is closed, or to the limit. Each switch of `blueprint` is
/// compiled into the loop.
///
/// # Panics
/// If the flows are not in order of start time, the faults are not in order of time, a flow's class is not below
/// [`Setup::classes`], or there are more flows than packets can name (2^25).
pub fn run<B: Blueprint, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    blueprint: &B,
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    run_selecting::<OnePath, B, R>(setup, routes, blueprint, progress, recorder)
}

/// The same with hosts that choose the paths of plain TCP.
///
/// # Panics
/// As [`run`].
pub fn run_selecting<P: PathSelector, B: Blueprint, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    blueprint: &B,
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    let transport = setup.transport;
    match Multipath::new(transport, &[]) {
        None => run_hosts(setup, routes, blueprint, |_: &[Flow]| Tcp::<P>::default(), progress, recorder),
        Some(_) => {
            let hosts = |flows: &[Flow]| Multipath::new(transport, flows).expect("hosts use Multipath TCP");
            run_hosts(setup, routes, blueprint, hosts, progress, recorder)
        }
    }
}

fn run_hosts<B: Blueprint, H: Hosts, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    blueprint: &B,
    hosts: impl Fn(&[Flow]) -> H,
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    let (fabric, seed) = (setup.fabric, setup.seed);
    assert!(setup.flows.is_sorted_by_key(|flow| flow.start), "flows must be in order of start time");
    assert!(setup.faults.is_sorted_by_key(|fault| fault.at), "faults must be in order of time");
    let classed = |flow: &Flow| usize::from(flow.class) < setup.classes;
    assert!(setup.flows.iter().all(classed), "every flow's class must be below {}", setup.classes);
    assert!(setup.flows.len() < 1 << 25, "there are too many flows");
    let central = blueprint.central().map(|central| ControlPlane::new(central, fabric));
    let division = Division::of(fabric);
    let lookahead = division.lookahead();
    let window = central.as_ref().map_or(lookahead, |central| lookahead.min(central.delay()));
    let hindrance = hindrance(window, &division, R::TRACES);
    if let Some(why) = hindrance.filter(|_| setup.threads > 1) {
        progress.alone.get_or_init(|| why);
    }
    let parts = match hindrance {
        Some(_) => 1,
        None if progress.loads.is_some() => division.parts(),
        // More would balance better; packets that cross cost more than that gains.
        None => setup.threads,
    };
    let division = division.joined(parts);
    let places = Places::new(setup.flows.len());
    let world = World { flows: setup.flows, transport: setup.transport, places };
    let floor = Floor::new(world, division, |world, division, part| {
        Partition::new((fabric, seed), (division, part), blueprint, &routes, hosts(world.flows), world)
    });
    let helpers = setup.threads.clamp(1, floor.count()) - 1;
    let mut run = Run {
        central,
        book: Book::new(setup.classes),
        window: Window::new(setup.window),
        next_fault: 0,
        next_sample: setup.probe.start().unwrap_or(Time::MAX),
        lookahead,
        step: window,
        setup,
    };
    std::thread::scope(|scope| {
        for helper in 1..=helpers {
            let (floor, from) = (&floor, helper * floor.count() / (helpers + 1));
            scope.spawn(move || {
                let worked = ThreadTime::now();
                floor.help(from);
                progress.helpers_ns.fetch_add(worked.elapsed().as_nanos() as u64, Ordering::Relaxed);
            });
        }
        let _closing = Closing(&floor);
        run.start(&floor);
        let stopped = run.drive(&floor, progress, recorder);
        run.finish(&floor, recorder, stopped)
    })
}

/// Why a run has one thread, whatever was asked for.
fn hindrance(window: Duration, division: &Division, traces: bool) -> Option<&'static str> {
    match () {
        () if traces => Some("traces are written in order"),
        () if division.parts() == 1 => Some("the fabric cannot be divided: all hosts are at one switch"),
        () if window == Duration::ZERO => Some("the controller's `control_delay` is 0 s"),
        () => None,
    }
}

/// Sends the helping threads home when dropped, even by a panic.
struct Closing<'f, 'a, S: Switch, H: Hosts>(&'f Floor<'a, S, H>);

impl<S: Switch, H: Hosts> Drop for Closing<'_, '_, S, H> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Passes trace events on to a recorder.
struct Traced<'r, R>(&'r mut R);

impl<R: Recorder> Tracer for Traced<'_, R> {
    const TRACES: bool = true;

    fn trace(&mut self, time: Time, event: TraceEvent<'_>) {
        self.0.trace(time, event);
    }

    fn followed(&self) -> Option<Header> {
        self.0.followed()
    }
}

/// A run between its windows.
struct Run<'a> {
    setup: Setup<'a>,
    central: Option<ControlPlane>,
    book: Book,
    window: Window,
    next_fault: usize,
    next_sample: Time,
    /// The time from news to its consequences.
    lookahead: Duration,
    /// The length of a window.
    step: Duration,
}

/// What the engine does between windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Global {
    Fault,
    Central,
    Window,
    Sample,
}

impl Run<'_> {
    /// The rules that are installed before the start.
    fn start<S: Switch, H: Hosts>(&mut self, floor: &Floor<'_, S, H>) {
        let effects = self.central.as_mut().map_or_else(Vec::new, |central| central.start(self.setup.fabric));
        for effect in effects {
            carry_out(effect, floor, &mut Untraced);
        }
        floor.settle();
    }

    /// The main loop; returns whether the run was stopped.
    fn drive<S: Switch, H: Hosts, R: Recorder>(
        &mut self,
        floor: &Floor<'_, S, H>,
        progress: &Progress,
        recorder: &mut R,
    ) -> bool {
        let undivided = floor.count() == 1;
        let after_limit = self.setup.limit + INSTANT;
        let flows = self.setup.flows.len() as u64;
        let mut until_progress = 0;
        loop {
            if floor.take_news() {
                self.join(floor, recorder);
            }
            if until_progress == 0 || undivided {
                until_progress = WINDOWS;
                self.report_progress(floor, progress);
            }
            until_progress -= 1;
            if progress.stop.load(Ordering::Relaxed) {
                return true;
            }
            // Both sides of the last flow leave a lookahead after its end.
            let is_over = self.book.over == flows;
            let end = if is_over { self.book.last_over + self.lookahead + INSTANT } else { after_limit };
            let end = end.min(after_limit);
            let first = floor.first();
            let global = if is_over { None } else { self.next_global() };
            let pause = global.map_or(end, |(time, _)| time.min(end));
            if let Some((time, what)) = global.filter(|(time, _)| *time < end && *time <= first) {
                floor.settle();
                for mut part in floor.parts() {
                    part.net.now = time;
                }
                match what {
                    Global::Sample => self.sample(time, floor, recorder),
                    _ if R::TRACES => self.act(what, time, floor, &mut Traced(recorder)),
                    _ => self.act(what, time, floor, &mut Untraced),
                }
                floor.settle();
            } else if first >= end {
                return false;
            } else if undivided && R::TRACES {
                floor.work_alone(pause, MANY, &mut Traced(recorder));
            } else if undivided {
                floor.work_alone(pause, MANY, &mut Untraced);
            } else {
                floor.work(pause.min(first + self.step));
                if let Some(loads) = &progress.loads {
                    let events =
                        |part: &Partition<'_, S, H>| part.net.counters.events + part.net.counters.packet_hops;
                    let events: Vec<u64> = floor.parts().map(|part| events(&part)).collect();
                    loads.lock().unwrap_or_else(PoisonError::into_inner).add(&events);
                }
            }
        }
    }

    /// What comes next, and when.
    fn next_global(&self) -> Option<(Time, Global)> {
        let fault = self.setup.faults.get(self.next_fault).map(|fault| (fault.at, Global::Fault));
        let central = self.central.as_ref().map(|central| (central.next(), Global::Central));
        let window = self.window.next().map(|time| (time, Global::Window));
        let sample = Some((self.next_sample, Global::Sample));
        let all = [fault, central, window, sample].into_iter().flatten();
        all.filter(|(time, _)| *time < Time::MAX).min_by_key(|(time, _)| *time)
    }

    fn act<S: Switch, H: Hosts, T: Tracer>(
        &mut self,
        what: Global,
        now: Time,
        floor: &Floor<'_, S, H>,
        tracer: &mut T,
    ) {
        match what {
            Global::Fault => self.fault(now, floor, tracer),
            Global::Central => {
                let effects = self.central.as_mut().map_or_else(Vec::new, |central| central.run(now));
                for effect in effects {
                    carry_out(effect, floor, tracer);
                }
            }
            Global::Window => self.window.read(self.setup.fabric, |id| counters(floor, id).wire_bytes),
            Global::Sample => {}
        }
    }

    /// Enters the news of all partitions in the book, in order of time, and sends out the notices that follow.
    fn join<S: Switch, H: Hosts, R: Recorder>(&mut self, floor: &Floor<'_, S, H>, recorder: &mut R) {
        let mut entries: Vec<Entry> = Vec::new();
        for mut part in floor.parts() {
            let journal = &mut part.net.journal;
            journal.is_urgent = false;
            entries.append(&mut journal.entries);
        }
        entries.sort_by_key(|entry| (entry.at, entry.node));
        for Entry { at, node, news } in entries {
            match (news, &mut self.central) {
                (News::Reported(reported), Some(central)) => central.reported(at, node, *reported),
                (News::RuleRemoved { cookie, packets, bytes }, Some(central)) => {
                    central.rule_removed(at, node, (cookie, packets, bytes));
                }
                (news, _) => {
                    let consequence = self.book.enter(at, news, self.setup.flows, recorder);
                    if let Some(consequence) = consequence {
                        self.notify(at + self.lookahead, consequence, floor);
                    }
                }
            }
        }
    }

    fn notify<S: Switch, H: Hosts>(&self, at: Time, consequence: Consequence, floor: &Floor<'_, S, H>) {
        let host = |flow: FlowNumber, side: usize| {
            let flow = &self.setup.flows[flow as usize];
            self.setup.fabric.host_node([flow.src, flow.dst][side])
        };
        let notices: &[_] = match consequence {
            Consequence::Watch(Strand { flow, subflow }) => &[(host(flow, 0), Notice::Watch(flow, subflow))],
            Consequence::Over(flow) => &[0, 1].map(|side| (host(flow, side), Notice::Leave(flow, side))),
        };
        for (node, notice) in notices {
            floor.part_of(*node).notify(at, *notice);
            floor.expect(at);
        }
    }

    /// Applies a failure or restoration of links; routes change at once (control-plane delay is not modelled).
    fn fault<S: Switch, H: Hosts, T: Tracer>(&mut self, now: Time, floor: &Floor<'_, S, H>, tracer: &mut T) {
        let fault = &self.setup.faults[self.next_fault];
        let up = fault.kind == FaultKind::Heal;
        self.next_fault += 1;
        let fabric = self.setup.fabric;
        for strand in self.book.event(now, if up { &[] } else { &fault.links }) {
            let source = fabric.host_node(self.setup.flows[strand.flow as usize].src);
            floor.part_of(source).watch(strand.flow, strand.subflow, &floor.world);
        }
        for &id in &fault.links {
            if T::TRACES {
                tracer.trace(now, TraceEvent::LinkChanged { link: id, up });
            }
            for mut part in floor.parts() {
                part.set_up(id, up, tracer);
            }
        }
        if let Some(central) = &mut self.central {
            central.links_changed(now, fabric, &fault.links, up);
        }
        let is_up = |id: LinkId| sender_of(floor, id).net.is_up(id);
        let routes = Arc::new(Forwarding::new(fabric, is_up));
        for mut part in floor.parts() {
            part.reroute(&routes, &floor.world);
        }
    }

    fn sample<S: Switch, H: Hosts, R: Recorder>(
        &mut self,
        now: Time,
        floor: &Floor<'_, S, H>,
        recorder: &mut R,
    ) {
        let mut class_bytes = self.book.finished_bytes.clone();
        let mut active = 0;
        for number in self.book.unfinished() {
            let flow = &self.setup.flows[number as usize];
            let part = floor.part_of(self.setup.fabric.host_node(flow.dst));
            let delivered = part.delivered(number, &floor.world);
            active += 1;
            class_bytes[usize::from(flow.class)] += delivered.unwrap_or(0);
        }
        let probe = &mut self.setup.probe;
        let state = |id| (counters(floor, id), sender_of(floor, id).net.waiting(id));
        self.next_sample = probe.sample(self.setup.fabric, now, state, (&class_bytes, active), recorder);
        if probe.samples_switches() {
            for node in self.setup.fabric.switches() {
                let mut part = floor.part_of(node);
                let switches = &mut part.switches;
                let number = switches.number_of(node).expect("each switch is in its partition");
                let entries = switches.table_entries(number, now);
                probe.sample_switch(now, node, entries, recorder);
            }
        }
    }

    fn report_progress<S: Switch, H: Hosts>(&self, floor: &Floor<'_, S, H>, progress: &Progress) {
        let (mut now, mut hops) = (Time::ZERO, 0);
        for part in floor.parts() {
            now = now.max(part.net.now);
            hops += part.net.counters.packet_hops;
        }
        progress.time_ps.store(now.ps(), Ordering::Relaxed);
        progress.packet_hops.store(hops, Ordering::Relaxed);
        progress.flows.store(self.book.finished, Ordering::Relaxed);
    }

    /// Records the remaining flows and builds the report.
    fn finish<S: Switch, H: Hosts, R: Recorder>(
        &mut self,
        floor: &Floor<'_, S, H>,
        recorder: &mut R,
        stopped: bool,
    ) -> RunReport {
        floor.settle();
        let fabric = self.setup.fabric;
        let is_over = self.book.over == self.setup.flows.len() as u64;
        let last = floor.parts().map(|part| part.net.now).max().unwrap_or(Time::ZERO);
        let end = if is_over { self.book.last_over } else { last };
        for mut part in floor.parts() {
            part.net.now = last;
        }
        let mut started = Vec::new();
        for part in floor.parts() {
            started.extend_from_slice(part.started());
        }
        for &number in &started {
            let flow = &self.setup.flows[number as usize];
            for (side, host) in [flow.src, flow.dst].into_iter().enumerate() {
                let mut part = floor.part_of(fabric.host_node(host));
                if floor.world.places.get(number, side) != Place::Gone {
                    part.leave(number, side, &floor.world);
                }
            }
        }
        self.join(floor, recorder);
        while self.window.next().is_some() {
            self.window.read(fabric, |id| counters(floor, id).wire_bytes);
        }
        let mut total = Counters::default();
        let mut state_bytes = 0;
        for mut part in floor.parts() {
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
            flows_finished: self.book.finished,
            links: links.map(|id| self.link_report(id, floor)).collect(),
            events: self.book.events.clone(),
            controller: self.central.as_ref().map(ControlPlane::report),
            multipath: self.book.multipath,
            state_bytes,
        }
    }

    fn link_report<S: Switch, H: Hosts>(&self, id: LinkId, floor: &Floor<'_, S, H>) -> LinkReport {
        let receiver = floor.part_of(self.setup.fabric.link(id).to);
        let floods = receiver.net.floods_of(id);
        drop(receiver);
        LinkReport {
            id,
            counters: counters(floor, id),
            window_bytes: self.window.bytes(id),
            floods,
            up: sender_of(floor, id).net.is_up(id),
        }
    }
}

/// The partition of a link's sending end.
fn sender_of<'f, 'a, S: Switch, H: Hosts>(
    floor: &'f Floor<'a, S, H>,
    id: LinkId,
) -> MutexGuard<'f, Partition<'a, S, H>> {
    let from = floor.part(0).net.fabric.link(id).from;
    floor.part_of(from)
}

/// The counters of a link.
fn counters<S: Switch, H: Hosts>(floor: &Floor<'_, S, H>, id: LinkId) -> LinkCounters {
    sender_of(floor, id).net.counters_of(id)
}

/// The switch with this controller ID.
const fn node_of(switch: SwitchId) -> NodeId {
    NodeId(switch.0 as u32 - 1)
}

/// Carries out what the controller does at a switch.
fn carry_out<S: Switch, H: Hosts, T: Tracer>(effect: Effect, floor: &Floor<'_, S, H>, tracer: &mut T) {
    let (switch, ports, frame) = match effect {
        Effect::Rule(switch, change) => {
            let mut part = floor.part_of(node_of(switch));
            let Partition { net, switches, .. } = &mut *part;
            if let Some(number) = switches.number_of(node_of(switch)) {
                let now = net.now;
                switches.change(number, net, |scheme| scheme.apply(now, &change));
            }
            return;
        }
        Effect::Drop(parcel) => {
            let mut part = floor.part(0);
            let net = &mut part.net;
            let packet = net.packets.put(parcel);
            let node = NodeId(0);
            net.drop(node, packet, DropReason::NotReleased, tracer);
            return;
        }
        Effect::Receive(switch, in_port, frame) => (switch, Err(in_port), frame),
        Effect::Send(switch, ports, frame) => (switch, Ok(ports), frame),
    };
    let node = node_of(switch);
    let mut part = floor.part_of(node);
    let Partition { net, switches, .. } = &mut *part;
    let Some(number) = switches.number_of(node) else { return };
    let packet = match frame {
        Outgoing::Held(parcel) => net.packets.put(parcel),
        Outgoing::Copy(parcel) => {
            net.counters.packets_copied += 1;
            net.packets.put(parcel)
        }
        Outgoing::Made(header) => {
            net.counters.packets_of_switches += 1;
            net.packets.packet_without_segment(&header)
        }
    };
    match ports {
        Ok(ports) => switches.send_out(number, ports.into_iter(), packet, net, tracer),
        Err(in_port) => {
            let ingress = in_port.unwrap_or(PortId(u16::MAX));
            switches.receive(number, ingress, packet, net, tracer);
        }
    }
}
