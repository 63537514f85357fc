//! Rounds say the same as the event queue where choices of ports are deferred: packets wait while nothing arrives, rates and
//! links change, controllers send between windows.

use proptest::prelude::*;
use weft_fabric::{
    CERTAIN, ClassSpec, FabricBuilder, Limit, LinkSpec, MarkAt, QueueSpec, RedSpec, Scheduler, build,
};
use weft_sim::fault::{Fault, FaultKind};
use weft_sim::rounds;
use weft_switching::registry;
use weft_traffic::{Need, Node, Point};
use weft_transport::{Config, Protocol, roce, udp, uec};
use weft_units::{Duration, LinkId, Rate, Time};

use crate::common::{MS, Trial, US, profile, scheme};
use crate::engine::degraded::rate;
use crate::engine::threads::{busy, same_with_threads};
use crate::theory::conservation::{any_fabric_of, any_flows, any_trial};

fn two_queues() -> QueueSpec {
    QueueSpec { classes: vec![ClassSpec { weight: 1 }; 2], ..QueueSpec::fifo(Limit::Packets(50)) }
}

#[test]
fn a_rate_that_rises_is_noticed_by_a_switch_at_which_nothing_else_happens() {
    let link = |delay| LinkSpec::new(Rate::from_gbps(1), delay).with_queue(two_queues());
    let mut builder = FabricBuilder::new("chain");
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).expect("a new name"));
    for (name, switch) in [("h0", switches[0]), ("h1", switches[1])] {
        let host = builder.add_host(name, 0, None).expect("a new name");
        // An acknowledgement returns long after the last packet is in the queue.
        builder.connect(host, switch, &link(US(500))).expect("both exist");
    }
    builder.connect(switches[0], switches[1], &link(US(1))).expect("both exist");
    let fabric = builder.build().expect("it is complete");
    let trial = Trial::linux(&fabric, "ecmp").limit(MS(2_000)).flow(0, 1, 14_000, MS(0));
    let trial = trial.change(MS(0), "s0-s1", rate(0.001)).change(MS(20), "s0-s1", rate(1.0));
    same_with_threads(&trial, &[2], |trial| trial.run());
}

#[test]
fn windows_about_as_long_as_the_longest_say_the_same() {
    let longest = rounds::LONGEST;
    for delay in [longest - Duration::PICOSECOND, longest, longest + Duration::PICOSECOND, US(100)] {
        let link = LinkSpec::new(Rate::from_gbps(10), delay).with_queue(two_queues());
        let fabric = build::spine_leaf(3, 2, 2, &link, &link).expect("the sizes are positive");
        let trial = busy(&fabric, scheme("spray"), profile("dctcp")).limit(MS(50));
        same_with_threads(&trial, &[2], |trial| trial.run());
    }
}

fn any_queue() -> impl Strategy<Value = QueueSpec> {
    let red =
        |at| Some(RedSpec { kmin: Limit::Bytes(2_000), kmax: Limit::Bytes(9_000), pmax: CERTAIN / 3, at });
    let classes = prop::collection::vec((1_u32..4).prop_map(|weight| ClassSpec { weight }), 2..5);
    let scheduler = prop_oneof![Just(Scheduler::StrictPriority), Just(Scheduler::Drr)];
    (1_600_u64..60_000, 0_u8..6, classes, scheduler).prop_map(move |(limit, kind, classes, scheduler)| {
        let fifo = QueueSpec::fifo(Limit::Bytes(limit));
        match kind {
            0 => fifo,
            1 => QueueSpec { red: red(MarkAt::Enqueue), ..fifo },
            2 => QueueSpec { red: red(MarkAt::Dequeue), ..fifo },
            3 => QueueSpec { trim: true, classes: vec![ClassSpec { weight: 1 }; 2], ..fifo },
            _ => QueueSpec { classes, scheduler, ..fifo },
        }
    })
}

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let mbps = prop::sample::select(&[10_u64, 100, 1_000, 25_000, 100_000, 400_000]);
    (mbps, 1_u64..6, any_queue(), any::<bool>()).prop_map(|(mbps, delay, queue, is_odd)| {
        let delay = if is_odd { Duration::from_ps(delay * 777_777) } else { US(delay) };
        LinkSpec::new(Rate::from_bps(mbps * 1_000_000), delay).with_queue(queue)
    })
}

fn transports() -> Vec<Protocol> {
    let tcp = ["linux", "dctcp"].map(|name| Protocol::from(profile(name)));
    let datagrams = udp::Config { rate: Rate::from_bps(900_000_000), ..udp::Config::default() };
    let others = [uec::Config::default().into(), roce::Config::default().into(), datagrams.into()];
    tcp.into_iter().chain(others).collect()
}

proptest! {
    #![proptest_config(crate::common::cases(128))]

    #[test]
    fn random_fabrics_with_deferred_choices_say_the_same(
        fabric in any_fabric_of(2..6, any_link),
        scheme in prop::sample::select(
            registry().iter().filter(|known| !known.is_choosy()).map(|known| scheme(known.name)).collect::<Vec<_>>()
        ),
        transport in prop::sample::select(transports()),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..20_500, any::<bool>()), 0..6),
        rates in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..20_500, 1_u8..11), 0..6),
        waits in prop::collection::vec((any::<[prop::sample::Index; 2]>(), any::<bool>(), 0_u64..9), 0..6),
        seed in any::<u64>(),
        is_sampled in any::<bool>(),
    ) {
        prop_assert!(rounds::are_possible(&fabric));
        let hosts = Config::profile("linux").expect("a profile");
        let mut trial = any_trial(&fabric, scheme, hosts, &flows, &faults).seed(seed).limit(MS(30));
        trial.protocol = transport;
        for (link, us, tenths) in rates {
            let link = LinkId(link.index(fabric.links().len()) as u32);
            let change = FaultKind::Change(rate(f64::from(tenths) / 10.0));
            trial.faults.push(Fault::of_cable(Time::ZERO + US(us), change, link));
        }
        trial.faults.sort_by_key(|fault| fault.at);
        for (ends, is_received, us) in waits.into_iter().filter(|_| trial.flows.len() > 1) {
            let waiting = 1 + ends[0].index(trial.flows.len() - 1);
            let [waiting, on] = [waiting, ends[1].index(waiting)].map(|flow| Node::Flow(flow as u32));
            let at = if is_received { Point::Received } else { Point::Acknowledged };
            trial.needs.push(Need { waiting, on, at, delay: US(us) });
        }
        let trial = if is_sampled { trial.sampled(US(137)) } else { trial };
        same_with_threads(&trial, &[2, 5], |trial| trial.run());
    }
}
