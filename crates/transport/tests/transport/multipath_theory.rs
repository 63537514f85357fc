//! Multipath congestion control compared with theory: windows at given loss rates, shares of a bottleneck, the sum over
//! disjoint paths. Prints the figures; the comments justify the bounds.

use crate::common::world::{Cable, World};
use weft_transport::{Config, CongestionControl, Endpoint, Mptcp, MptcpCongestion, MptcpScheduler};
use weft_units::{Bytes, Duration, Rate};

fn all() -> impl Iterator<Item = MptcpCongestion> {
    MptcpCongestion::WORDS.iter().map(|word| word.parse().unwrap())
}

fn coupled() -> impl Iterator<Item = MptcpCongestion> {
    all().filter(|kind| *kind != MptcpCongestion::Uncoupled)
}

/// Reno, the basis of the coupled controllers, without other limits on its window: buffers, delayed ACKs, restarts.
fn reno() -> Config {
    Config {
        congestion_control: CongestionControl::Reno,
        receive_buffer: Bytes(1 << 26),
        initial_receive_window: Bytes(1 << 26),
        send_buffer: Bytes(1 << 26),
        delayed_ack_segments: 1,
        ..Config::profile("linux").unwrap()
    }
}

fn multipath(subflows: u8, mptcp_congestion: MptcpCongestion) -> Config {
    Config { mptcp: Mptcp::Ndiffports, subflows, mptcp_congestion, ..reno() }
}

/// Mbps delivered by each of `flows` during `time` after `warm_up`; a flow is a TCP config and the links of its
/// subflows.
fn rates(cables: &[Cable], flows: &[(Config, &[usize])], warm_up: Duration, time: Duration) -> Vec<f64> {
    let mut world = World::new(cables.to_vec());
    for (cfg, cables) in flows {
        world.open(cfg, cables, u64::MAX / 4);
        // Staggered starts.
        world.run(Duration::from_ms(137));
    }
    world.run(warm_up);
    let before: Vec<u64> = world.flows.iter().map(|flow| flow.delivered(1)).collect();
    world.run(time);
    let after = world.flows.iter().map(|flow| flow.delivered(1));
    after
        .zip(before)
        .map(|(after, before)| (after - before) as f64 * 8.0 / time.as_secs_f64() / 1e6)
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A path with random loss that is never full, so that only the loss rate determines the window.
fn lossy(loss: u64, seed: u64) -> Cable {
    let rate = Rate::from_gbps(10);
    Cable { rate, delay: Duration::from_ms(10), queue: 100_000, loss, seed, ..Cable::default() }
}

/// At a random loss rate p, a TCP's window is about sqrt(3/2p), and so is the total window of n equal coupled subflows
/// (RFC 6356, section 2, goal 2; the increase of each is 1/n² of Reno's). So the ratio is 1, less the 2 % of a segment
/// that a mapping takes. LIA uses the currently best path, which is better than the mean, so it gets more. 200 s
/// contain about 700 losses, for a standard error of about 4 %.
#[test]
fn under_equal_losses_coupled_subflows_send_as_much_as_one_tcp_and_uncoupled_ones_as_much_as_they_are() {
    let (warm_up, time) = (Duration::from_secs(20), Duration::from_secs(200));
    let tcp = rates(&[lossy(1000, 1)], &[(reno(), &[0])], warm_up, time)[0];
    let window = tcp * 1e6 * 0.02 / 8.0 / 1448.0;
    println!("TCP {tcp:.1} Mbps, window {window:.1} segments, sqrt(3/2p) = {:.1}", 1500_f64.sqrt());
    assert!((0.85..1.1).contains(&(window / 1500_f64.sqrt())), "Mathis et al., CCR 1997");
    for n in [2_u8, 4] {
        let cables: Vec<Cable> = (1..=n).map(|seed| lossy(1000, u64::from(seed))).collect();
        let numbers: Vec<usize> = (0..usize::from(n)).collect();
        for kind in all() {
            let multi = rates(&cables, &[(multipath(n, kind), &numbers)], warm_up, time)[0];
            println!("{n} subflows, {kind:?}: {:.2} times a TCP", multi / tcp);
            let bounds = match kind {
                MptcpCongestion::Uncoupled => 0.9 * f64::from(n)..1.05 * f64::from(n),
                MptcpCongestion::Lia => 0.95..1.25,
                MptcpCongestion::Olia | MptcpCongestion::Balia => 0.88..1.1,
            };
            assert!(bounds.contains(&(multi / tcp)), "{n} {kind:?}: {}, not in {bounds:?}", multi / tcp);
        }
    }
}

/// Four TCPs and one connection of n subflows at a queue with random drops, so that all packets are equally likely to
/// be lost: the same equilibrium as above, hence the same ratios. (With drop-tail, losses hit flows that have just
/// grown: see docs/transport.md.)
#[test]
fn at_a_shared_bottleneck_coupled_subflows_take_the_share_of_one_tcp_and_uncoupled_ones_one_each() {
    let (warm_up, time) = (Duration::from_secs(10), Duration::from_secs(30));
    for n in [2_u8, 4] {
        for kind in all() {
            let mut flows: Vec<(Config, &[usize])> = vec![(reno(), &[0]); 4];
            flows.push((multipath(n, kind), &[0]));
            // In a single run one TCP may get a third more than the others for a long time, so average several runs.
            let runs = [1, 2, 3].map(|seed| {
                let delay = Duration::from_ms(10);
                let bottleneck = Cable { delay, queue: 170, early: true, seed, ..Cable::default() };
                rates(&[bottleneck], &flows, warm_up, time)
            });
            let rates: Vec<f64> = (0..5).map(|flow| mean(&runs.each_ref().map(|run| run[flow]))).collect();
            let tcp = mean(&rates[..4]);
            let share = rates[4] / tcp;
            println!("{n} subflows, {kind:?}: {:.1} Mbps, a TCP {tcp:.1}: {share:.2} times", rates[4]);
            let bounds = match kind {
                MptcpCongestion::Uncoupled => 0.88 * f64::from(n)..1.05 * f64::from(n),
                MptcpCongestion::Lia => 0.9..1.3,
                MptcpCongestion::Olia | MptcpCongestion::Balia => 0.85..1.12,
            };
            assert!(bounds.contains(&share), "{n} {kind:?}: {share}, not in {bounds:?}");
            assert!(rates.iter().sum::<f64>() > 88.0, "the link is used: {rates:?}");
        }
    }
}

/// Two otherwise unused paths are full whatever the coupling, so the rate is the sum of both, less headers: 1420 of the
/// 1538 bytes of a frame are data.
#[test]
fn over_disjoint_paths_the_rates_add_up() {
    let cable = |mbps: u64, ms, queue| Cable {
        rate: Rate::from_bps(mbps * 1_000_000),
        delay: Duration::from_ms(ms),
        queue,
        ..Cable::default()
    };
    let cases = [[cable(50, 10, 100), cable(50, 10, 100)], [cable(100, 5, 100), cable(25, 30, 150)]];
    for cables in &cases {
        let most: f64 =
            cables.iter().map(|cable| cable.rate.bps() as f64 / 1e6).sum::<f64>() * 1420.0 / 1538.0;
        for kind in all() {
            for scheduler in [MptcpScheduler::LowestRtt, MptcpScheduler::RoundRobin] {
                let cfg = Config { mptcp_scheduler: scheduler, ..multipath(2, kind) };
                let rate =
                    rates(cables, &[(cfg, &[0, 1])], Duration::from_secs(10), Duration::from_secs(30))[0];
                println!("{kind:?}, {scheduler:?}: {rate:.1} of {most:.1} Mbps");
                assert!(
                    rate > 0.98 * most && rate < 1.001 * most,
                    "{kind:?} {scheduler:?}: {rate} of {most}"
                );
            }
        }
    }
}

/// RFC 6356's first goal: all subflows together perform as well as a TCP on the best path, and use a path less the more
/// it loses: with LIA, windows are proportional to 1/p, here 16 to 1. Windows are never smaller than two segments (1.1
/// Mbps). 200 s contain about 300 losses on the better path, for a standard error of about 6 %.
#[test]
fn over_unequal_losses_a_connection_does_as_well_as_a_tcp_on_the_best_path_and_leaves_the_other() {
    let (warm_up, time) = (Duration::from_secs(20), Duration::from_secs(200));
    let cables = [lossy(500, 1), lossy(8000, 2)];
    let best = rates(&cables, &[(reno(), &[0])], warm_up, time)[0];
    println!("TCP: {best:.1} Mbps on the better path");
    for kind in coupled() {
        let mut world = World::new(cables.to_vec());
        let flow = world.open(&multipath(2, kind), &[0, 1], u64::MAX / 4);
        let acked = |world: &World, number: usize| {
            world.flows[flow].connection(0).subflows().nth(number).map_or(0, Endpoint::acked) as f64
        };
        world.run(warm_up);
        let before = [0, 1].map(|number| acked(&world, number));
        world.run(time);
        let mbps = |number: usize| (acked(&world, number) - before[number]) * 8e-6 / time.as_secs_f64();
        let (first, second) = (mbps(0), mbps(1));
        let ratio = (first + second) / best;
        println!("{kind:?}: {first:.1} and {second:.1} Mbps, {ratio:.2} of a TCP on the best");
        assert!((0.85..1.15).contains(&ratio), "{kind:?}: {ratio}");
        assert!(second < 0.1 * (first + second), "{kind:?} sends {second:.1} Mbps on the worse path");
    }
}
