//! Properties that hold for every network, segment and seed.

use crate::common::hostile::mutate;
use crate::common::{Link, Network, Random, transfer};
use proptest::prelude::*;
use weft_transport::{Config, CongestionControl, EcnMode, Endpoint, HyStart, Segment};
use weft_units::{Duration, Rate, Time};

/// Profiles and variations of them that exercise different code paths.
fn configs() -> Vec<(&'static str, Config)> {
    let profile = |name: &str| Config::profile(name).unwrap();
    let ns3 = || Config { mss: 1448, ..profile("ns3-3.37") };
    let no_sack = |cfg: Config| Config {
        sack: false,
        dsack: false,
        rack: false,
        tail_loss_probe: false,
        undo: false,
        ..cfg
    };
    let mut plus_plus = profile("linux");
    plus_plus.congestion.cubic.hystart.mode = HyStart::PlusPlus;
    vec![
        ("ns3-3.23", profile("ns3-3.23")),
        ("ns3-3.26", profile("ns3-3.26")),
        ("ns3-3.37", ns3()),
        ("ns3-3.37, NewReno, SACK", Config { congestion_control: CongestionControl::Reno, ..ns3() }),
        ("ns3-3.37, NewReno", no_sack(Config { congestion_control: CongestionControl::Reno, ..ns3() })),
        ("linux", profile("linux")),
        ("linux, HyStart++", plus_plus),
        ("linux, no RACK", Config { rack: false, tail_loss_probe: false, ..profile("linux") }),
        (
            "linux, no RACK, no PRR, no F-RTO",
            Config {
                rack: false,
                tail_loss_probe: false,
                proportional_rate_reduction: false,
                frto: false,
                ..profile("linux")
            },
        ),
        (
            "linux, Reno without SACK",
            no_sack(Config { congestion_control: CongestionControl::Reno, ..profile("linux") }),
        ),
        ("linux, ECN", Config { ecn: EcnMode::Classic, ..profile("linux") }),
        ("linux, no timestamps", Config { timestamps: false, paws: false, ..profile("linux") }),
        ("dctcp", profile("dctcp")),
        ("dctcp, RACK", Config { rack: true, tail_loss_probe: true, ..profile("dctcp") }),
        ("linux, pacing", Config { pacing: true, ..profile("linux") }),
    ]
}

#[test]
fn every_congestion_controller_is_among_the_configs() {
    for word in CongestionControl::WORDS {
        assert!(configs().iter().any(|(_, cfg)| cfg.congestion_control.word() == *word), "{word}");
    }
}

/// A config that never gives up: profiles that abort after a few timeouts would fail by chance.
fn patient(which: usize) -> (&'static str, Config) {
    let (name, cfg) = configs().swap_remove(which);
    (name, Config { data_retries: u8::MAX, syn_retries: u8::MAX, ..cfg })
}

fn link() -> impl Strategy<Value = Link> {
    (
        any::<u64>(),
        prop_oneof![Just(0_u64), 1..30_u64, Just(150)],
        prop_oneof![Just(0_u64), 1..50_u64],
        prop_oneof![Just(0_u64), 1..300_u64],
        1..400_u64,
        prop_oneof![Just(5_usize), Just(20), Just(200)],
        prop_oneof![Just(3_usize), Just(usize::MAX)],
        prop_oneof![Just(10_u64), Just(1000), Just(10_000)],
    )
        .prop_map(|(seed, loss, duplicate, reorder, jitter, queue, mark, mbps)| Link {
            seed,
            loss,
            duplicate,
            reorder,
            jitter: Duration::from_us(jitter),
            queue,
            mark,
            rate: Rate::from_bps(mbps * 1_000_000),
            ..Link::default()
        })
}

proptest! {
    #[test]
    fn all_bytes_arrive_and_the_connection_closes(
        which in 0..configs().len(),
        link in link(),
        bytes in 0..400_000_u64,
    ) {
        let (name, cfg) = patient(which);
        let outcome = transfer(&cfg, &link, bytes);
        prop_assert!(outcome.fct.is_some(), "{name}: {outcome:?}");
        prop_assert!(outcome.closed, "{name}: {outcome:?}");
        // No livelock: the packets sent are a small multiple of those needed.
        let needed = bytes / u64::from(cfg.mss) + 10;
        prop_assert!(outcome.network_packets < needed * 40 + 2000, "{name}: {outcome:?}");
    }

    #[test]
    fn both_ways_at_once_all_bytes_arrive(
        which in 0..configs().len(),
        link in link(),
        up in 0..100_000_u64,
        down in 0..100_000_u64,
    ) {
        let (name, cfg) = patient(which);
        let mut network = Network::new(cfg, link);
        for (side, bytes) in [(0, up), (1, down)] {
            network.side[side].write(bytes);
            if side == 0 {
                network.side[side].close();
            }
        }
        let done = network.run_until(Duration::from_secs(1_000_000), |n| {
            n.side[1].delivered() == up && n.side[0].delivered() == down
        });
        prop_assert!(done, "{name}: {} of {up}, {} of {down}", network.side[1].delivered(), network.side[0].delivered());
        network.side[1].close();
        let closed = network.run_until(Duration::from_secs(1_000_000), |n| n.side.iter().all(Endpoint::is_closed));
        prop_assert!(closed, "{name}: {:?} {:?}", network.side[0].state(), network.side[1].state());
    }

    #[test]
    fn writes_in_pieces_arrive_whole(which in 0..configs().len(), link in link(), seed in any::<u64>()) {
        let (name, cfg) = patient(which);
        let mut network = Network::new(cfg, link);
        let mut random = Random(seed);
        let mut total = 0;
        for _ in 0..20 {
            let bytes = random.next() % 20_000;
            total += bytes;
            network.side[0].write(bytes);
            let pause = network.now + Duration::from_us(random.next() % 2000);
            while network.step(pause) {}
        }
        network.side[0].close();
        let done = network.run_until(Duration::from_secs(1_000_000), |n| n.side[1].delivered() == total);
        prop_assert!(done, "{name}: {} of {total}", network.side[1].delivered());
    }

    #[test]
    fn no_segment_however_hostile_panics_or_makes_a_side_send_without_end(
        which in 0..configs().len(),
        seed in any::<u64>(),
        count in 1..400_usize,
    ) {
        let (_, cfg) = &configs()[which];
        let mut random = Random(seed);
        let link = Link { loss: 100, reorder: 200, jitter: Duration::from_us(100), seed, ..Link::default() };
        let mut network = Network::new(cfg.clone(), link);
        network.side[0].write(1_000_000);
        network.side[1].write(50_000);
        let mut last = Segment::default();
        for _ in 0..count {
            let steps = random.next() % 8;
            for _ in 0..steps {
                if !network.step(Time::MAX) {
                    break;
                }
            }
            let side = (random.next() % 2) as usize;
            let mut probe = Segment::default();
            if network.side[1 - side].poll_transmit(cfg, network.now, &mut probe) {
                last = probe;
            }
            let segment = mutate(&mut random, &last);
            network.side[side].on_segment(cfg, network.now, &segment);
            network.drain(side);
        }
    }
}

#[test]
fn a_flow_of_more_than_four_gigabytes_wraps_and_arrives() {
    let cfg = Config {
        mss: 60_000,
        receive_buffer: weft_units::Bytes(1 << 22),
        initial_receive_window: weft_units::Bytes(1 << 22),
        ..Config::profile("linux").unwrap()
    };
    let link = Link { rate: Rate::from_gbps(100), loss: 1, ..Link::default() };
    let bytes = 9_000_000_000;
    let outcome = transfer(&cfg, &link, bytes);
    assert!(outcome.fct.is_some() && outcome.closed, "{outcome:?}");
}
