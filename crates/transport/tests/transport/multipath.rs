//! Whole transfers over several paths.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::world::{Cable, World};
use weft_transport::profile::PROFILES;
use weft_transport::{Config, Endpoint, Mptcp, MptcpScheduler};
use weft_units::{Bytes, Duration, Rate, Time};

fn multipath(profile: &str, subflows: u8) -> Config {
    Config { mptcp: Mptcp::Ndiffports, subflows, ..Config::profile(profile).unwrap() }
}

#[test]
fn every_profile_delivers_all_bytes_and_closes_over_two_good_paths() {
    for (name, _) in PROFILES {
        for version in [0, 1] {
            for bytes in [0, 1, 1448, 100_000, 5_000_000] {
                let cfg = Config { mptcp_version: version, ..multipath(name, 2) };
                let mut world = World::new(vec![Cable::default(), Cable::default()]);
                let flow = world.open(&cfg, &[0, 1], bytes);
                let limit = Duration::from_secs(1000);
                let closed = world.run_until(limit, |world| world.flows[flow].is_closed());
                let (client, server) = (world.flows[flow].connection(0), world.flows[flow].connection(1));
                assert!(closed, "{name} {version} {bytes}: {client:#?} {server:#?}");
                assert_eq!(server.delivered(), bytes, "{name} {version}");
                assert_eq!(
                    (client.is_aborted(), server.is_aborted()),
                    (false, false),
                    "{name} {version} {bytes}"
                );
                assert_eq!(client.totals().timeouts, 0, "{name} {version} {bytes}");
            }
        }
    }
}

fn cable(mbps: u64, ms: u64) -> Cable {
    Cable { rate: Rate::from_bps(mbps * 1_000_000), delay: Duration::from_ms(ms), ..Cable::default() }
}

/// Bytes acknowledged on each of a flow's subflows.
fn by_subflow(world: &World, flow: usize) -> Vec<u64> {
    world.flows[flow].connection(0).subflows().map(Endpoint::acked).collect()
}

#[test]
fn the_subflow_with_the_least_round_trip_time_is_filled_first_or_all_send_in_turn() {
    // Only the connection's window of 64 kB is ever full: each subflow's is larger.
    let run = |scheduler| {
        let window = Bytes(65_535);
        let cfg = Config {
            mptcp_scheduler: scheduler,
            receive_buffer: window,
            initial_receive_window: window,
            initial_window: 50,
            ..multipath("linux", 2)
        };
        let mut world = World::new(vec![cable(1000, 20), cable(1000, 2)]);
        let flow = world.open(&cfg, &[0, 1], 20_000_000);
        let sent = Rc::new(RefCell::new(Vec::new()));
        let noted = Rc::clone(&sent);
        world.filter = Some(Box::new(move |_, packet| {
            if packet.to == 1 && packet.segment.len > 0 {
                noted.borrow_mut().push(packet.subflow);
            }
            false
        }));
        world.run_until(Duration::from_secs(100), |world| world.flows[flow].is_closed());
        let acked = by_subflow(&world, flow);
        (acked[1] as f64 / acked.iter().sum::<u64>() as f64, sent.take())
    };
    let (share, _) = run(MptcpScheduler::LowestRtt);
    assert!(share > 0.95, "share of the path with a tenth of the delay: {share:.3}");
    let (_, sent) = run(MptcpScheduler::RoundRobin);
    let both = sent.iter().position(|subflow| *subflow == 1).expect("the second subflow sends");
    let mut ahead = 0_i32;
    for subflow in &sent[both..] {
        ahead += if *subflow == 1 { 1 } else { -1 };
        assert!(ahead.abs() <= 2, "{ahead} segments ahead");
    }
    assert!(sent[both..].len() > 10_000, "{} segments in turn", sent[both..].len());
}

#[test]
fn what_a_dead_path_held_goes_to_the_other_and_a_path_that_heals_is_used_again() {
    let second = |s: u64| Time::from_ps(s * 1_000_000_000_000);
    let down = Cable { down: vec![(second(2), second(12))], ..cable(50, 10) };
    // An RTO is 200 ms plus a round trip. Stall checks are two round trips or 200 ms apart.
    for (count, pause, stale) in [(2, 0.2..0.6, 1), (4, 0.5..1.0, 1), (0, 0.5..1.5, 0)] {
        let cfg = Config { mptcp_stale_loss_count: count, ..multipath("linux", 2) };
        let mut world = World::new(vec![down.clone(), cable(50, 10)]);
        let flow = world.open(&cfg, &[0, 1], u64::MAX / 4);
        world.run_until(Duration::from_secs(4), |world| world.now >= second(2));
        // The longest time without data for the application after the cut.
        let (mut longest, mut last, mut delivered) = (0.0, world.now, 0);
        while world.now < second(12) {
            world.step(second(12));
            let now = world.flows[flow].delivered(1);
            if now > delivered {
                longest = f64::max(longest, (world.now - last).as_secs_f64());
                (delivered, last) = (now, world.now);
            }
        }
        let stats = world.flows[flow].connection(0).stats();
        println!("stale loss count {count}: {longest:.2} s without data, {stats:?}");
        assert!(pause.contains(&longest), "{longest} s");
        assert_eq!(stats.stale, stale);
        assert!(stats.reinjected > 0);
        let before = by_subflow(&world, flow);
        // The timeout after which the restored path is retried is at most 120 s.
        world.run(Duration::from_secs(140));
        let after = by_subflow(&world, flow);
        let since: Vec<u64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        assert!(since[0] > 50_000_000, "{since:?} bytes on the two paths since the first came up again");
    }
}

#[test]
fn small_queues_keep_the_data_of_each_subflow_out_of_its_interface() {
    let run = |small_queues| {
        let cfg = Config { small_queues, ..multipath("linux", 2) };
        let own = Cable { own: true, ..cable(50, 2) };
        let mut world = World::new(vec![own.clone(), own]);
        let flow = world.open(&cfg, &[0, 1], 10_000_000);
        assert!(world.run_until(Duration::from_secs(100), |world| world.flows[flow].is_closed()));
        let connection = world.flows[flow].connection(0);
        let longest = connection.subflows().map(|end| end.srtt().as_secs_f64()).fold(0.0, f64::max);
        (world.now.as_secs_f64(), longest, connection.totals().retransmissions)
    };
    let (held, free) = (run(true), run(false));
    println!("time, round-trip time, retransmissions: {held:?}, without small queues {free:?}");
    assert!(held.0 < free.0 * 1.02, "both interfaces stay busy");
    assert!(held.1 < 0.006 && free.1 > 0.012, "4 ms of the path, plus the queue");
    assert_eq!(held.2, 0);
}

#[test]
fn what_is_given_again_in_pieces_is_not_taken_for_lost_on_a_path_without_losses() {
    let down = (Time::from_ps(300_000_000_000), Time::MAX);
    let cables = vec![Cable { down: vec![down], ..cable(50, 10) }, Cable { queue: 10_000, ..cable(50, 10) }];
    let mut world = World::new(cables);
    let flow = world.open(&multipath("linux", 2), &[0, 1], 10_000_000);
    assert!(world.run_until(Duration::from_secs(100), |world| world.flows[flow].delivered(1) == 10_000_000));
    let connection = world.flows[flow].connection(0);
    let good = connection.subflows().nth(1).unwrap().stats();
    assert!(connection.stats().reinjected > 0);
    assert_eq!((good.retransmissions, good.timeouts), (0, 0));
}

#[test]
fn a_subflow_taken_away_is_reset_and_the_others_finish() {
    let mut world = World::new(vec![cable(50, 10), cable(50, 10)]);
    let flow = world.open(&multipath("linux", 2), &[0, 1], 10_000_000);
    world.run_until(Duration::from_ms(500), |_| false);
    world.flows[flow].connection_mut(0).remove(0);
    world.pump(flow, 0);
    assert!(world.run_until(Duration::from_secs(100), |world| world.flows[flow].is_closed()));
    let [client, server] = [0, 1].map(|side| world.flows[flow].connection(side));
    assert_eq!((server.delivered(), client.acked()), (10_000_000, 10_000_000));
    assert!(client.stats().reinjected > 0);
    assert!(server.subflows().next().unwrap().is_aborted());
}

#[test]
fn a_connection_whose_subflows_are_all_taken_away_is_aborted() {
    let mut world = World::new(vec![cable(50, 10), cable(50, 10)]);
    let flow = world.open(&multipath("linux", 2), &[0, 1], 10_000_000);
    world.run(Duration::from_ms(500));
    for number in 0..2 {
        world.flows[flow].connection_mut(0).remove(number);
    }
    world.pump(flow, 0);
    world.run_until(Duration::from_secs(100), |world| world.flows[flow].is_closed());
    for side in [0, 1] {
        let connection = world.flows[flow].connection(side);
        assert!(connection.is_closed() && connection.is_aborted(), "{side}");
    }
}

#[test]
fn the_window_of_the_connection_bounds_what_all_subflows_have_in_flight() {
    let window = 100_000;
    let cfg = Config {
        receive_buffer: Bytes(window),
        initial_receive_window: Bytes(window),
        ..multipath("linux", 3)
    };
    let mut world = World::new(vec![cable(100, 10), cable(100, 30), cable(100, 60)]);
    let flow = world.open(&cfg, &[0, 1, 2], 5_000_000);
    world.pump(flow, 0);
    while world.step(Time::MAX) && !world.flows[flow].is_closed() {
        let in_flight: u64 =
            world.flows[flow].connection(0).subflows().map(|end| u64::from(end.in_flight())).sum();
        assert!(in_flight <= window, "{in_flight}");
    }
    assert_eq!(world.flows[flow].delivered(1), 5_000_000);
}
