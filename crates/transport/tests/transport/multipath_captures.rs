//! Compares a connection's segments with those sent by Linux (`crates/wire/captures.json`): the segments of subflow
//! handshakes, and the option bytes of each.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::common::world::{Cable, Packet, World};
use serde_json::Value;
use weft_transport::mptcp::Options;
use weft_transport::{Config, Flags, Mptcp};
use weft_units::Duration;

/// The comparable properties of a segment: SYN, ACK, option, whether it has data, whether the option maps data.
type Shape = (bool, bool, &'static str, bool, bool);

/// The segments of each subflow with their option bytes, by sending side: 0 opened it.
type Subflows = BTreeMap<String, [Vec<(Shape, u8)>; 2]>;

fn captured(name: &str) -> Subflows {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/captures.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let captures = all["captures"].as_array().unwrap();
    let capture = captures.iter().find(|capture| capture["name"] == name).unwrap();
    let mut subflows = Subflows::new();
    for frame in capture["frames"].as_array().unwrap() {
        let text = frame["frame"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
        // Ethernet, then IPv4 without options.
        let (ip, tcp) = (&bytes[14..34], &bytes[34..]);
        let header = usize::from(tcp[12] >> 4) * 4;
        let data = usize::from(u16::from_be_bytes([ip[2], ip[3]])) - 20 - header > 0;
        let options = frame["options"].as_array().unwrap();
        let option = options.iter().find_map(|option| {
            ["mp_capable", "mp_join", "dss"]
                .into_iter()
                .find(|name| option["option"] == *name)
                .map(|name| (name, option))
        });
        let Some((kind, option)) = option else { continue };
        let side = usize::from(frame["from"] != "client");
        let ends = [(&ip[12..16], &tcp[0..2]), (&ip[16..20], &tcp[2..4])];
        let shape = (tcp[13] & 2 != 0, tcp[13] & 16 != 0, kind, data, !option["mapping"].is_null());
        subflows.entry(format!("{:?}", ends[side])).or_default()[side].push((shape, (header - 20) as u8));
    }
    subflows
}

fn simulated(subflows: u8) -> Subflows {
    let cfg = Config { mptcp: Mptcp::Ndiffports, subflows, ..Config::profile("linux").unwrap() };
    let mut world = World::new(vec![Cable::default(); subflows.into()]);
    let log = Rc::new(RefCell::new(Subflows::new()));
    let kept = Rc::clone(&log);
    world.filter = Some(Box::new(move |_, packet: &mut Packet| {
        let segment = &packet.segment;
        let (kind, maps) = match packet.options {
            Options::Capable(_) => ("mp_capable", false),
            Options::Join(_) => ("mp_join", false),
            Options::Dss(dss) => ("dss", dss.dsn.is_some()),
            Options::None => panic!("{packet:?}"),
        };
        let shape =
            (segment.flags.has(Flags::SYN), segment.flags.has(Flags::ACK), kind, segment.len > 0, maps);
        // Joins are opened and accepted in the same order, so both sides use the same numbers.
        let name = packet.subflow.to_string();
        kept.borrow_mut().entry(name).or_default()[1 - packet.to].push((shape, segment.options));
        false
    }));
    let flow = world.open(&cfg, &(0..subflows.into()).collect::<Vec<_>>(), 200_000);
    assert!(world.run_until(Duration::from_secs(60), |world| world.flows[flow].is_closed()));
    drop(world);
    Rc::into_inner(log).unwrap().into_inner()
}

/// The handshake segments of a subflow, by side: the opener's SYN and ACK and, on the first subflow, its first data;
/// the other side's SYN+ACK and first ACK.
fn handshake([opener, other]: &[Vec<(Shape, u8)>; 2]) -> [Vec<(Shape, u8)>; 2] {
    let first = opener[0].0.2 == "mp_capable";
    [opener[..2 + usize::from(first)].to_vec(), other[..2].to_vec()]
}

#[test]
fn subflows_begin_with_the_segments_that_linux_begins_with() {
    let (ours, theirs) = (simulated(4), captured("three joins by the client"));
    assert_eq!(theirs.len(), 4);
    let all = |subflows: &Subflows| {
        let mut all: Vec<_> = subflows.values().map(handshake).collect();
        all.sort();
        all
    };
    assert_eq!(all(&ours), all(&theirs));
    println!("handshakes: {:?}", all(&ours).iter().map(|[a, b]| [a.len(), b.len()]).collect::<Vec<_>>());
}

#[test]
fn every_kind_of_segment_has_as_many_bytes_of_options_as_linux_gives_it() {
    let sizes = |subflows: &Subflows| {
        let segments = subflows.values().flatten().flatten();
        let mut sizes: BTreeMap<Shape, BTreeSet<u8>> = BTreeMap::new();
        segments.for_each(|&(shape, bytes)| _ = sizes.entry(shape).or_default().insert(bytes));
        sizes
    };
    let (ours, theirs) = (sizes(&simulated(4)), sizes(&captured("three joins by the client")));
    for (shape, bytes) in &ours {
        println!("{shape:?}: {bytes:?}");
        assert_eq!(Some(bytes), theirs.get(shape), "{shape:?}");
    }
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>(),
        "the same kinds of segments"
    );
}
