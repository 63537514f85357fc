//! One flow on an idle fabric: its completion time can be computed by hand, and must match to the
//! picosecond.
//!
//! A flow starts when its application connects and ends when the receiver has its last byte: SYN one
//! way, SYN+ACK back, then the ACK of the handshake and right behind it the data. A link receives a
//! whole packet, sends it at its rate and delivers it after its delay (store and forward).

use crate::common::{Trial, profile, scheme};
use proptest::prelude::*;
use weft_fabric::{Fabric, FabricBuilder, FabricError, LinkSpec, Overhead, build};
use weft_switching::registry;
use weft_transport::Config;
use weft_units::{Bytes, Duration, Rate};

fn spec(rate_mbps: u64, delay_ns: u64, overhead: Overhead) -> LinkSpec {
    LinkSpec::new(Rate::from_bps(rate_mbps * 1_000_000), Duration::from_ns(delay_ns)).with_overhead(overhead)
}

/// Two hosts with switches between them; each link is (forward, reverse).
fn chain(cables: &[(LinkSpec, LinkSpec)]) -> Result<Fabric, FabricError> {
    let mut builder = FabricBuilder::new("chain");
    let mut nodes = vec![builder.add_host("h0", 0, None)?];
    for i in 1..cables.len() {
        nodes.push(builder.add_switch(format!("s{i}"), 1, None)?);
    }
    nodes.push(builder.add_host("h1", 0, None)?);
    for (pair, (forth, back)) in nodes.windows(2).zip(cables) {
        builder.connect_asymmetric(pair[0], pair[1], forth, back)?;
    }
    builder.build()
}

fn both_ways(spec: LinkSpec) -> (LinkSpec, LinkSpec) {
    (spec.clone(), spec)
}

/// A TCP whose segments carry no options after the handshake.
fn bare() -> Config {
    let linux = profile("linux");
    let bare = Config { timestamps: false, paws: false, sack: false, rack: false, ..linux };
    Config { tail_loss_probe: false, dsack: false, undo: false, ..bare }
}

#[test]
fn a_flow_of_one_segment_takes_the_time_worked_out_by_hand() {
    use Overhead::{Ethernet, EthernetFrame, None, Ppp};
    let ten_g = spec(10_000, 1_000, Ethernet);
    let fat_tree = spec(1_000, 25_000, Ppp);
    let slow_middle = [ten_g.clone(), spec(1_000, 10_000, Ethernet), ten_g.clone()].map(both_ways);
    let slow_middle = chain(&slow_middle).unwrap();
    let lopsided = chain(&[(spec(10_000, 2_000, Ethernet), spec(1_000, 7_000, Ethernet))]).unwrap();
    let single = |link| chain(&[both_ways(link)]).unwrap();
    let (fast, slow) = (single(spec(100_000, 500, None)), single(spec(1_000, 10_000, Ethernet)));
    let dumbbell = build::dumbbell(1, 1, &ten_g, &ten_g).unwrap();
    let fat_tree = build::fat_tree(4, &fat_tree, &fat_tree).unwrap();
    let frames = single(spec(1_000, 10_000, EthernetFrame));
    let cases: [(&str, Fabric, Config, u64, u64); 7] = [
        // A byte takes 0.8 ns. SYN and SYN+ACK are 60 + 38 bytes: 3 x (78.4 + 1000) = 3235.2 ns
        // each; the ACK 52 + 38 bytes: 72 ns at the first link; the data 53 + 38 bytes:
        // 3 x (72.8 + 1000) = 3218.4 ns.
        ("three links of 10 Gbps", dumbbell, profile("linux"), 1, 9_760_800),
        // A byte takes 8 ns. SYN and SYN+ACK, without Linux's MSS option, are 56 + 2
        // bytes: 6 x (464 + 25 000) = 152 784 ns each; the ACK 52 + 2 bytes: 432 ns; the data
        // 1500 + 2 bytes: 6 x (12 016 + 25 000) = 222 096 ns.
        ("six links of 1 Gbps across a fat-tree", fat_tree, profile("ns3-3.23"), 1_448, 528_096_000),
        // A byte takes 0.08 ns. 2 x (60 x 0.08 + 500) + 52 x 0.08 + (152 x 0.08 + 500) ns.
        ("a single link of 100 Gbps", fast, profile("linux"), 100, 1_525_920),
        // SYN and SYN+ACK, 94 bytes: 75.2 + 752 + 75.2 + 12 000 = 12 902.4 ns each. The ACK, 90
        // bytes, leaves the first link after 72 ns and the second after 72 + 1000 + 720 = 1792 ns;
        // the data, 626 bytes, arrives after 72 + 500.8 + 1000 = 1572.8 ns and waits for it. Then
        // 5008 + 10 000 + 500.8 + 1000 ns.
        (
            "a slow link in the middle, where the data waits for the ACK",
            slow_middle,
            profile("ns3-3.37"),
            536,
            44_105_600,
        ),
        // (78.4 + 2000) forward, (784 + 7000) back, 72, (1090 x 0.8 + 2000) forward.
        ("different rate and delay in reverse", lopsided, profile("linux"), 1_000, 12_806_400),
        // SYN and SYN+ACK carry the MSS and the window scale, 48 + 38 bytes: 688 + 10 000
        // ns each. ACK and data, 40 + 38 and 41 + 38 bytes, are padded to 84: 672 ns, and
        // 672 + 10 000 ns.
        ("frames below the minimum size", slow, bare(), 1, 32_720_000),
        // The same with 18 bytes: SYN and SYN+ACK 66 bytes, 528 + 10 000 ns each; ACK and data padded to 64: 512 ns.
        ("frames below the minimum size, without preamble and gap", frames, bare(), 1, 32_080_000),
    ];
    for (name, fabric, config, bytes, expected) in cases {
        let last = fabric.host_count() as u32 - 1;
        // Of the schemes that add no bytes; tests/python/test_one_path.py compares all others with ECMP.
        for scheme_name in ["ecmp", "single_path", "spray"] {
            for start in [Duration::ZERO, Duration::from_us(17)] {
                let trial = Trial::new(&fabric, scheme(scheme_name), config.clone());
                let outcome = trial.flow(0, last, bytes, start).run();
                assert_eq!(outcome.fct(0).ps(), expected, "{name}, {scheme_name}, from {start}");
            }
        }
        println!("| lone flow, {name}, ns | {0} | {0} | exact | exact |", expected as f64 / 1e3);
    }
}

/// When the last of `packets` (bytes of IP), sent at once over `links`, has arrived: at each link, each
/// waits for its own last byte and for the packet before it.
fn last_arrival(links: &[LinkSpec], packets: &[u64]) -> u64 {
    let mut ready = vec![0; packets.len()];
    for link in links {
        let mut free = 0;
        for (ready, &packet) in ready.iter_mut().zip(packets) {
            let wire = u64::from(link.overhead.wire_bytes(packet as u32));
            free = free.max(*ready) + link.rate.tx_time(Bytes(wire)).ps();
            *ready = free + link.delay.ps();
        }
    }
    ready[packets.len() - 1]
}

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let overhead = prop_oneof![
        Just(Overhead::Ethernet),
        Just(Overhead::EthernetFrame),
        Just(Overhead::Ppp),
        Just(Overhead::None)
    ];
    let rate = prop::sample::select(vec![100, 1_000, 2_500, 10_000, 25_000, 40_000, 100_000]);
    (rate, 0_u64..200_000, overhead).prop_map(|(rate, delay, overhead)| spec(rate, delay, overhead))
}

/// Two hosts, each at a switch, and switches between these, with two links to the one and one link to
/// the other: shortest paths that differ in rate and delay.
fn lattice(ends: &[LinkSpec; 2], middle: &[[LinkSpec; 3]]) -> Result<Fabric, FabricError> {
    let mut builder = FabricBuilder::new("lattice");
    let [h0, h1] = [builder.add_host("h0", 0, None)?, builder.add_host("h1", 0, None)?];
    let [s0, s1] = [builder.add_switch("s0", 1, None)?, builder.add_switch("s1", 1, None)?];
    builder.connect(h0, s0, &ends[0])?;
    builder.connect(h1, s1, &ends[1])?;
    for (i, [up, up_too, down]) in middle.iter().enumerate() {
        let node = builder.add_switch(format!("m{i}"), 2, None)?;
        builder.connect(s0, node, up)?;
        builder.connect(s0, node, up_too)?;
        builder.connect(node, s1, down)?;
    }
    builder.build()
}

/// The names of the schemes that run on all fabrics and have computed next hops.
fn over_shortest_paths() -> Vec<&'static str> {
    let known = registry().iter().filter(|known| known.next_hops.is_some() && !known.is_choosy());
    known.map(|known| known.name).collect()
}

proptest! {
    #![proptest_config(crate::common::cases(200))]

    /// Without slow start and losses, spraying comes close to the total capacity of all links.
    #[test]
    fn no_scheme_over_shortest_paths_beats_the_ideal(
        ends in [any_link(), any_link()],
        middle in prop::collection::vec([any_link(), any_link(), any_link()], 1..5),
        scheme_name in prop::sample::select(over_shortest_paths()),
        bytes in 1_u64..1_500_000,
        seed: u64,
    ) {
        let fabric = lattice(&ends, &middle).unwrap();
        let config = Config { initial_window: 2_000, ..profile("linux") };
        let trial = Trial::new(&fabric, scheme(scheme_name), config).seed(seed);
        let outcome = trial.flow(0, 1, bytes, Duration::ZERO).run();
        let ideal = outcome.flows[0].ideal.unwrap();
        prop_assert!(outcome.fct(0) >= ideal, "{} of {ideal}", outcome.fct(0));
        prop_assert_eq!(outcome.flows[0].hops, 4);
    }

    /// Up to the initial window of ten segments, nothing waits for an ACK.
    #[test]
    fn a_flow_of_up_to_ten_segments_takes_the_time_of_its_packets_back_to_back(
        cables in prop::collection::vec((any_link(), any_link()), 1..6),
        bytes in 1_u64..14_480,
    ) {
        let fabric = chain(&cables).unwrap();
        let (forth, back): (Vec<_>, Vec<_>) = cables.into_iter().unzip();
        let back: Vec<_> = back.into_iter().rev().collect();
        let outcome = Trial::linux(&fabric, "ecmp").flow(0, 1, bytes, Duration::ZERO).run();
        let mut packets = vec![52];
        let (full, rest) = (bytes / 1_448, bytes % 1_448);
        packets.extend((0..full).map(|_| 1_500));
        packets.extend((rest > 0).then_some(52 + rest));
        let expected = last_arrival(&forth, &[60]) + last_arrival(&back, &[60]) + last_arrival(&forth, &packets);
        prop_assert_eq!(outcome.fct(0).ps(), expected);
        prop_assert_eq!(outcome.flows[0].packets_sent, packets.len() as u64 - 1);
    }
}
