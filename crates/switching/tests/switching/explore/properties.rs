//! Properties of every fabric, under frame losses and link failures.

use proptest::prelude::*;
use weft_fabric::{Fabric, FabricBuilder, LinkSpec};
use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::exploration::{Exploration, OnMiss, Scope, WhileBroken};
use weft_switching::exploring::ways;
use weft_switching::tcp_path::TcpPathSwitch;
use weft_switching::tfe::Classifier;
use weft_switching::{Header, Kind, Switch, TableEntries, stream};
use weft_units::{Bytes, Duration, LinkId, NodeId};

use crate::explore::net::{
    Net, arp_path, below, broadcast, datagram, reply, request, segment, tcp_path, tfe,
};

/// A connected fabric of `switches` with `extra` more links and random delays; two hosts per switch.
fn random_fabric(seed: u64, switches: u32, extra: u32) -> Fabric {
    let mut random = stream(seed, "fabric", 0);
    let mut builder = FabricBuilder::new("random");
    let mut nodes = Vec::new();
    for number in 0..switches {
        let tier = 1 + below(&mut random, 3) as u8;
        nodes.push(builder.add_switch(format!("s{number}"), tier, None).unwrap());
    }
    let spec = |random: &mut _| LinkSpec {
        delay: Duration::from_ns(100 + below(random, 100_000) as u64),
        ..LinkSpec::default()
    };
    for number in 1..nodes.len() {
        let other = nodes[below(&mut random, number)];
        builder.connect(nodes[number], other, &spec(&mut random)).unwrap();
    }
    for _ in 0..extra {
        let [a, b] = [0; 2].map(|_| below(&mut random, nodes.len()));
        if a != b {
            builder.connect(nodes[a], nodes[b], &spec(&mut random)).unwrap();
        }
    }
    for number in 0..2 * switches {
        let host = builder.add_host(format!("h{number}"), 0, None).unwrap();
        builder.connect(host, nodes[number as usize / 2], &spec(&mut random)).unwrap();
    }
    builder.build().unwrap()
}

/// Frames of all kinds between hosts that know each other or not, honest or not, with frame losses and link failures
/// and recoveries.
fn disturb<S: Switch>(net: &mut Net<S>, seed: u64) {
    let mut random = stream(seed, "disturb", 0);
    let hosts = net.fabric.host_count();
    let cables = net.fabric.links().len() / 2;
    let mut down = None;
    for _ in 0..300 {
        let [from, to] = [0; 2].map(|_| below(&mut random, hosts) as u32);
        let (sport, dport) = (1 + below(&mut random, 4) as u16, 80);
        let isn = below(&mut random, 3) as u32;
        let flags = [
            Header::SYN,
            Header::SYN | Header::ACK,
            Header::ACK,
            Header::ACK,
            Header::ACK | Header::FIN,
            Header::RST,
        ][below(&mut random, 6)];
        let kinds = [
            Kind::Other,
            Kind::PathRequest,
            Kind::PathFail,
            Kind::PathReply,
            Kind::RecoveryRequest,
            Kind::Hello,
        ];
        let header = match below(&mut random, 12) {
            0 => request(from),
            1 => reply(from, to),
            2 => broadcast(from),
            3 => Header { kind: kinds[below(&mut random, 5)], ..segment(from, to, sport, dport, flags, isn) },
            4 | 5 => segment(to, from, dport, sport, Header::SYN | Header::ACK, isn),
            _ => segment(from, to, sport, dport, flags, isn),
        };
        net.send(header);
        if below(&mut random, 40) == 0 {
            if let Some(cable) = down.take() {
                net.set_up(cable, true);
            } else {
                let cable = LinkId(2 * below(&mut random, cables) as u32);
                net.set_up(cable, false);
                down = Some(cable);
            }
        }
        net.run(Duration::from_ns(below(&mut random, 400_000) as u64));
    }
    if let Some(cable) = down {
        net.set_up(cable, true);
    }
}

/// Invariants after a disturbance with `loss` losses per 1000 frames.
fn never_loops_and_forgets<S: Switch>(mut net: Net<S>, seed: u64, loss: u64) -> Result<(), TestCaseError> {
    net.loss = loss;
    disturb(&mut net, seed);
    net.run(Duration::from_ms(100));
    prop_assert_eq!(net.loops, 0, "a frame was sent on twice by a switch");
    let mut seen = std::collections::BTreeSet::new();
    for delivered in &net.delivered {
        let first = seen.insert((delivered.number, delivered.host.0));
        prop_assert!(first, "a host received a frame twice: {:?}", delivered);
    }
    let balance = net.balance;
    prop_assert_eq!(
        balance.made,
        balance.delivered + balance.dropped + balance.consumed + balance.lost + net.in_flight()
    );
    net.run(Duration::from_secs(30));
    prop_assert_eq!(net.entries(), TableEntries::default(), "after silence");
    prop_assert!(net.in_flight() <= 4 * net.fabric.links().len() as u64, "only Hellos are left");
    prop_assert!(net.circles < 50, "{} times round", net.circles);
    Ok(())
}

/// Unicast frames between any two hosts that have both sent once, after silences of any length: each arrives exactly
/// once.
fn all_arrive<S: Switch>(mut net: Net<S>, seed: u64) -> Result<(), TestCaseError> {
    let hosts = net.fabric.host_count();
    let mut random = stream(seed, "silences", 0);
    for _ in 0..40 {
        let [from, to] = [0; 2].map(|_| below(&mut random, hosts) as u32);
        if from == to {
            continue;
        }
        let sport = 1 + below(&mut random, 3) as u16;
        let frame = match below(&mut random, 6) {
            0 => reply(from, to),
            1 => datagram(from, to),
            2 => segment(from, to, sport, 80, Header::SYN, below(&mut random, 1_000) as u32),
            3 => segment(from, to, 80, sport, Header::SYN | Header::ACK, 1),
            _ => segment(from, to, sport, 80, Header::ACK, 0),
        };
        if below(&mut random, 4) == 0 {
            net.send(request(below(&mut random, hosts) as u32));
            net.run(Duration::from_ms(20));
        }
        let arrived = net.arrivals(frame, 20);
        prop_assert_eq!(arrived, 1, "from h{} to h{} after {}: {:?}", from, to, net.now, frame);
        // Within entry lifetimes, at their ends, beyond all of them.
        let silence = [0, 40, 900, 1_100, 2_990, 3_100, 9_990, 10_100, 16_000, 310_000, 3_700_000]
            [below(&mut random, 11)];
        net.run(Duration::from_ms(silence));
    }
    prop_assert_eq!(net.loops + net.circles, 0);
    Ok(())
}

/// Switches restart with empty tables between frames `gap` apart: no frame arrives twice, and of two to the same
/// station at least the second arrives. Explorations by SYNs are not covered.
fn arrives_after_restarts<S: Switch>(
    mut net: Net<S>,
    fresh: impl Fn(&Fabric, NodeId) -> S,
    seed: u64,
    gap: Duration,
) -> Result<(), TestCaseError> {
    let (hosts, nodes) = (net.fabric.host_count(), net.fabric.switches().collect::<Vec<_>>());
    let mut random = stream(seed, "restarts", 0);
    // Few pairs, so that they meet their own old entries.
    let talking = [0; 3].map(|_| below(&mut random, hosts) as u32);
    for _ in 0..40 {
        for _ in 0..below(&mut random, 3) {
            let node = nodes[below(&mut random, nodes.len())];
            net.restart(node, fresh(&net.fabric, node));
        }
        let [from, to] = [0; 2].map(|_| talking[below(&mut random, 3)]);
        if from == to {
            continue;
        }
        let frame = match below(&mut random, 4) {
            0 => reply(from, to),
            1 => datagram(from, to),
            2 => segment(from, to, 80, 1, Header::SYN | Header::ACK, 1),
            _ => segment(from, to, 1, 80, Header::ACK, 0),
        };
        let mut arrived = 0;
        for again in 0..2 {
            let number = net.send(frame);
            net.run(gap);
            arrived = net.deliveries(number).len();
            prop_assert!(arrived <= 1, "from h{} to h{} at {}, {}", from, to, net.now, again);
            if arrived == 1 {
                break;
            }
        }
        prop_assert_eq!(arrived, 1, "from h{} to h{} at {}: {:?}", from, to, net.now, frame);
    }
    prop_assert_eq!(net.loops, 0);
    Ok(())
}

#[test]
fn one_of_two_frames_arrives_where_an_old_copy_or_the_repair_of_another_sender_once_cost_both()
-> Result<(), TestCaseError> {
    let config = Exploration::default();
    // An old copy after a Path Request; a transit switch that restarted during its own repair for another pair.
    for (seed, switches, extra) in [(754_303_346_611, 7, 0), (227_162_464_709, 4, 1)] {
        let net = arp_path(random_fabric(seed, switches, extra), &config, seed);
        let fresh = |fabric: &_, node| ArpPathSwitch::new(&config, ways(fabric, node), seed);
        arrives_after_restarts(net, fresh, seed, Duration::from_ms(60))?;
    }
    Ok(())
}

/// A connected part fails between frames; reachable hosts get each frame once, or never if the frame meets the
/// failure.
fn one_copy_whatever_fails<S: Switch>(mut net: Net<S>, seed: u64) -> Result<(), TestCaseError> {
    let hosts = net.fabric.host_count() as u32;
    for host in 0..hosts {
        net.send(request(host));
        net.run(Duration::from_ms(1));
    }
    let mut random = stream(seed, "failures", 0);
    let cables: Vec<LinkId> =
        (0..net.fabric.links().len() as u32 / 2).map(|cable| LinkId(2 * cable)).collect();
    for _ in 0..12 {
        let cable = cables[below(&mut random, cables.len())];
        net.set_up(cable, false);
        net.run(Duration::from_ms(below(&mut random, 2_000) as u64));
        for up in [false, true] {
            net.set_up(cable, up);
            let [from, to] = [0; 2].map(|_| below(&mut random, hosts as usize) as u32);
            for _ in 0..3 {
                let arrived =
                    net.arrivals(segment(from, to, 1, 80, Header::ACK, 0), below(&mut random, 600) as u64);
                prop_assert!(arrived <= 1, "h{from} to h{to}");
            }
        }
    }
    // Everything is up again; flood entries with another origin last a second.
    net.run(Duration::from_ms(1_100));
    for host in 0..hosts {
        let arrived = net.arrivals(segment(host, (host + 1) % hosts, 1, 80, Header::ACK, 0), 1_100);
        prop_assert_eq!(arrived, 1, "from h{}", host);
    }
    prop_assert_eq!(net.loops, 0);
    Ok(())
}

/// After a disturbance, segments between hosts that need no ARP eventually arrive, whatever the tables contain.
fn can_talk<S: Switch>(mut net: Net<S>, seed: u64, loss: u64) -> Result<(), TestCaseError> {
    let hosts = net.fabric.host_count();
    for host in 0..hosts as u32 {
        net.send(request(host));
        net.run(Duration::from_ms(1));
    }
    net.loss = loss;
    disturb(&mut net, seed);
    net.loss = 0;
    let mut random = stream(seed, "pairs", 0);
    for _ in 0..4 {
        let [from, to] = [0; 2].map(|_| below(&mut random, hosts) as u32);
        if from == to {
            continue;
        }
        // A recovered host port counts once no Hello has arrived for 15 s and the host sends.
        let arrives = (0..20).any(|_| {
            let back = net.data(to, from, 80, 7_000).is_some();
            let arrived = net.data(from, to, 7_000, 80).is_some() && back;
            net.run(Duration::from_ms(1_050));
            arrived
        });
        prop_assert!(arrives, "h{from} cannot reach h{to}");
    }
    Ok(())
}

fn config(choice: u8) -> Exploration {
    Exploration {
        scope: if choice & 1 == 0 { Scope::Full } else { Scope::ValleyFree },
        on_miss: if choice & 2 == 0 { OnMiss::DefaultForwarding } else { OnMiss::Recover },
        while_broken: if choice & 4 == 0 { WhileBroken::Drop } else { WhileBroken::Detour },
        flows: if choice & 8 == 0 { 1 << 20 } else { 3 },
        sweep: Duration::from_us(if choice & 16 == 0 { 0 } else { 500 }),
        refresh_after: Duration::from_ms(if choice & 32 == 0 { 0 } else { 1 }),
        learnt: Duration::from_secs(10),
        attached: Duration::from_secs(10),
        ..Exploration::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn arp_path_never_loops_and_forgets(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, loss in 0_u64..100, choice in 0_u8..2,
    ) {
        never_loops_and_forgets(arp_path(random_fabric(seed, switches, extra), &config(choice), seed), seed, loss)?;
    }

    #[test]
    fn tcp_path_never_loops_and_forgets(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, loss in 0_u64..100, choice in 0_u8..64,
    ) {
        never_loops_and_forgets(tcp_path(random_fabric(seed, switches, extra), &config(choice), seed), seed, loss)?;
    }

    #[test]
    fn tfe_never_loops_and_forgets(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, loss in 0_u64..100, choice in 0_u8..64,
        by in prop::sample::select(vec![
            Classifier::Ports(2, 3), Classifier::Dscp(0), Classifier::Auto(Bytes(2_000)),
        ]),
    ) {
        never_loops_and_forgets(tfe(random_fabric(seed, switches, extra), &config(choice), &by, seed), seed, loss)?;
    }

    #[test]
    fn every_host_can_be_reached_again_once_nothing_is_lost_any_more(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, loss in 0_u64..100, flows: bool,
    ) {
        let config = Exploration::default();
        let fabric = random_fabric(seed, switches, extra);
        if flows {
            can_talk(tcp_path(fabric, &config, seed), seed, loss)?;
        } else {
            can_talk(arp_path(fabric, &config, seed), seed, loss)?;
        }
    }

    #[test]
    fn every_frame_to_one_station_arrives_once_whatever_has_expired(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, flows in 0_u8..3, recover: bool,
    ) {
        // With arbitrary tiers, valley-free floods do not reach everything.
        let (learnt, attached) = (Duration::from_secs(10), Duration::from_secs(3_600));
        let config = Exploration { learnt, attached, ..config(2 * u8::from(recover)) };
        let fabric = random_fabric(seed, switches, extra);
        match flows {
            0 => all_arrive(arp_path(fabric, &config, seed), seed)?,
            1 => all_arrive(tcp_path(fabric, &config, seed), seed)?,
            _ => all_arrive(tfe(fabric, &config, &Classifier::Ports(2, 3), seed), seed)?,
        }
    }

    #[test]
    fn frames_arrive_though_switches_have_lost_their_tables(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, flows: bool, gap in 60_u64..1_000,
    ) {
        let config = Exploration::default();
        let (fabric, gap) = (random_fabric(seed, switches, extra), Duration::from_ms(gap));
        if flows {
            let fresh = |fabric: &_, node| TcpPathSwitch::new(&config, ways(fabric, node), seed);
            arrives_after_restarts(tcp_path(fabric, &config, seed), fresh, seed, gap)?;
        } else {
            let fresh = |fabric: &_, node| ArpPathSwitch::new(&config, ways(fabric, node), seed);
            arrives_after_restarts(arp_path(fabric, &config, seed), fresh, seed, gap)?;
        }
    }

    #[test]
    fn no_failure_doubles_a_frame_and_all_hosts_are_reached_with_the_first_frame_after_it(
        seed in 0_u64..1 << 40, switches in 2_u32..8, extra in 0_u32..8, flows: bool,
    ) {
        let config = Exploration::default();
        let fabric = random_fabric(seed, switches, extra);
        if flows {
            one_copy_whatever_fails(tcp_path(fabric, &config, seed), seed)?;
        } else {
            one_copy_whatever_fails(arp_path(fabric, &config, seed), seed)?;
        }
    }

    #[test]
    fn both_directions_of_every_connection_use_one_path(
        seed in 0_u64..1 << 40, switches in 2_u32..10, extra in 0_u32..12, both: bool,
    ) {
        let mut net = tcp_path(random_fabric(seed, switches, extra), &config(0), seed);
        let mut random = stream(seed, "pairs", 0);
        for sport in 1..20 {
            let hosts = net.fabric.host_count();
            let [from, to] = [0; 2].map(|_| below(&mut random, hosts) as u32);
            if from == to {
                continue;
            }
            net.resolve(from, to);
            net.send(segment(from, to, sport, 80, Header::SYN, 5));
            if both {
                net.run(Duration::from_ns(below(&mut random, 300_000) as u64));
                net.send(segment(to, from, 80, sport, Header::SYN, 6));
                net.run(Duration::from_ms(20));
                net.send(segment(from, to, sport, 80, Header::SYN | Header::ACK, 5));
                net.run(Duration::from_ns(below(&mut random, 300_000) as u64));
            }
            net.run(Duration::from_ms(20));
            net.send(segment(to, from, 80, sport, Header::SYN | Header::ACK, 6));
            net.run(Duration::from_ms(20));
            net.both_ways(from, to, sport, 80);
        }
        prop_assert_eq!(net.loops, 0);
    }
}

proptest! {
    #[test]
    fn a_switch_of_any_scheme_takes_any_frames(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        crate::explore::one_switch::run(&bytes);
    }
}
