//! Schemes that balance load at switches: hand-made cases of their rules, and shares against capacities.

use weft_fabric::build::{self, spine_leaf};
use weft_fabric::{Fabric, FabricBuilder, LinkSpec};
use weft_switching::{Action, Header, ParamValue, SchemeSpec, descriptor};
use weft_units::{Duration, NodeId, PortId, Rate, Time};

use crate::common::{End, Network, SEED, frame, is_even, network, routes, scheme, scheme_with};

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Four spines, two leaves with two hosts each.
fn fabric() -> Fabric {
    spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap()
}

/// The leaf of host 0, its port to that host, and its ports to the spines.
fn leaf(fabric: &Fabric) -> (NodeId, PortId, Vec<PortId>) {
    let link = fabric.link(fabric.ports(fabric.hosts()[0])[0]);
    let ups = fabric.ports(link.to).iter().enumerate().filter_map(|(port, id)| {
        let is_up = !fabric.node(fabric.link(*id).to).is_host();
        is_up.then_some(PortId(port as u16))
    });
    (link.to, link.to_port, ups.collect())
}

/// The port by which the leaf of host 0 sends a frame from it to host 2.
fn sent(net: &mut dyn Network, fabric: &Fabric, now: Time, sport: u16) -> PortId {
    let (at, ingress, _) = leaf(fabric);
    match net.receive(now, at, ingress, &frame(0, 2, sport, 80))[..] {
        [Action::Send(port)] => port,
        ref other => panic!("not sent once: {other:?}"),
    }
}

/// The number of frames by port, out of `frames` of different flows.
fn shares(net: &mut dyn Network, fabric: &Fabric, frames: u16) -> Vec<u64> {
    let ups = leaf(fabric).2;
    let mut counts = vec![0; ups.len()];
    for sport in 0..frames {
        let port = sent(net, fabric, us(0), sport);
        counts[ups.iter().position(|up| *up == port).expect("a port to a spine")] += 1;
    }
    counts
}

#[test]
fn letflow_keeps_a_flow_on_its_port_until_a_pause_and_then_draws_evenly() {
    let fabric = fabric();
    network(&fabric, &scheme("letflow"), SEED, |net| {
        let (mut counts, ups) = ([0; 4], leaf(&fabric).2);
        for pause in 0..2_000_u64 {
            let start = us(1_500 * pause);
            let port = sent(net, &fabric, start, 7);
            for later in [100, 599, 1_000] {
                assert_eq!(sent(net, &fabric, start + Duration::from_us(later), 7), port);
            }
            counts[ups.iter().position(|up| *up == port).unwrap()] += 1;
        }
        is_even("ports after a pause of 500 us", &counts);
    });
}

#[test]
fn letflow_leaves_a_port_that_no_longer_leads_to_the_destination() {
    let fabric = fabric();
    network(&fabric, &scheme("letflow"), SEED, |net| {
        let port = sent(net, &fabric, us(0), 7);
        let (at, ..) = leaf(&fabric);
        net.reroute(&routes(&fabric, &[fabric.ports(at)[port.index()]]));
        assert_ne!(sent(net, &fabric, us(1), 7), port);
    });
}

#[test]
fn drill_takes_the_shortest_queue_that_it_sampled_or_remembers() {
    let fabric = fabric();
    let (at, _, ups) = leaf(&fabric);
    let many = scheme_with("drill", "samples", ParamValue::Count(64));
    network(&fabric, &many, SEED, |net| {
        for shortest in 0..4 {
            net.set_queues(
                at,
                ups.iter().map(|up| (*up, if *up == ups[shortest] { 1 } else { 2 })).collect(),
            );
            assert_eq!(sent(net, &fabric, us(0), 7), ups[shortest]);
        }
    });
    // Two samples miss the shortest of four queues with a probability of 9/16; one that was found is remembered.
    network(&fabric, &scheme("drill"), SEED, |net| {
        net.set_queues(at, ups.iter().map(|up| (*up, if *up == ups[2] { 1 } else { 2 })).collect());
        let ports: Vec<PortId> = (0..100).map(|sport| sent(net, &fabric, us(0), sport)).collect();
        let found = ports.iter().position(|port| *port == ups[2]).expect("it is found");
        assert!(ports[found..].iter().all(|port| *port == ups[2]), "{ports:?}");
    });
}

#[test]
fn drill_spreads_packets_over_equal_queues_evenly() {
    let fabric = fabric();
    network(&fabric, &scheme("drill"), SEED, |net| {
        is_even("ports of equal queues", &shares(net, &fabric, 8_000));
    });
}

/// Three leaves with one host each and two spines; the link between leaf 0 and spine 0 has a fifth of the others' rate.
/// Hosts have `host` times the rate of the other links.
fn lame(host: f64) -> Fabric {
    let mut builder = FabricBuilder::new("lame");
    let fast = LinkSpec::default();
    let own = fast.clone().with_rate(Rate::from_bps((fast.rate.bps() as f64 * host) as u64));
    let slow = fast.clone().with_rate(Rate::from_bps(fast.rate.bps() / 5));
    let hosts: Vec<_> = (0..3).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
    let leaves: Vec<_> = (0..3).map(|i| builder.add_switch(format!("l{i}"), 1, None).unwrap()).collect();
    let spines: Vec<_> = (0..2).map(|i| builder.add_switch(format!("s{i}"), 2, None).unwrap()).collect();
    for (number, (host, leaf)) in hosts.iter().zip(&leaves).enumerate() {
        builder.connect(*host, *leaf, &own).unwrap();
        for (other, spine) in spines.iter().enumerate() {
            builder.connect(*leaf, *spine, if number + other == 0 { &slow } else { &fast }).unwrap();
        }
    }
    builder.build().unwrap()
}

#[test]
fn shares_follow_the_capacities_under_wcmp_and_between_drills_components() {
    let within = |counts: &[u64], expected: f64| {
        let share = counts[0] as f64 / counts.iter().sum::<u64>() as f64;
        // Four standard errors of 12 000 flows.
        let error = 4.0 * (expected * (1.0 - expected) / 12_000.0_f64).sqrt();
        assert!((share - expected).abs() < error, "{counts:?}: {share}, expected {expected}");
    };
    // Also of hosts that are slower or faster than the links of which one is slow.
    for fabric in [lame(1.0), lame(0.01), lame(10.0)] {
        for (name, percent, expected) in [
            ("wcmp", 1, 1.0 / 6.0),
            ("wcmp", 100, 1.0 / 3.0),
            ("wcmp", 200, 1.0 / 2.0),
            ("drill", 0, 1.0 / 6.0),
        ] {
            let spec = match percent {
                0 => scheme(name),
                percent => scheme_with(name, "oversubscription", ParamValue::Count(percent)),
            };
            network(&fabric, &spec, SEED, |net| {
                // The other leaves do not send over the slow link to each other, but to leaf 0.
                within(&shares(net, &fabric, 12_000), expected);
            });
        }
    }
}

#[test]
fn wcmp_reduces_its_groups_until_they_fit_the_table_but_not_below_an_entry_a_port() {
    let fabric = lame(1.0);
    let (at, ..) = leaf(&fabric);
    for (table, entries, expected) in [
        (4_096, 6, 1.0 / 6.0),
        (6, 6, 1.0 / 6.0),
        (5, 5, 1.0 / 5.0),
        (3, 3, 1.0 / 3.0),
        (2, 2, 0.5),
        (1, 2, 0.5),
    ] {
        let spec = scheme_with("wcmp", "group_table", ParamValue::Count(table));
        network(&fabric, &spec, SEED, |net| {
            // One group for the hosts of both other leaves; the port of the leaf's own host needs none.
            assert_eq!(net.entries(at).groups, entries, "a table of {table}");
            let counts = shares(net, &fabric, 12_000);
            let share = counts[0] as f64 / 12_000.0;
            assert!((share - expected).abs() < 0.015, "a table of {table}: {share}, expected {expected}");
        });
    }
}

#[test]
fn wcmp_bounds_its_table_whatever_the_rates_of_links() {
    let mut builder = FabricBuilder::new("uneven");
    let link = LinkSpec::default();
    let hosts = ["h0", "h1", "h2"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
    for (host, switch) in [(0, 0), (1, 0), (2, 1)] {
        builder.connect(hosts[host], switches[switch], &link).unwrap();
    }
    // The slowest and the fastest links there can be: exact shares would need 2 * 10^10 entries.
    for bps in [1_000, 10_000_000_000_000, 10_000_000_000_000] {
        builder.connect(switches[0], switches[1], &link.clone().with_rate(Rate::from_bps(bps))).unwrap();
    }
    let fabric = builder.build().unwrap();
    let spec = |entries| scheme_with("wcmp", "group_table", ParamValue::Count(entries));
    let contradiction = |entries| descriptor("wcmp").unwrap().contradiction_of(&spec(entries));
    assert_eq!(contradiction(65_536), None);
    assert_eq!(contradiction(65_537).expect("too large").expected, "expected 1 to 65536");
    let spec = spec(65_536);
    network(&fabric, &spec, SEED, |net| {
        let entries = net.entries(switches[0]).groups;
        assert!((32_768..=65_536).contains(&entries), "{entries}");
    });
}

#[test]
fn drill_compares_no_queues_of_paths_that_carry_other_sources() {
    let fabric = spine_leaf(3, 3, 1, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let cut = fabric.link_named("l1-s0").unwrap();
    let (at, _, ups) = leaf(&fabric);
    network(&fabric, &scheme("drill"), SEED, |net| {
        net.set_queues(at, vec![(ups[0], 9_000), (ups[1], 1_000), (ups[2], 5_000)]);
        // All in one component: nobody takes the longest queue for long.
        let longest = |net: &mut dyn Network| {
            (100..1_100).filter(|sport| sent(net, &fabric, us(0), *sport) == ups[0]).count()
        };
        assert!(longest(net) < 20);
        // Without leaf 1, spine 0 carries traffic of leaf 0 alone: a third of the flows has to take it.
        net.reroute(&routes(&fabric, &[cut, cut.reverse()]));
        let count = longest(net);
        assert!((270..400).contains(&count), "{count} of 1000");
    });
}

#[test]
fn adaptive_takes_a_port_of_the_least_loaded_band_as_it_was_sampled() {
    let fabric = fabric();
    let (at, _, ups) = leaf(&fabric);
    let mut by_packet = scheme_with("adaptive", "mode", ParamValue::Text("packet".to_owned()));
    by_packet.params.insert("bands".to_owned(), ParamValue::Count(2));
    network(&fabric, &by_packet, SEED, |net| {
        // Two bands: below 100 kB, and from there on.
        net.set_queues(at, vec![(ups[0], 100_000), (ups[1], 99_999), (ups[2], 0), (ups[3], 500_000)]);
        let counts = shares(net, &fabric, 4_000);
        assert_eq!((counts[0], counts[3]), (0, 0), "{counts:?}");
        is_even("ports of one band", &counts[1..3]);
        // Read again after 16 us.
        net.set_queues(at, vec![(ups[1], 100_000), (ups[2], 100_000), (ups[3], 100_000)]);
        assert_ne!(sent(net, &fabric, us(15), 9), ups[0]);
        assert_eq!(sent(net, &fabric, us(16), 9), ups[0]);
    });
}

#[test]
fn adaptive_moves_a_flow_only_after_a_pause() {
    let fabric = fabric();
    let (at, _, ups) = leaf(&fabric);
    network(&fabric, &scheme("adaptive"), SEED, |net| {
        let port = sent(net, &fabric, us(0), 9);
        net.set_queues(at, ups.iter().map(|up| (*up, if *up == port { 50_000 } else { 0 })).collect());
        assert_eq!(sent(net, &fabric, us(255), 9), port);
        assert_ne!(sent(net, &fabric, us(255 + 256), 9), port);
    });
}

#[test]
fn wcmp_is_even_on_a_symmetric_fabric() {
    let link = LinkSpec::default();
    let fabric = build::fat_tree(8, &link, &link).unwrap();
    let spec: SchemeSpec = scheme("wcmp");
    network(&fabric, &spec, SEED, |net| {
        let (at, ingress, ups) = leaf(&fabric);
        let mut counts = vec![0; ups.len()];
        for sport in 0..8_000 {
            let [Action::Send(port)] = net.receive(us(0), at, ingress, &frame(0, 100, sport, 80))[..] else {
                panic!("not sent once")
            };
            counts[ups.iter().position(|up| *up == port).unwrap()] += 1;
        }
        is_even("uplinks of an edge switch", &counts);
    });
}

/// The spines that new flows from host `src` to host `dst` pass, by spine, one flow each 80 us.
fn spines(net: &mut dyn Network, fabric: &Fabric, from: u64, [src, dst]: [u32; 2], count: u16) -> Vec<u64> {
    let mut counts = vec![0; 4];
    for sport in 0..count {
        let now = us(from + 80 * u64::from(sport));
        let [End::Host(_, path)] = &net.send(now, &frame(src, dst, sport + 1_000, 80))[..] else {
            panic!("it arrives once")
        };
        let name = &fabric.node(fabric.link(path[1]).to).name;
        counts[name[1..].parse::<usize>().unwrap()] += 1;
    }
    counts
}

#[test]
fn conga_avoids_a_path_that_the_other_leaf_reports_as_congested() {
    let fabric = fabric();
    network(&fabric, &scheme("conga"), SEED, |net| {
        is_even("spines without reports", &spines(net, &fabric, 0, [0, 2], 4_000));
    });
    network(&fabric, &scheme("conga"), SEED, |net| {
        // Host 2's leaf has heard of no path but that of one flow of host 0, which filled its links.
        let mut path = Vec::new();
        for _ in 0..200 {
            match &net.send(us(0), &frame(0, 2, 7, 80))[..] {
                [End::Host(_, links)] => path.clone_from(links),
                other => panic!("{other:?}"),
            }
        }
        // The utilisation soon leaves the links, but the report that comes now counts for 10 ms.
        net.send(us(1), &frame(2, 0, 7, 80));
        let busy = fabric.node(fabric.link(path[1]).to).name[1..].parse::<usize>().unwrap();
        let counts = spines(net, &fabric, 500, [0, 2], 110);
        assert_eq!(counts[busy], 0, "{counts:?}");
        // It has aged.
        let counts = spines(net, &fabric, 10_001, [1, 3], 110);
        assert!(counts[busy] > 0, "{counts:?}");
    });
}

#[test]
fn under_conga_with_data_as_carriers_acknowledgements_report_nothing_and_count_on_no_link() {
    let fabric = fabric();
    let spec = scheme_with("conga", "carriers", ParamValue::Text("data".to_owned()));
    for (filling, report, avoids) in [(1_000, 1_000, true), (1_000, 0, false), (0, 1_000, false)] {
        network(&fabric, &spec, SEED, |net| {
            let mut path = Vec::new();
            for _ in 0..200 {
                match &net.send(us(0), &Header { payload: filling, ..frame(0, 2, 7, 80) })[..] {
                    [End::Host(_, links)] => path.clone_from(links),
                    other => panic!("{other:?}"),
                }
            }
            net.send(us(1), &Header { payload: report, ..frame(2, 0, 7, 80) });
            let busy = fabric.node(fabric.link(path[1]).to).name[1..].parse::<usize>().unwrap();
            let mut counts = vec![0; 4];
            for sport in 0..110 {
                let later = us(500 + 80 * u64::from(sport));
                let sent = net.send(later, &Header { payload: 1_000, ..frame(0, 2, sport + 1_000, 80) });
                let [End::Host(_, links)] = &sent[..] else { panic!("it arrives once") };
                counts[fabric.node(fabric.link(links[1]).to).name[1..].parse::<usize>().unwrap()] += 1;
            }
            assert_eq!(counts[busy] == 0, avoids, "{filling} {report}: {counts:?}");
        });
    }
}

#[test]
fn conga_says_why_a_fabric_is_not_one_of_two_tiers() {
    let link = LinkSpec::default();
    let misfit = descriptor("conga").unwrap().misfit.unwrap();
    assert_eq!(misfit(&scheme("conga"), &fabric()), None);
    for (fabric, expected) in [
        (build::fat_tree(4, &link, &link).unwrap(), "are connected"),
        (build::ring(5, 2, &link, &link).unwrap(), "the leaves"),
    ] {
        let found = misfit(&scheme("conga"), &fabric).expect("it does not fit");
        assert!(found.message.contains(expected), "{}", found.message);
    }
}
