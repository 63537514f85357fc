//! Switches hold frames and release them later: a scheme that sorts sprayed frames before the last hop.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rand_core::RngCore;
use weft_fabric::{Fabric, Limit, PfcSpec, QueueSpec, build};
use weft_sim::fault::{Fault, FaultKind};
use weft_switching::{Actions, Blueprint, Context, DropReason, Forwarding, Header, NextHops, Switch};
use weft_transport::Protocol;
use weft_units::{Duration, LinkId, NodeId, PortId, Time};

use crate::common::{MS, Trial, US, at, profile, scheme};
use crate::engine::threads::{busy, link, same_with_threads};
use crate::theory::conservation::{any_fabric, any_flows};

/// Sprays frames. The source's switch numbers the frames of each flow in their overlay; the destination's holds a frame
/// until those before it have left, for at most `patience`.
struct Sorting {
    routes: Arc<Forwarding>,
    slots: u32,
    patience: Duration,
}

impl Blueprint for Sorting {
    type Switch = SortingSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> SortingSwitch {
        let links = fabric.ports(node).iter().map(|link| fabric.link(*link));
        SortingSwitch {
            next_hops: self.routes.at(node),
            node,
            is_host: links.map(|link| fabric.node(link.to).is_host()).collect(),
            is_up: up(&self.routes, node),
            sent: BTreeMap::new(),
            flows: BTreeMap::new(),
            free: (0..self.slots).rev().collect(),
            patience: self.patience,
        }
    }
}

struct SortingSwitch {
    next_hops: NextHops,
    node: NodeId,
    is_host: Vec<bool>,
    is_up: Vec<bool>,
    /// Frames numbered so far, by flow.
    sent: BTreeMap<u32, u32>,
    flows: BTreeMap<u32, Flow>,
    free: Vec<u32>,
    patience: Duration,
}

/// A flow to a host of this switch.
struct Flow {
    port: PortId,
    next: u32,
    /// Slots by number.
    held: BTreeMap<u32, u32>,
    deadline: Time,
}

impl Flow {
    /// Releases the first frames: those that are next, or all.
    fn release(&mut self, all: bool, free: &mut Vec<u32>, out: &mut Actions) {
        while let Some((number, slot)) = self.held.pop_first() {
            if !all && number != self.next {
                self.held.insert(number, slot);
                return;
            }
            out.release(slot, self.port);
            free.push(slot);
            self.next = number + 1;
        }
        self.deadline = Time::MAX;
    }
}

/// The state of the links of a switch, by port.
fn up(routes: &Forwarding, node: NodeId) -> Vec<bool> {
    routes.links(node).iter().map(|link| link.up).collect()
}

impl SortingSwitch {
    fn sort(&mut self, now: Time, port: PortId, header: &Header, out: &mut Actions) {
        let [a, b, c, d, ..] = header.overlay;
        let number = u32::from_be_bytes([a, b, c, d]);
        let new = Flow { port, next: 0, held: BTreeMap::new(), deadline: Time::MAX };
        let flow = self.flows.entry(header.flow_hash).or_insert(new);
        if number > flow.next
            && let Some(slot) = self.free.pop()
        {
            if flow.held.is_empty() {
                flow.deadline = now + self.patience;
            }
            flow.held.insert(number, slot);
            return out.hold(slot);
        }
        if number > flow.next {
            flow.release(true, &mut self.free, out);
        }
        out.send(port);
        flow.next = flow.next.max(number + 1);
        flow.release(false, &mut self.free, out);
    }
}

impl Switch for SortingSwitch {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let draw = ctx.random().next_u64();
        let Some(port) = header.destination().and_then(|host| self.next_hops.choose(host, draw)) else {
            return out.drop(DropReason::NoRoute);
        };
        assert!(self.is_up[port.index()], "a next hop is up");
        match [ingress, port].map(|port| self.is_host[port.index()]) {
            [true, false] => {
                let number = self.sent.entry(header.flow_hash).or_default();
                let [a, b, c, d] = number.to_be_bytes();
                *number += 1;
                out.send_with_overlay(port, [a, b, c, d, 0, 0, 0, 0]);
            }
            [false, true] => self.sort(ctx.now(), port, header, out),
            _ => out.send(port),
        }
    }

    /// Frames to a host whose link failed are dropped; frames held up by a failure elsewhere go ahead.
    fn port_changed<C: Context>(&mut self, _ctx: &mut C, port: PortId, up: bool, out: &mut Actions) {
        for flow in self.flows.values_mut().filter(|_| !up) {
            if flow.port != port {
                flow.release(true, &mut self.free, out);
            }
            for (number, slot) in std::mem::take(&mut flow.held) {
                out.discard(slot, DropReason::LinkDown);
                self.free.push(slot);
                (flow.next, flow.deadline) = (number + 1, Time::MAX);
            }
        }
    }

    fn next_deadline(&self) -> Time {
        self.flows.values().map(|flow| flow.deadline).min().unwrap_or(Time::MAX)
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        for flow in self.flows.values_mut().filter(|flow| flow.deadline <= ctx.now()) {
            flow.release(true, &mut self.free, out);
        }
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        self.is_up = up(routes, self.node);
    }
}

fn sorting(slots: u32, patience: Duration) -> impl Fn(&Arc<Forwarding>) -> Sorting {
    move |routes| Sorting { routes: Arc::clone(routes), slots, patience }
}

#[test]
fn held_frames_are_released_in_order() {
    let fabric = build::spine_leaf(4, 3, 3, &link(), &link()).expect("the sizes are positive");
    let trial = (1..8).fold(Trial::linux(&fabric, "spray"), |trial, host| {
        trial.flow(host, (host + 4) % 9, 40_000, US(u64::from(host)))
    });
    let late =
        |outcome: &crate::common::Outcome| outcome.flows.iter().map(|flow| flow.out_of_order).sum::<u64>();
    let [sprayed, sorted] = [trial.run(), trial.run_own(sorting(1_000, MS(5)))];
    assert_eq!(sprayed.report.counters.packets_dropped.iter().sum::<u64>(), 0, "no gap lasts");
    assert!(late(&sprayed) > 20, "{}", late(&sprayed));
    assert_eq!(late(&sorted), 0);
    assert!(sorted.report.counters.is_conserved() && sorted.report.flows_finished == 7);
    // With fewer slots than late frames, a switch releases early.
    let hasty = trial.run_own(sorting(1, MS(5)));
    assert!((1..late(&sprayed)).contains(&late(&hasty)), "{}", late(&hasty));
}

#[test]
fn a_deadline_releases_frames_behind_a_lost_one() {
    let fabric = build::spine_leaf(2, 2, 1, &link(), &link()).expect("the sizes are positive");
    // The first failed link loses frames; the others wait for them.
    let trial = Trial::linux(&fabric, "spray").flow(0, 1, 400_000, MS(0)).fail(MS(1), "l0-s0");
    for patience in [US(50), MS(2)] {
        let outcome = trial.run_own(sorting(1_000, patience));
        assert!(outcome.dropped(DropReason::LinkDown) > 0);
        assert_eq!(outcome.report.counters.packets_in_flight, 0, "every frame was released");
        assert!(outcome.flows[0].end.is_some());
    }
}

#[test]
fn frames_held_while_links_fail_are_released_dropped_or_in_flight_with_any_number_of_threads() {
    let fabric = build::spine_leaf(3, 4, 3, &link(), &link()).expect("the sizes are positive");
    for (slots, patience) in [(1_000, US(100)), (3, MS(1)), (1_000, Duration::from_secs(1_000))] {
        let mut trial = busy(&fabric, crate::common::scheme("spray"), profile("linux"));
        for (us, kind) in [(2_000, FaultKind::Fail), (5_000, FaultKind::Heal)] {
            let host = fabric.link_named("l1-h3").expect("a host of the second leaf");
            trial.faults.push(Fault::of_cable(at(US(us)), kind, host));
        }
        trial.faults.sort_by_key(|fault| fault.at);
        same_with_threads(&trial, &[2, 3, 4, 8], |trial| trial.run_own(sorting(slots, patience)));
    }
}

proptest! {
    #![proptest_config(crate::common::cases(32))]

    #[test]
    fn random_fabrics_conserve_held_frames_with_any_number_of_threads(
        fabric in any_fabric(),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..30_000, any::<bool>()), 0..6),
        (slots, patience) in (0_u32..9, 1_u64..3_000),
        seed in any::<u64>(),
    ) {
        let hosts: Vec<u32> = (0..fabric.host_count() as u32).collect();
        let mut trial = Trial::linux(&fabric, "spray").seed(seed).limit(MS(60));
        for (src, dst, bytes, start, dscp) in &flows {
            let (src, dst) = (*src.get(&hosts), *dst.get(&hosts));
            if src != dst {
                trial = trial.flow(src, dst, *bytes, US(*start)).with_dscp(*dscp);
            }
        }
        for (link, us, up) in &faults {
            let link = LinkId(link.index(fabric.links().len()) as u32);
            let kind = if *up { FaultKind::Heal } else { FaultKind::Fail };
            trial.faults.push(Fault::of_cable(at(US(*us)), kind, link));
        }
        trial.faults.sort_by_key(|fault| fault.at);
        same_with_threads(&trial, &[2, 5], |trial| trial.run_own(sorting(slots, US(patience))));
    }
}

/// Holds every frame, in slots from `first` on, `count` in all, in buffers or aside.
#[derive(Clone, Copy)]
struct Hoarding {
    first: u32,
    count: u32,
    aside: bool,
}

struct HoardingSwitch(Hoarding, u32);

impl Blueprint for Hoarding {
    type Switch = HoardingSwitch;

    fn switch(&self, _fabric: &Fabric, _node: NodeId) -> HoardingSwitch {
        HoardingSwitch(*self, 0)
    }
}

impl Switch for HoardingSwitch {
    fn receive<C: Context>(&mut self, _ctx: &mut C, _ingress: PortId, _header: &Header, out: &mut Actions) {
        let slot = self.0.first + self.1 % self.0.count;
        if self.0.aside {
            out.hold_aside(slot)
        } else {
            out.hold(slot)
        }
        self.1 += 1;
    }
}

#[test]
fn what_a_switch_never_releases_is_in_flight_and_what_has_no_slot_is_dropped() {
    let fabric = build::spine_leaf(1, 2, 1, &link(), &link()).expect("the sizes are positive");
    let trial =
        (0..6).fold(Trial::linux(&fabric, "spray").limit(MS(100)), |trial, ms| trial.flow(0, 1, 1, MS(ms)));
    for (first, in_flight) in [(0, 4), (Actions::SLOTS - 2, 2), (Actions::SLOTS, 0)] {
        let outcome = trial.run_own(|_| Hoarding { first, count: 4, aside: false });
        let counters = &outcome.report.counters;
        assert_eq!((counters.packets_sent, counters.packets_in_flight), (6, in_flight));
        assert_eq!(outcome.dropped(DropReason::NotReleased), 6 - in_flight);
    }
}

#[test]
fn frames_held_aside_pause_no_sender() {
    let queue = QueueSpec { pfc: Some(PfcSpec::default()), ..QueueSpec::fifo(Limit::Bytes(100_000)) };
    let link = link().with_queue(queue);
    let fabric = build::spine_leaf(1, 2, 1, &link, &link).expect("the sizes are positive");
    // 200 packets, of which none is acknowledged.
    let roce = Protocol::Roce(Box::default());
    let trial = Trial::new(&fabric, scheme("spray"), roce).limit(MS(10)).flow(0, 1, 200_000, Duration::ZERO);
    for (aside, sent) in [(false, 1..150), (true, 200..1_000)] {
        let outcome = trial.run_own(|_| Hoarding { first: 0, count: 1_000, aside });
        let frames: u64 = outcome.report.links.iter().map(|link| link.port.unwrap().pause_frames).sum();
        let held = outcome.report.counters.packets_in_flight;
        assert!(
            sent.contains(&held) && (frames == 0) == aside,
            "aside {aside}: {held} held, {frames} pauses"
        );
    }
}
