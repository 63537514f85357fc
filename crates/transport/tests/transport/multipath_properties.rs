//! Properties of multipath connections that hold for every network, segment and seed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::common::Random;
use crate::common::hostile::{mutate, number};
use crate::common::world::{Cable, Packet, World};
use proptest::prelude::*;
use weft_transport::mptcp::{self, Addresses, Capable, Connection, Dss, Join, Options};
use weft_transport::{Config, Flags, Mptcp, MptcpCongestion, MptcpScheduler, Segment};
use weft_units::{Bytes, Duration, Time};
use weft_wire::mptcp::{Key, Version};

/// Combinations of parameters that exercise different code paths.
fn config(which: usize) -> (String, Config) {
    let name = ["linux", "linux", "ns3-3.37", "ns3-3.26", "dctcp", "ns3-3.23"][which % 6];
    let scheduler = [MptcpScheduler::LowestRtt, MptcpScheduler::RoundRobin][which / 6 % 2];
    let congestion = MptcpCongestion::WORDS[which / 12 % MptcpCongestion::WORDS.len()];
    let plain = Config::profile(name).unwrap();
    let cfg = Config {
        mptcp: [Mptcp::Fullmesh, Mptcp::Ndiffports][which / 2 % 2],
        subflows: 3,
        mptcp_version: (which / 3 % 2) as u8,
        mptcp_scheduler: scheduler,
        mptcp_congestion: congestion.parse().unwrap(),
        pacing: which % 6 == 1,
        // Half of them with a window too small to fill the paths.
        receive_buffer: if which.is_multiple_of(2) { Bytes(40_000) } else { plain.receive_buffer },
        initial_receive_window: if which.is_multiple_of(2) {
            Bytes(20_000)
        } else {
            plain.initial_receive_window
        },
        syn_retries: 60,
        data_retries: if which.is_multiple_of(3) { 60 } else { u8::MAX },
        ..plain
    };
    (format!("{name} {which}"), cfg)
}

const CONFIGS: usize = 12 * MptcpCongestion::WORDS.len();

/// By side and subflow: the data offset of each segment sent.
type Seen = HashMap<(usize, usize), BTreeMap<u32, (u32, u64)>>;

/// Records a segment's mapping and checks that no byte is ever mapped to different data.
fn note(seen: &mut Seen, packet: &Packet) {
    let segment = &packet.segment;
    let dsn = match packet.options {
        Options::Dss(Dss { dsn: Some(dsn), .. }) if segment.len > 0 => dsn,
        _ => return,
    };
    let subflow = seen.entry((packet.to, packet.subflow)).or_default();
    // Sequence numbers of the tests' transfers do not wrap more than once.
    let before = subflow.range(..=segment.seq).next_back();
    if let Some((&start, &(len, data))) = before
        && segment.seq - start < len
    {
        assert_eq!(dsn, data.wrapping_add(u64::from(segment.seq - start)), "{packet:?}");
    }
    let entry = subflow.entry(segment.seq).or_insert((0, dsn));
    entry.0 = entry.0.max(u32::from(segment.len));
}

/// A transfer over three paths with losses, some of which fail.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    which: usize,
    seed: u64,
    /// Losses, duplicates and late packets in a million.
    disorder: [u64; 3],
    /// Bytes there and back.
    bytes: [u64; 2],
    /// The paths that fail, one bit each.
    cut: u8,
    /// The subflow that is removed, if there is one of this number.
    remove: usize,
    /// How many times the client writes.
    pieces: u64,
}

fn all_bytes_arrive(transfer: Transfer) -> Result<(), TestCaseError> {
    let Transfer {
        which,
        seed,
        disorder: [loss, duplicate, reorder],
        bytes: [bytes, back],
        cut,
        remove,
        pieces,
    } = transfer;
    let (name, cfg) = config(which);
    let cable = |seed, delay| Cable {
        delay,
        loss,
        duplicate,
        reorder,
        jitter: Duration::from_ms(20),
        queue: 60,
        seed,
        ..Cable::default()
    };
    let mut world = World::new(vec![
        cable(seed, Duration::from_ms(3)),
        cable(seed ^ 1, Duration::from_ms(9)),
        cable(seed ^ 2, Duration::from_ms(40)),
    ]);
    let flow = world.open(&cfg, &[0, 1, 2], 0);
    // The opened client is already closed for writing: replace it with one that writes in pieces.
    let multi = mptcp::Config::new(&cfg).unwrap();
    let addresses = Addresses { local: 3, remote: 1 };
    *world.flows[flow].connection_mut(0) =
        Connection::connect(&multi, world.now, seed, seed as u32, addresses);
    world.flows[flow].connection_mut(1).write(back);
    let seen = Rc::new(RefCell::new(Seen::new()));
    let noted = Rc::clone(&seen);
    world.filter = Some(Box::new(move |_, packet| {
        note(&mut noted.borrow_mut(), packet);
        false
    }));
    for piece in 0..pieces {
        let share = bytes / pieces + if piece == 0 { bytes % pieces } else { 0 };
        world.flows[flow].connection_mut(0).write(share);
        world.run(Duration::from_ms(7));
    }
    world.flows[flow].connection_mut(0).close();
    // With all three subflows established, some paths fail, but not all, and perhaps a live subflow is removed.
    let three =
        |world: &World| [0, 1].map(|side| world.flows[flow].connection(side).stats().subflows) == [3, 3];
    if world.run_until(Duration::from_secs(30), three) && three(&world) {
        let dead = |path: usize| cut >> path & 1 != 0;
        (0..3).filter(|&path| dead(path)).for_each(|path| world.cut(path));
        if cut.count_ones() < 2 && remove < 3 {
            world.flows[flow].connection_mut(0).remove(remove);
            world.pump(flow, 0);
        }
    }
    let limit = Duration::from_secs(40_000);
    let over = |world: &World| world.flows[flow].is_closed();
    world.run_until(limit, over);
    let (client, server) = (world.flows[flow].connection(0), world.flows[flow].connection(1));
    let brief = format!("{name}: {} {}", brief(client), brief(server));
    prop_assert_eq!(server.delivered(), bytes, "{}", brief);
    prop_assert_eq!(client.delivered(), back, "{}", brief);
    prop_assert!(over(&world), "{}", brief);
    prop_assert!(!client.is_aborted() && !server.is_aborted(), "{}", brief);
    // Every byte was mapped, and none beyond the end.
    let seen = seen.borrow();
    let lowest = seen.iter().filter(|(key, _)| key.0 == 1).flat_map(|(_, map)| map.values());
    let highest = lowest.map(|&(len, dsn)| dsn.wrapping_add(u64::from(len))).max();
    let version = Version::from_number(cfg.mptcp_version).unwrap();
    let first = Key(seed).initial_data_sequence(version).wrapping_add(1);
    if let Some(highest) = highest
        && first.checked_add(bytes).is_some()
    {
        prop_assert!(highest - first <= bytes, "{} of {}", highest - first, bytes);
    }
    Ok(())
}

/// Transfers that once failed, with the rule that each broke.
const FOUND: [(&str, Transfer); 4] = [
    (
        "the last path that works is not reset at the end",
        Transfer {
            which: 8,
            seed: 1_803_571_808_591_859_383,
            disorder: [128_272, 3_188, 44_357],
            bytes: [148_609, 25_285],
            cut: 5,
            remove: 0,
            pieces: 1,
        },
    ),
    (
        "the last DATA_ACK arrives however many FINs are lost",
        Transfer {
            which: 20,
            seed: 7_284_926_146_855_979_964,
            disorder: [104_521, 19_204, 177_365],
            bytes: [236_845, 34_057],
            cut: 3,
            remove: 0,
            pieces: 1,
        },
    ),
    (
        "a side that reset the path that works still knows that all has arrived",
        Transfer {
            which: 40,
            seed: 2_106_064_221_225_319_268,
            disorder: [190_151, 35_665, 198_999],
            bytes: [190_281, 39_761],
            cut: 5,
            remove: 0,
            pieces: 17,
        },
    ),
    (
        "a retransmission truncated twice at one place is sent once",
        Transfer {
            which: 44,
            seed: 18_053_400_641_444_644_521,
            disorder: [23_532, 22_704, 105_547],
            bytes: [24_136, 45_409],
            cut: 0,
            remove: 0,
            pieces: 14,
        },
    ),
];

#[test]
fn all_bytes_arrive_in_the_transfers_that_once_failed() {
    for (rule, transfer) in FOUND {
        all_bytes_arrive(transfer).unwrap_or_else(|error| panic!("{rule}: {error}"));
    }
}

#[test]
fn a_join_refused_at_the_end_does_not_end_a_path_that_the_other_side_needs() {
    let cfg = Config { mptcp: Mptcp::Fullmesh, ..Config::profile("linux").unwrap() };
    let multi = mptcp::Config::new(&cfg).unwrap();
    let mut world = World::new(vec![Cable { delay: Duration::from_ms(3), ..Cable::default() }]);
    let flow = world.open(&cfg, &[0], 0);
    let addresses = Addresses { local: 1, remote: 1 };
    *world.flows[flow].connection_mut(0) = Connection::connect(&multi, world.now, 7, 7, addresses);
    // From the client's DATA_FIN on, nothing from the server arrives: not its last DATA_ACK either.
    let (is_cut, is_mended, lost_fins) =
        (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
    let (cut, mended, fins) = (Rc::clone(&is_cut), Rc::clone(&is_mended), Rc::clone(&lost_fins));
    world.filter = Some(Box::new(move |_, packet| {
        let has_fin = matches!(packet.options, Options::Dss(Dss { data_fin: true, .. }));
        cut.set(cut.get() || packet.to == 1 && has_fin);
        let is_lost = packet.to == 0 && cut.get() && !mended.get();
        fins.set(fins.get() + u32::from(is_lost && packet.segment.flags.has(Flags::FIN)));
        is_lost
    }));
    world.flows[flow].connection_mut(0).write(10_000);
    world.run(Duration::from_secs(1));
    for side in [1, 0] {
        world.flows[flow].connection_mut(side).close();
        world.pump(flow, side);
        world.run(Duration::from_secs(1));
    }
    let now = world.now;
    let server = world.flows[flow].connection_mut(1);
    assert!(is_cut.get() && server.is_finished_by_peer() && lost_fins.get() > 0);
    let join = server.accept(&multi, 2, 9).expect("a subflow");
    let syn = Segment { flags: Flags::SYN, ..Segment::default() };
    server.on_segment(&multi, join, now, &syn, &Options::None);
    assert_eq!(server.stats().refused, 1);
    let (mut segment, mut options) = (Segment::default(), Options::None);
    while server.poll_transmit(&multi, now, &mut segment, &mut options).is_some() {}
    world.run(Duration::from_secs(30));
    let first = world.flows[flow].connection(1).subflows().next().expect("a subflow");
    assert!(lost_fins.get() > 5 && !first.is_aborted(), "{} FINs", lost_fins.get());
    is_mended.set(true);
    assert!(world.run_until(Duration::from_secs(200), |world| world.flows[flow].is_closed()));
    assert!((0..2).all(|side| !world.flows[flow].connection(side).is_aborted()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn all_bytes_arrive_once_and_in_order_whatever_is_lost_and_whichever_path_dies(
        which in 0..CONFIGS,
        seed in any::<u64>(),
        disorder in [0..200_000_u64, 0..50_000_u64, 0..300_000_u64],
        bytes in [0..400_000_u64, 0..50_000_u64],
        cut in 0..7_u8,
        remove in 0..9_usize,
        pieces in 1..20_u64,
    ) {
        all_bytes_arrive(Transfer { which, seed, disorder, bytes, cut, remove, pieces })?;
    }

    #[test]
    fn no_segment_and_no_option_however_hostile_panics_or_makes_a_side_send_without_end(
        which in 0..CONFIGS,
        seed in any::<u64>(),
        count in 1..300_usize,
    ) {
        let (_, cfg) = config(which);
        let mut random = Random(seed);
        let cable = |seed| Cable {
            loss: 100_000, reorder: 200_000, jitter: Duration::from_us(100), seed, ..Cable::default()
        };
        let mut world = World::new(vec![cable(seed), cable(seed ^ 1)]);
        let flow = world.open(&cfg, &[0, 1], 1_000_000);
        world.flows[flow].connection_mut(1).write(50_000);
        let last = Rc::new(RefCell::new([None::<Packet>; 2]));
        let kept = Rc::clone(&last);
        world.filter = Some(Box::new(move |_, packet| {
            kept.borrow_mut()[packet.to] = Some(*packet);
            false
        }));
        world.pump(flow, 0);
        for _ in 0..count {
            for _ in 0..random.next() % 8 {
                if !world.step(Time::MAX) {
                    break;
                }
            }
            let to = (random.next() % 2) as usize;
            let near = last.borrow()[to];
            let Some(mut packet) = near else { continue };
            packet.segment = mutate(&mut random, &packet.segment);
            packet.options = mutate_options(&mut random, &packet.options);
            packet.subflow = if random.hit(700) { packet.subflow } else { (random.next() % 40) as usize };
            world.receive(&packet);
            if random.hit(20) {
                world.flows[flow].connection_mut(to).remove((random.next() % 5) as usize);
            }
            world.pump(flow, to);
        }
    }
}

/// A connection's state for failure messages.
fn brief(connection: &Connection) -> String {
    let states: Vec<_> = connection.subflows().map(|subflow| subflow.state()).collect();
    format!("{states:?}, {} delivered, {:?}", connection.delivered(), connection.stats())
}

fn mutate_options(random: &mut Random, near: &Options) -> Options {
    let key = |random: &mut Random| random.hit(500).then(|| random.next());
    match (random.next() % 8, near) {
        (0, _) => Options::None,
        (1, _) => Options::Capable(Capable {
            version: (random.next() % 3) as u8,
            sender_key: key(random),
            receiver_key: key(random),
        }),
        (2, _) => {
            let (token, nonce, address) = (random.next() as u32, random.next() as u32, 0);
            Options::Join(match random.next() % 3 {
                0 => Join::Syn { token, nonce, address },
                1 => Join::SynAck { hmac: random.next(), nonce, address },
                _ => Join::Ack { hmac: [random.next() as u8; 20] },
            })
        }
        (3 | 4, Options::Dss(dss)) => Options::Dss(Dss {
            data_ack: number(random, dss.data_ack),
            dsn: dss.dsn.filter(|_| random.hit(900)).map(|dsn| number(random, dsn)),
            data_fin: dss.data_fin ^ random.hit(100),
        }),
        _ => *near,
    }
}
